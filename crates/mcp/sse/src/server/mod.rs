//! The server: an [`Endpoint`] to mount in a web server, and a [`Connection`] for each session.
//!
//! # How sessions are served
//!
//! [`Endpoint::serving`] takes a [`Service`](agentwire_transport::Service), as the endpoint of Streamable HTTP does. Its
//! future for a connection is polled with the stream that the client reads. When the client leaves, the future is dropped, and
//! its work with it. While the client reads nothing, the future waits, until `Serve::write_timeout` ends the HTTP connection.
//!
//! A service may instead spawn a task with the connection and return. The connection then ends when the client leaves, and
//! fails when its buffer has been full for `stall`.
//!
//! # Statuses
//!
//! | status | when |
//! |---|---|
//! | 200 | a GET: the stream, whose first event is `endpoint` |
//! | 202 | a POST: the message was accepted; its answer comes on the stream |
//! | 204 | the CORS preflight (`OPTIONS`) of a web page that may call |
//! | 400 | the body is not one message; the query names no session; `Host` is missing |
//! | 403 | a foreign `Host` or `Origin`, whatever the method |
//! | 404 | an unknown session, or one of another caller |
//! | 405 | any method but GET and POST; `OPTIONS` without an `Origin` |
//! | 406, 415 | `Accept` of a GET allows no events; `Content-Type` of a POST is not JSON |
//! | 408, 413 | the body takes too long; the body is too long |
//! | 503 | too many sessions; the memory limit of the caller, or of all callers; the endpoint shuts down |
//!
//! A client of Streamable HTTP that posts `initialize` to `/sse` gets 400, so it can fall back to this older transport.
//!
//! # In axum
//!
//! The endpoint is a `tower` service: `Router::new().route_service("/sse", endpoint.clone())` and the same for
//! `/messages`. In a nested router, [`EndpointConfig::messages`] must name the whole path of the latter.

mod config;
mod connection;
mod endpoint;
mod session;
mod session_body;
mod session_id;
mod sessions;

use std::time::Duration;

pub use config::EndpointConfig;
pub use connection::Connection;
pub use endpoint::Endpoint;

/// The error of a stream that was cut: its client has left it unread for too long while more messages were to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client left its stream unread for longer than the limit of {after:?}")]
#[non_exhaustive]
pub struct Stalled {
    /// The limit: [`stall`](agentwire_transport_http::server::EndpointConfig::stall).
    pub after: Duration,
}
