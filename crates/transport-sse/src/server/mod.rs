//! The server: an [`Endpoint`] to mount in a web server, and a [`Link`] for each client.
//!
//! # How sessions are served
//!
//! [`Endpoint::serving`] takes a [`Service`](agentwire_transport::Service), as the endpoint of Streamable HTTP does. Its
//! future for a connection is polled with the stream that the client reads. When the client leaves, the future is dropped, and
//! its work with it. While the client reads nothing, the future waits, until `Serve::write_timeout` ends the HTTP connection.
//!
//! A service that wants a task for each session spawns one with the link and returns. The link then ends when the
//! client leaves, and fails when the client has left it full for `stall`.
//!
//! # Statuses
//!
//! | status | when |
//! |---|---|
//! | 200 | a GET: the stream, whose first event is `endpoint` |
//! | 202 | a POST: the message was taken; what answers it comes on the stream |
//! | 400 | no message, or several; no session in the query; no `Host` |
//! | 403 | a foreign `Host` or `Origin`, whatever the method |
//! | 404 | a session that is not known, or not the caller's |
//! | 405 | any method but GET and POST |
//! | 406, 415 | `Accept` of a GET, `Content-Type` of a POST |
//! | 408, 413 | a body that is too slow, too long |
//! | 503 | too many sessions; the endpoint is shut |
//!
//! A client of Streamable HTTP that posts `initialize` to `/sse` gets 400, by which it knows that this is the older
//! transport.
//!
//! # In axum
//!
//! The endpoint is a `tower` service: `Router::new().route_service("/sse", endpoint.clone())` and the same for
//! `/messages`. In a nested router, [`Config::messages`] has to say the whole path of the latter.

mod body;
mod config;
mod endpoint;
mod link;
mod session;
mod shared;

use std::time::Duration;

pub use config::Config;
pub use endpoint::Endpoint;
pub use link::Link;

/// Why a session was ended: its client has left its stream unread for too long while more was to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client left its stream unread for longer than the limit of {after:?}")]
#[non_exhaustive]
pub struct Stalled {
    /// The limit: [`stall`](agentwire_transport_http::server::Config::stall).
    pub after: Duration,
}
