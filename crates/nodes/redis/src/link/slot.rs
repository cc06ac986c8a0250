//! The slot of a session's keys in a cluster.

use agentwire_store::SessionId;

/// The number of slots of a cluster.
pub(crate) const SLOTS: usize = 16_384;

/// Returns the slot of the keys of a session, whose hash tag is its id.
pub(crate) fn slot(session: SessionId) -> usize {
    usize::from(crc16(session.to_string().as_bytes())) % SLOTS
}

/// The CRC-16 of the cluster specification: XMODEM.
fn crc16(text: &[u8]) -> u16 {
    text.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| (crc << 1) ^ ((crc >> 15) * 0x1021))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc16_matches_the_example_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
    }
}
