//! The client: a transport to one server.
//!
//! ```no_run
//! # #[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use agentwire_transport::Packet;
//! use agentwire_transport_http::client::Http;
//! use futures::{SinkExt, StreamExt};
//!
//! let mut server = Http::new("https://example.com/mcp")?;
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
//!  a request ────────────────▶ POST ──▶ one JSON, or a stream of events ──▶ packets, the answer last
//!                                          │ cut off: GET with Last-Event-ID, in a session only
//!  a notification, an answer ─▶ POST ──▶ 202
//!  Packet::CallerLeft ───────▶ its stream is closed
//!  poll_close ───────────────▶ DELETE, in a session only
//!
//!  messages of the server's own accord ◀── GET, opened after `notifications/initialized`
//! ```
//!
//! Each message decides how it is sent. A request that names its revision in `_meta` belongs to no session: its headers repeat
//! parts of its body, marked arguments of tools included. Any other message belongs to the session that `initialize` began; the
//! session's id and version come from the answer to that.
//!
//! # When something fails
//!
//! | failure | result |
//! |---|---|
//! | an error of JSON-RPC under the id of the request, whatever the status | a packet, as any answer |
//! | a 4xx of `server/discover` that is about the request, such as 400 and 404 | a packet: the error in the body, or -32601 |
//! | any other refusal, also 401, 403, 429 and 503 in any form | [`Packet::RequestFailed`] with [`HttpError::Refused`] |
//! | no connection, no answer in time, a body that is not an answer | [`Packet::RequestFailed`] |
//! | a stream is cut off and has event ids | it is resumed; nothing is lost and nothing comes twice |
//! | a stream is cut off and has none, or is modern | [`Packet::RequestFailed`]; the request is not sent again |
//! | 404 in a session | the request fails with [`HttpError::SessionExpired`], and the transport ends with it |
//! | a notification or an answer is refused | none: it is not reported |
//! | the GET stream is cut off and resumed by its event id | none: nothing is lost |
//! | the GET stream is cut off, and a new one is opened that continues nothing | [`Packet::Gap`] without an `end` |
//! | the GET stream is refused (405, 401, 403, …) or given up | [`Packet::Gap`] with the `end`; the session continues without |
//!
//! A call whose server is silent fails after [`Config::first_byte_timeout`] or [`Config::idle_timeout`]. A server that repeats
//! comments, or streams without messages, can delay a call without end: give calls a deadline. [`HttpError`] shows how to find
//! it in an error of the layers above.
//!
//! # Trace context
//!
//! A message whose `_meta` has a `traceparent`, as telemetry adds it, is sent with `traceparent`, `tracestate` and
//! `baggage` as headers too, so that proxies and web frameworks continue the trace. They replace headers of
//! [`Config::header`].
//!
//! # Compression
//!
//! The clients of this crate take answers compressed by gzip. All limits count decompressed bytes, and decompression does not
//! delay an event that has arrived. An [`HttpClient`] of your own may do the same; a body that it leaves compressed fails with
//! [`HttpError::ContentEncoding`].
//!
//! # Cancelling
//!
//! In a session the client sends `notifications/cancelled`, and then closes the stream of the request. Over HTTP the
//! notification may overtake the request, and is ignored then. Without a session, closing the stream cancels, and the
//! notification is not sent.
//!
//! # Invariants
//!
//! - Nothing is spawned here: all work happens while the sink or the stream is polled. (The clients of this crate run
//!   their connections in tasks.)
//! - Headers, the session's id among them, never go to another origin than that of the URL.
//! - No message is sent twice.
//! - Each request gets an answer or a [`Packet::RequestFailed`], or the transport ends, or it was abandoned or cancelled.
//! - At most [`Config::request_limit`] requests are unanswered at the server; further ones wait here.
//! - At most one message of the server waits here to be taken, so a slow reader slows the server.
//!
//! # What it will not do
//!
//! It does not obtain tokens (`agentwire-mcp-auth` wraps an [`HttpClient`] for that), does not open a session again, and tries no
//! other transport. A transport that is dropped without being closed does not end its session at the server.
//!
//! It needs tokio's timers, whatever the [`HttpClient`].
//!
//! [`Packet::Gap`]: agentwire_transport::Packet::Gap
//! [`Packet::RequestFailed`]: agentwire_transport::Packet::RequestFailed

pub(crate) mod config;
mod connect;
mod error;
pub(crate) mod exchange;
mod http;
mod open;
pub(crate) mod trace;
pub(crate) mod url;

pub use config::{Config, InvalidHeader, InvalidUrl};
#[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
pub use connect::certificates::{CertificateError, check_certificates};
pub use connect::connect_fault::ConnectFault;
pub use connect::http_client::{Body, BoxError, HttpClient};
#[cfg(feature = "rustls-no-provider")]
pub use connect::hyper::Hyper;
#[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
pub use connect::proxies::EnvironmentProxy;
#[cfg(feature = "reqwest")]
pub use connect::reqwest::Reqwest;
pub use error::{Declined, HttpClientError, HttpError, Refusal, Wait};
pub use url::shown_url::shown_url;

/// The client that [`Config::open`] uses: `Reqwest` with the feature `reqwest`, and [`Hyper`] without.
///
/// Both have `new(connect_timeout)`, and a clone shares its connections.
#[cfg(feature = "reqwest")]
pub type DefaultClient = Reqwest;

/// The client that [`Config::open`] uses: `Reqwest` with the feature `reqwest`, and [`Hyper`] without.
///
/// Both have `new(connect_timeout)`, and a clone shares its connections.
#[cfg(all(feature = "rustls-no-provider", not(feature = "reqwest")))]
pub type DefaultClient = Hyper;

pub use self::http::Http;
