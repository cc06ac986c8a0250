//! Authorization of MCP over HTTP, as every revision since 2025-03-26 describes it.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
#[cfg(feature = "client")]
pub mod client;
mod fetch;
#[cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(dead_code, unused_imports, reason = "a client signs and a server verifies")
)]
mod jose;
mod secret;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "client")]
pub mod store;

pub use address::AddressPolicy;
pub use fetch::FetchError;
pub use jose::{Algorithm, Jwk, KeyError, SigningKey};
pub use secret::Secret;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "file", feature = "hyper"))]
#[doc = include_str!("../README.md")]
struct Readme;
