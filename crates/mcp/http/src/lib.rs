//! MCP over Streamable HTTP, for servers and for clients, in every revision that has it.
//!
//! `agentwire_transport_http` here is `agentwire::http` in the crate `agentwire`, with its feature `http`.
//!
//! The transport has two forms. In the legacy era, from 2025-03-26 to 2025-11-25, a client opens a *session* with
//! `initialize`, and later requests carry the session's id; a stream that is cut can be resumed. In the *modern* era,
//! since 2026-07-28, each request describes its client, and closing its response cancels it. One endpoint serves both,
//! side by side, and one client sends each message in its form.
//!
//! ```text
//!            POST, GET, DELETE
//!  client ◀────────────────────▶ Endpoint ──▶ Service ──┬─ a session: a Connection, from initialize to DELETE
//!            JSON, events          (tower)              └─ an Exchange: one request, one future
//! ```
//!
//! The crate implements the rules of the transport. Of MCP it knows what `agentwire-mcp-wire` has: revisions, headers and the
//! names of a few methods. It has no handlers: a [`Service`](agentwire_transport::Service) serves an endpoint. A connection is a
//! [`Transport`](agentwire_transport::Transport), and so is the client.
//!
//! ```
//! # #[cfg(feature = "hyper")]
//! # async fn run() -> std::io::Result<()> {
//! use agentwire_jsonrpc::{RawJson, Response};
//! use agentwire_transport::{Exchange, service_fn};
//! use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, serve};
//! use futures::StreamExt;
//!
//! /// Prints every packet of a session.
//! async fn session(mut connection: Connection) {
//!     while let Some(Ok(packet)) = connection.next().await {
//!         println!("{packet:?}");
//!     }
//! }
//!
//! /// Answers a request without a session with its params.
//! async fn exchange(Exchange { request, .. }: Exchange) -> Response {
//!     Response::new(request.id, Ok(request.params.unwrap_or(RawJson::EMPTY_OBJECT)))
//! }
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! serve(listener, Endpoint::serving(EndpointConfig::new(), service_fn(session, exchange))).await;
//! # Ok(())
//! # }
//! ```
//!
//! # What it will not do
//!
//! It answers no request in place of a handler. Its only state of MCP is the revision of each session, and in the client the
//! header marks of tools. It does not log, compress or terminate TLS: layers in front of the endpoint do. All work
//! happens while its futures and streams are polled; only the connections of hyper's client pool run in tasks.
//!
//! # Invariants
//!
//! - Every message goes out on exactly one stream; a message that belongs to a request, on that of the request.
//! - No buffer grows with what a peer sends or leaves unread. Each limit has a default, a setter, and an error that
//!   names it.
//! - Only requests with a session's id reach the session, and ids come from the operating system's randomness.
//! - An `EventId` names one event, which is never replayed on another stream.
//!
//! The specification is at <https://modelcontextprotocol.io/specification>, under *Transports*.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The facade `futures` would bring crates that are not needed here. Tests depend on it, and use the same paths.
#[cfg(all(not(test), any(feature = "client", feature = "server")))]
extern crate futures_util as futures;

#[cfg(any(feature = "client", feature = "server"))]
pub mod header;
#[cfg(any(feature = "client", feature = "server"))]
pub mod runtime;
#[cfg(any(feature = "client", feature = "server"))]
pub mod sse;
#[cfg(feature = "server")]
mod sync;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "hyper", any(feature = "reqwest", feature = "rustls-no-provider")))]
#[doc = include_str!("../README.md")]
struct Readme;
