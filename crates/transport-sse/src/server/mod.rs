//! The server: an [`Endpoint`] to mount in a web server, and a [`Link`] for each client.
//!
//! # Two ways to serve
//!
//! [`Endpoint::serving`] takes a function from a link to the future that serves it, and polls that future with the
//! stream that the client reads. [`endpoint`] gives a stream of [`Links`] instead, for whoever spawns a task for
//! each, or counts them.
//!
//! | | [`Endpoint::serving`] | [`endpoint`] |
//! |---|---|---|
//! | the client leaves | the future is dropped, and what it was doing with it | the link ends |
//! | the client reads nothing | the future waits, and ends with the connection, which `Serve::write_timeout` sees to | the link fails after [`Config::stall`] |
//! | runs on | the task of the connection | whatever you choose |
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
mod links;
mod refusal;
mod session;
mod shared;

use std::time::Duration;

pub use config::Config;
pub use endpoint::{Endpoint, endpoint};
pub use link::Link;
pub use links::Links;

/// Why a session was ended: its client has left its stream unread for too long while more was to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client left its stream unread for longer than the limit of {after:?}")]
#[non_exhaustive]
pub struct Stalled {
    /// The limit: [`Config::stall`].
    pub after: Duration,
}
