//! Character boundaries near an index. `str::floor_char_boundary` needs Rust 1.91.

/// The last boundary that is not after `index`.
pub(super) fn floor(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first boundary that is not before `index`.
pub(super) fn ceil(text: &str, index: usize) -> usize {
    (index..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The last bytes of a text: this many at most.
pub(super) fn last_bytes(text: &str, bytes: usize) -> &str {
    &text[ceil(text, text.len().saturating_sub(bytes))..]
}
