//! Authorization of MCP over HTTP, as every revision since 2025-03-26 describes it.
//!
//! `agentwire_mcp_auth` here is `agentwire::mcp::auth` in the crate `agentwire`, with its feature `mcp-auth`.
//!
//! | side | begin with | what it is |
//! |---|---|---|
//! | a client | [`client::Authorization`] | wraps an `HttpClient` in one that sends tokens, and gets and renews them |
//! | | [`store::FileStore`] | stores them for several processes of a user; with the feature `keyring`, `store::KeyringStore` |
//! | a server | [`server::ResourceServer`] | a tower layer that checks them, and the metadata that names their issuers |
//!
//! URLs that a server names are requested by the rules of an [`AddressPolicy`], within limits of size and time. No redirect is followed.
//! No token, code, verifier or secret is in any error or `Debug`.
//!
//! # How a client gets its token
//!
//! ```text
//!  transport ──▶ AuthorizedClient ──▶ HttpClient ──▶ server
//!                     │ 401, 403
//!                     ▼
//!                   Keeper ──▶ Fetcher ──▶ metadata, registration, token endpoint
//!                     │  └──▶ UserAgent ──▶ a person
//!                     ▼
//!               CredentialStore
//! ```
//!
//! A `Keeper` has the token of one server, for all clients of a program. It works in tasks of its own, because a caller that is
//! dropped must not lose a token that the authorization server has replaced. One job runs at a time. A caller that waited takes a
//! token that serves it, or the result of the same job, so a thousand refusals cause one login. Between processes the store's locks
//! do the same: a job locks, reads again, and adopts what another process has stored. Otherwise it renews, stores, and only then uses
//! the new token.
//!
//! # What it will not do
//!
//! It is not an authorization server, and reads no ID tokens. It passes no token on to another server than the one it was issued for.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "client", feature = "server"))]
mod address;
#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod clock;
#[cfg(any(feature = "client", feature = "server"))]
mod fetch;
#[cfg(any(feature = "client", feature = "server"))]
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

#[cfg(any(feature = "client", feature = "server"))]
pub use address::AddressPolicy;
#[cfg(any(feature = "client", feature = "server"))]
pub use fetch::FetchError;
#[cfg(any(feature = "client", feature = "server"))]
pub use jose::{Algorithm, Jwk, KeyError, SigningKey};
pub use secret::Secret;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "file", feature = "hyper"))]
#[doc = include_str!("../README.md")]
struct Readme;
