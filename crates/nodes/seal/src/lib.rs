//! Encrypts state that clients carry for a server, so that only the server and its replicas can read it.
//!
//! [`SealingKeys`] contains one key that seals and opens, and up to one more that only opens. The features `ring` and
//! `chacha20poly1305` choose the implementation of the cipher, XChaCha20-Poly1305. Each opens the texts of the other. Without either,
//! sealing fails.
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
