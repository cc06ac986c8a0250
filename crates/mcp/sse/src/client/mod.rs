//! The client: a transport to one server.
//!
//! ```no_run
//! # #[cfg(feature = "http-client")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use agentwire_transport::Packet;
//! use agentwire_transport_sse::client::Sse;
//! use futures_util::{SinkExt, StreamExt};
//!
//! let mut server = Sse::new("https://example.com/sse")?;
//! server.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#)).await?;
//! while let Some(packet) = server.next().await {
//!     println!("{:?}", packet?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # How messages travel
//!
//! ```text
//!  the first poll ──▶ GET ──▶ event `endpoint`: where messages go
//!                      │────▶ events `message`: packets, for as long as the stream lasts
//!  a packet ─────────▶ POST to the endpoint ──▶ 2xx; its body is ignored
//!  poll_close ───────▶ the stream is closed
//! ```
//!
//! No header has the revision: 2024-11-05 defines none, and servers that agree on a later revision over this transport do not
//! require it.
//!
//! # When something fails
//!
//! | failure | result |
//! |---|---|
//! | no stream opens, or it does not begin with a usable `endpoint` in time | the transport ends with an [`SseError`] |
//! | the POST of a request is refused with an error of JSON-RPC under its id | a packet, as every answer |
//! | it is refused in any other way, also 401 and 403 in any form, or fails | [`Packet::RequestFailed`]; the transport goes on |
//! | the POST of a notification or an answer is refused | none: it is not reported |
//! | the stream ends, breaks off, exceeds a limit | the transport ends with an [`SseError`]; it cannot be resumed |
//!
//! # Invariants
//!
//! - Nothing is spawned here: all work happens while the sink or the stream is polled. (An [`HttpClient`] may run its
//!   connections in tasks.)
//! - Messages and headers never go to another origin than that of the URL, neither by a redirect nor by the `endpoint` event.
//! - No message is sent twice.
//! - Each request gets an answer or a [`Packet::RequestFailed`], unless the transport ends or the server never answers.
//! - At most one message waits here to be taken, so a slow reader slows the server.
//!
//! It needs tokio's timers, whatever the [`HttpClient`].
//!
//! [`HttpClient`]: agentwire_transport_http::client::HttpClient
//! [`Packet::RequestFailed`]: agentwire_transport::Packet::RequestFailed

mod config;
mod error;
mod requests;
mod sse;

pub use config::{Config, InvalidUrl};
pub use error::SseError;
pub use sse::Sse;
