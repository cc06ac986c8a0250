//! The parts that every cipher shares.

/// The length of a nonce, in bytes.
pub(crate) const NONCE: usize = 24;
/// The length of a tag, in bytes.
pub(crate) const TAG: usize = 16;
/// The length of a key, in bytes.
pub(crate) const KEY: usize = 32;

/// Why nothing can be sealed.
#[derive(Debug, thiserror::Error)]
#[error("nothing can be sealed: {0}")]
pub struct SealError(pub(crate) &'static str);
