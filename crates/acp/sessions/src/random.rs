//! Random ids, and bytes in hexadecimal.

use std::fmt::Write;

use agentwire_acp_agent::Error;

/// Returns random bytes of the system, as hexadecimal digits.
///
/// # Errors
///
/// When the system provides no random numbers.
pub(crate) fn random<const BYTES: usize>() -> Result<String, Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|why| Error::internal_error(format_args!("no random numbers: {why}")))?;
    Ok(hex(&bytes))
}

/// Encodes bytes as hexadecimal digits, two for each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}
