//! Encrypts what a server gives its clients to carry, so that only the server and its replicas can read it.
//!
//! [`SealingKeys`] are one key that seals and up to one more that opens. The features `ring` and `chacha20poly1305` choose who
//! computes the cipher, XChaCha20-Poly1305; what one has sealed the other opens. Without either nothing can be sealed.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cipher;
mod key;
mod keys;
#[cfg(all(feature = "chacha20poly1305", any(test, not(feature = "ring"))))]
mod pure;
mod text;
#[cfg(feature = "ring")]
mod with_ring;

pub use cipher::SealError;
pub use keys::SealingKeys;
pub use text::KeyTextError;

/// Compiles the example of the README.
#[cfg(all(doctest, any(feature = "chacha20poly1305", feature = "ring")))]
#[doc = include_str!("../README.md")]
struct Readme;
