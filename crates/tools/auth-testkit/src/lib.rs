//! An OAuth 2.1 authorization server for tests of clients and of resource servers, which misbehaves on demand.
//!
//! The safety of an MCP client shows only against servers that misbehave: that name another issuer, redirect to another origin,
//! lose the answer to a refresh. Real servers do none of this when a test wants it, so this one does: it is small, runs in the
//! test's process on ports of its own, has [`Fault`]s by name, and records every request. It shares no code with the crates that
//! it tests, because it would share their mistakes.
//!
//! ```text
//!                        ┌──────────────── AuthServer ────────────────┐
//!  client under test ──▶ │ issuer()         metadata, /register, /authorize,  │
//!                        │                  /token, /introspect, /jwks, …     │
//!                    ──▶ │ resource_url()   challenges, metadata, answers     │
//!                    ──▶ │ other_origin()   where faults lead: stays unused   │
//!                        └──────────────────────┬─────────────────────┘
//!                                           log(), counters(), secrets()
//! ```
//!
//! ```
//! use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault, Site, visit};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let server = AuthServer::builder().issuer_path("/tenant1").misbehave(Fault::IssWrong).start().await?;
//! // Here the client under test connects to this URL, with `visit` in place of a browser.
//! let url = server.resource_url();
//! # let _ = (url, visit("http://127.0.0.1:1").await);
//! // The client has sent its code to no other server, and nothing to a wrong place.
//! let log = server.log();
//! assert!(log.to(Endpoint::Token).is_empty() && log.at(Site::OtherOrigin).is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # What it will not do
//!
//! It asks no person: `/authorize` redirects straight back. It keeps nothing on disk, speaks no TLS, and listens on 127.0.0.1
//! only. Nothing real may ever trust it.
//!
//! # Invariants
//!
//! - Without a fault it follows the rules strictly: a client that passes here has sent what the specifications ask for. A
//!   refusal has its reason in `error_description`.
//! - A fault changes the part in its documentation and nothing else. A test of this crate shows each, and its absence.
//! - Whatever a client can make grow has a limit: connections, bodies, the log, clients, codes and tokens.
//! - No token, code or secret is in any `Debug`.

mod body;
mod browser;
mod builder;
mod client;
mod config;
mod context;
mod endpoint;
mod fault;
mod log;
mod reply;
mod resource;
mod route;
mod serve;
mod server;
mod store;
mod tokens;

pub use body::BoxError;
pub use browser::{Page, visit};
pub use builder::Builder;
pub use client::RegisteredClient;
pub use config::{DpopMode, MetadataPlace, RefreshTokens, ResourceMetadataPlace, TokenFormat};
pub use fault::{Fault, UnknownFault};
pub use log::{Endpoint, RecordedRequest, RequestLog, Site};
pub use resource::Authorized;
pub use server::AuthServer;
pub use store::Counters;
pub use tokens::mint::TokenSpec;
pub use tokens::signer::Signer;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
