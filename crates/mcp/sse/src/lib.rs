//! MCP over HTTP+SSE, the transport of 2024-11-05, for servers and for clients.
//!
//! `agentwire_transport_sse` here is `agentwire::sse` in the crate `agentwire`, with its feature `sse`.
//!
//! A client opens one stream with GET, and for as long as it is open there is a session. The stream's first event has
//! the URI for the client's messages, one POST each; the server's messages come on the stream.
//!
//! ```text
//!            GET /sse ─────────────────────▶
//!            ◀─ event: endpoint, /messages?sessionId=…
//!  client    POST /messages?sessionId=… ───▶  Endpoint ──▶ Service::connection(Connection)
//!            ◀─ 202                           (tower)
//!            ◀─ event: message
//! ```
//!
//! Streamable HTTP, in `agentwire-transport-http`, has replaced it; this crate is for the peers that have not changed. A
//! [`server::Endpoint`] is served beside the newer one, on the same listener. A layer above the [`client`] finds out which of the
//! two a server speaks. Parts that both transports need exist once, in `agentwire-transport-http`: the settings, guards, limits
//! and refusals of a server, and the redirects, event streams and errors of a client.
//!
//! # What it will not do
//!
//! It knows no method of MCP and no revision; it answers nothing that a handler should answer. It does not authenticate,
//! log, compress or terminate TLS. It spawns nothing: all work happens while its futures and streams are polled. A lost stream
//! is not resumed, because the transport has no way to: its session is over.
//!
//! # Invariants
//!
//! - A session lasts exactly as long as its stream.
//! - Only requests with a session's id reach the session, and ids come from the operating system's randomness.
//! - A client speaks to one origin.
//! - No buffer grows with what a peer sends or leaves unread. Each limit has a default, a setter, and an error that
//!   names it.
//!
//! The specification is at <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports>.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "hyper", feature = "http-client"))]
#[doc = include_str!("../README.md")]
struct Readme;
