//! The sizes and the error that both implementations of the cipher share.

/// The length of a nonce, in bytes.
pub(crate) const NONCE: usize = 24;
/// The length of a tag, in bytes.
pub(crate) const TAG: usize = 16;
/// The length of a key, in bytes.
pub(crate) const KEY: usize = 32;

/// The error of sealing a text.
#[derive(Debug, thiserror::Error)]
#[error("the text cannot be sealed: {0}")]
pub struct SealError(pub(crate) &'static str);
