//! Tokens and keys: made, signed and verified.

pub(crate) mod mint;
pub(crate) mod signer;
pub(crate) mod verify;
