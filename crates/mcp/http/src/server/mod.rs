//! The server: an [`Endpoint`] to mount in a web server. A [`Service`](agentwire_transport::Service) serves its clients: each
//! session as a [`Connection`], each request without a session as an [`Exchange`](agentwire_transport::Exchange), which runs within
//! the response to it.
//!
//! # Which stream a message goes to
//!
//! An answer, and a message `in_reply_to` an unanswered request, goes out on the response to the POST that brought the
//! request. Every other message goes to the oldest stream that the client has opened with GET; while there is none, the
//! newest [`high_water`](EndpointConfig::high_water) bytes are kept, and older messages are dropped. An answer to a request
//! that is gone is dropped.
//!
//! # When a client leaves
//!
//! In a session, a response that the client closes cancels nothing: the messages go to the [`EventStore`], and a
//! GET with `Last-Event-ID` has the rest. Without a session, it cancels the
//! request: its future is dropped with the response.
//! `notifications/cancelled` ends the response to the request that it names, because no answer will come.
//!
//! # When a client does not read
//!
//! Each stream has room for [`high_water`](EndpointConfig::high_water) bytes. When it is full, the connection takes
//! nothing more, so the handler waits for the client. A client that takes nothing for [`stall`](EndpointConfig::stall)
//! has its stream cut. In a session that would be a wait for all. So while another request of the session is unanswered,
//! or only answers are unread, the connection goes on: what is for the full stream is kept, up to
//! [`session_high_water`](EndpointConfig::session_high_water) for all such streams of the session, and what is for the
//! others goes out. When that is used up, the session waits for a client that reads; the stream of one that has taken
//! nothing for [`slow_reader_timeout`](EndpointConfig::slow_reader_timeout) is cut. What is cut can be resumed, as far as
//! the [`EventStore`] remembers.
//!
//! So what waits in memory is bounded. For each stream that is `high_water` and one message, for the session
//! `session_high_water`, of which a message takes no more than `high_water` however long it is.
//!
//! # When a client takes too much
//!
//! Sessions, the bytes of requests that are read or unanswered and, with `serve`, connections are also limited for each
//! [`Caller`]: its [`Principal`] if a layer names one, else its address. An unused session gives way to a new one of its caller,
//! an idle connection to a new one, and the events that a [`MemoryEventStore`] holds of the caller with most to new events.
//!
//! # Statuses
//!
//! | status | when |
//! |---|---|
//! | 202 | a notification or an answer was taken |
//! | 204 | a session was deleted; a web page that may call asked whether it may (`OPTIONS`) |
//! | 400 | no message; no session id; an unknown protocol version or event; headers that contradict the body; a batch where there are none; a request id in flight |
//! | 401 | no token, or one that [`bearer`](EndpointConfig::bearer) does not know |
//! | 403 | a foreign `Host` or `Origin`; what an [`OperationCheck`] does not allow |
//! | 404 | a session that is not known; without sessions, a method that is not |
//! | 405 | any method but GET, POST and DELETE; without sessions, but POST; `OPTIONS` without an `Origin` |
//! | 406, 415 | `Accept`, `Content-Type` |
//! | 408, 413 | a body that is too slow, too long |
//! | 500 | what served the session has gone without an answer; no task [runs](Endpoint::run) the endpoint |
//! | 429 | a limit of the session |
//! | 503 | a limit of the caller, of the endpoint; the endpoint shuts down; the store of several nodes is away |
//!
//! # Inside
//!
//! Each module uses only modules below it. From below: the settings, budgets and time of an endpoint (`Config`, `Quota`, `Clock`,
//! together `Resources`); response streams and running exchanges; sessions and their connections; `EndpointCore`, which adds the
//! service; the response to one request; `Endpoint`; and `serve`, which binds it to a socket.
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
