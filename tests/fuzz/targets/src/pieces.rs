//! Input that arrives in pieces.

/// Cuts bytes into pieces, as a network may deliver them. The bytes of `cuts` give the lengths in turn.
pub(crate) fn pieces<'a>(cuts: &'a [u8], mut bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut cuts = cuts.iter().cycle();
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let length = cuts.next().map_or(bytes.len(), |cut| usize::from(*cut % 32) + 1).min(bytes.len());
        let (piece, rest) = bytes.split_at(length);
        bytes = rest;
        Some(piece)
    })
}
