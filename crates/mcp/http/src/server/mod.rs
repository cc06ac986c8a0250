//! The server: an [`Endpoint`] to mount in a web server. A [`Service`](agentwire_transport::Service) serves its clients: each
//! session as a [`Connection`], each request without a session as an [`Exchange`](agentwire_transport::Exchange), which runs within
//! the response to it.
//!
//! # The stream of a message
//!
//! An answer, and a message `in_reply_to` an unanswered request, goes out on the response to the POST that brought the
//! request. Every other message goes to the oldest stream that the client has opened with GET; while there is none, the
//! newest [`high_water`](EndpointConfig::high_water) bytes are kept, and older messages are dropped. An answer to a request
//! that is gone is dropped.
//!
//! # When a client leaves
//!
//! In a session, closing a response cancels nothing: its messages go to the [`EventStore`], and a GET with `Last-Event-ID`
//! returns the rest. Without a session, closing the response cancels the request: its future is dropped with the response.
//! `notifications/cancelled` ends the response to the request that it names, because no answer will come.
//!
//! # When a client does not read
//!
//! Each stream has room for [`high_water`](EndpointConfig::high_water) unread bytes. While it is full, the connection takes no
//! message, so the handler waits for the client. A stream whose client reads nothing for [`stall`](EndpointConfig::stall) is cut.
//!
//! In a session, one full stream would hold up all others. So the connection goes on while another request of the session is
//! unanswered, or if all full streams have ended. Messages for full streams are queued, up to
//! [`session_high_water`](EndpointConfig::session_high_water) bytes for all of them together. Beyond that the session waits, and
//! a stream whose client has read nothing for [`slow_reader_timeout`](EndpointConfig::slow_reader_timeout) is cut. A stream that
//! was cut can be resumed, as far as the [`EventStore`] has its events.
//!
//! So the unread bytes are bounded: for each stream by `high_water` and one message, and for the session by `session_high_water`
//! beyond that, where a longer message counts as `high_water` bytes.
//!
//! # When a client takes too much
//!
//! Sessions, and the bytes of requests that are being read or unanswered, are also limited for each [`Caller`]: its
//! [`Principal`] if a layer names one, else its address. `serve` limits the connections of each address. At a limit, a new
//! session replaces an unused one of its caller, and a new connection replaces an idle one. A full [`MemoryEventStore`] drops
//! events of the caller that has most.
//!
//! # Statuses
//!
//! | status | when |
//! |---|---|
//! | 202 | a notification or an answer was accepted |
//! | 204 | a session was deleted; the CORS preflight (`OPTIONS`) of a web page that may call |
//! | 400 | the body is not a message; the session id is missing; the protocol version or the event id is unknown; headers contradict the body; a batch in a revision without batches; a request id that is in flight |
//! | 401 | the token is missing, or [`bearer`](EndpointConfig::bearer) does not accept it |
//! | 403 | a foreign `Host` or `Origin`; an operation that an [`OperationCheck`] refuses |
//! | 404 | an unknown session; without a session, an unknown method |
//! | 405 | an HTTP method other than GET, POST and DELETE; in a modern revision, other than POST; `OPTIONS` without an `Origin` |
//! | 406, 415 | `Accept` allows no form of the response; `Content-Type` is not JSON |
//! | 408, 413 | the body takes too long; the body is too long |
//! | 429 | a limit of the session is reached |
//! | 500 | the service has ended without an answer; no task [runs](Endpoint::run) the endpoint |
//! | 503 | a limit of the caller or of the endpoint is reached; the endpoint shuts down; the store that several nodes share is away |
//!
//! # Inside
//!
//! From the inside out, the parts are: `Resources`, the settings, quotas and clock of an endpoint; `ResponseStream` and
//! `RunningExchange`, one response that is being written and one request that runs without a session; `Session` and its
//! `Connection`; `EndpointCore`, which adds the service; `ResponseFuture`, the response to one request; `Endpoint`; and `serve`,
//! which binds it to a socket. `nodes` adds to each of them the part for sessions that
//! several nodes share.
//!
//! The body of a request without a session is read twice before its arguments are decoded: once for the envelope (`Frame::parse`), once
//! for the members of the params that a layer below the handler reads (`ParamsMembers`). Their positions stay with the request's head
//! as a `ParamsIndex`, so `mcp-server` reads `_meta` and the name without another pass.

pub(crate) mod admission;
mod coalescing_waker;
pub(crate) mod config;
pub(crate) mod endpoint;
mod endpoint_store;
mod inline_task;
mod nodes;
pub(crate) mod request;
pub(crate) mod response;
mod response_stream;
mod running_exchange;
#[cfg(feature = "hyper")]
mod serve;
pub(crate) mod session;
mod warning;

pub use admission::caller::{Caller, Principal, RemoteAddr};
pub use admission::cors::CorsHeaders;
pub use admission::denied::Denied;
pub use admission::operation::{Operation, OperationCheck};
pub use agentwire_mcp_wire::Era;
pub use agentwire_seal::SealingKeys;
pub use agentwire_store::{EventStore, MemoryEventStore, Node, SessionId};
pub use config::{AnswerForm, EndpointConfig};
pub use endpoint::Endpoint;
pub use endpoint::endpoint_counts::EndpointCounts;
pub use endpoint::readiness::NotReady;
pub use endpoint::spawner::Spawner;
pub use nodes::sealed::sealed_sessions::SealedSessions;
pub use request::head::Head;
pub use response::ResponseFuture;
pub use response::body::Body;
pub use response_stream::Stalled;
#[cfg(feature = "hyper")]
pub use serve::{Mount, MountService, RequestBody, Routes, Serve, ServeWarning, serve};
pub use session::connection::Connection;
pub use warning::EndpointWarning;
