//! What every cipher agrees on.

/// The length of a key, in bytes.
pub(super) const KEY: usize = 32;
/// The length of a nonce, in bytes.
pub(super) const NONCE: usize = 24;
/// The length of a tag, in bytes.
pub(super) const TAG: usize = 16;

/// Why nothing can be sealed.
#[derive(Debug, thiserror::Error)]
#[error("no `requestState` can be made: {0}")]
pub(crate) struct Unsealed(pub(super) &'static str);
