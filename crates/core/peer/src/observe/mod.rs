//! Observing connections and exchanges: calls, notifications, bytes, the send queue, and input that cannot be read.
//!
//! An [`Observer`] is set by [`Config::observer`](crate::Config::observer), and on the servers and clients of the protocol
//! runtimes. It observes what passes between this side and the transport:
//!
//! ```text
//!  connection_started ─▶ frame, notification, malformed, queue … ─▶ connection_ended
//!         (call_made ─▶) call_started ─▶ CallObserver: cancelled, in_scope … ─▶ ended
//! ```
//!
//! A call of the peer's begins when its request arrives and ends when its response is given to the transport, or when the peer
//! cancels it and the protocol has no response to a cancelled request. A call of ours begins when its request is given to the
//! transport, and ends when its response arrives, its time-out passes, or its cancel leaves. A call that fails before its request
//! leaves is not observed. Every call that began ends, at the latest with the connection, as [`Outcome::Closed`].
//!
//! [`Observer::call_made`] runs earlier, where a call of ours is first awaited: in the scope of the caller and before its request
//! is encoded into a frame. It may add members to the request's `_meta`, and its [`CallContext`] comes back in
//! [`CallStart::context`].
//!
//! A request that stands alone (an [`Exchange`](agentwire_transport::Exchange)) is observed by the same methods, without a
//! connection around it.
//!
//! # What an observer may rely on
//!
//! - Its methods are called without any lock, and in the order in which things happened on the connection. Exchanges are
//!   concurrent with each other.
//! - A panic in an observer changes nothing for the connection. The panic hook reports it.
//! - It runs within the connection's future, so it must not block.
//! - Times are those of the connection's [`Clock`](crate::Clock).
//!
//! Method names, ids, params and error messages are the peer's. They arrive as data, of any length and with any characters:
//! show them with [`Printable`](agentwire_jsonrpc::Printable), cut to a bound, and do not use a peer's method name as a label of
//! a metric without a list of known ones.
//!
//! Without an observer each of these costs one branch, no allocation and no look at the clock.
//!
//! # For telemetry
//!
//! | attribute | where it is |
//! |---|---|
//! | method, JSON-RPC id | [`CallStart::method`], [`CallStart::id`] |
//! | tool, prompt, resource, ACP session | members of [`CallStart::params`] |
//! | context to propagate (`traceparent`, `tracestate`, `baggage`) | [`CallStart::meta`], as raw text; out by [`CallContext::meta`] |
//! | MCP session over HTTP | the header `Mcp-Session-Id` of [`CallStart::source`] |
//! | protocol revision | [`CallStart::revision`], or for modern MCP a member of [`CallStart::meta`] |
//! | error type, JSON-RPC code | [`Outcome::error_type`], [`Outcome::error_code`] |
//! | a tool's own error | the member `isError` of [`Outcome::Result`] |
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::{Arc, Mutex};
//! use std::time::Duration;
//!
//! use agentwire_peer::observe::{CallEnd, CallObserver, CallStart, Direction, Observer};
//! use agentwire_peer::{Config, Dialect};
//!
//! /// The total time of the calls that the peer made, by outcome.
//! #[derive(Default)]
//! struct Durations(Mutex<BTreeMap<String, Duration>>);
//!
//! /// Has `Durations` observe each call that the peer makes.
//! struct Incoming(Arc<Durations>);
//!
//! impl Observer for Incoming {
//!     fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
//!         (call.direction == Direction::In).then(|| self.0.clone() as Arc<dyn CallObserver>)
//!     }
//! }
//!
//! impl CallObserver for Durations {
//!     fn ended(&self, end: &CallEnd<'_>) {
//!         let outcome = end.outcome.error_type().unwrap_or("ok".into());
//!         *self.0.lock().unwrap().entry(outcome.into_owned()).or_default() += end.duration;
//!     }
//! }
//!
//! let durations = Arc::new(Durations::default());
//! let config = Config::new(Dialect::MCP).observer(Arc::new(Incoming(durations.clone())));
//! # let _ = config;
//! ```

mod call_context;
mod connection;
pub(crate) mod exchange;
mod new_call;
mod new_call_observer;
mod observers;
pub(crate) mod open_call;
#[cfg(feature = "tracing")]
mod tracing_observer;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, RequestId, Response};
use agentwire_transport::{MessageSource, TransportError};

pub use agentwire_transport::Direction;
pub use call_context::{CallContext, NewCall};
pub use observers::Observers;

pub(crate) use connection::ConnectionObservation;
pub(crate) use new_call::make_call;
pub(crate) use new_call_observer::NewCallObserver;
#[cfg(feature = "tracing")]
pub use tracing_observer::{TRACING_TEXT_LIMIT, TracingObserver};

/// Observes connections and exchanges. Every method has a default that does nothing. See the [module](self).
pub trait Observer: Send + Sync {
    /// Called when a connection begins. Returns the observer of this connection, or none to observe it with this one.
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        None
    }

    /// Called when a connection has ended, after all its calls have.
    fn connection_ended(&self, end: &ConnectionEnd<'_>) {
        let _ = end;
    }

    /// Called when a call of ours is first awaited, within the future that awaits it. Returns what the call carries for the
    /// observer, or none to leave the request as it is.
    ///
    /// The observer of the connection is called once the connection has begun, and before that the configured one. A call may
    /// fail before its request leaves; then its context is dropped. A request that a relay passes on is not made here: it
    /// keeps its bytes, with the `_meta` in them.
    ///
    /// A call with a context has its id from here on. Where calls wait for room to be sent, one that waits less leaves first, so
    /// ids may leave out of order.
    fn call_made(&self, call: &NewCall<'_>) -> Option<CallContext> {
        let _ = call;
        None
    }

    /// Called when a call begins. Returns the observer of this call, or none to ignore the rest of it.
    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        let _ = call;
        None
    }

    /// Called for each notification, before it is handled or sent.
    fn notification(&self, direction: Direction, notification: &Notification) {
        let _ = (direction, notification);
    }

    /// Called for each frame, which is one message or one batch, with its approximate size in bytes.
    fn frame(&self, direction: Direction, bytes: usize) {
        let _ = (direction, bytes);
    }

    /// Called when the send queue has grown or shrunk, with its approximate size in bytes. The queue is looked at before
    /// and after writing. An exchange has none.
    fn queue(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Called for a message of the peer's that is not valid JSON-RPC, exceeds a limit of its size, or comes in a batch where
    /// batches are not taken. The error has the fault.
    fn malformed(&self, error: &ErrorObject) {
        let _ = error;
    }

    /// Called for a response of the peer's that belongs to no open call: late, repeated, or a complaint about a message that
    /// the peer could not read.
    fn unmatched_response(&self, response: &Response) {
        let _ = response;
    }
}

impl fmt::Debug for dyn Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// Observes one call, from [`Observer::call_started`] on.
pub trait CallObserver: Send + Sync {
    /// Called when the side that made the call has cancelled it. [`ended`](Self::ended) still follows.
    fn cancelled(&self) {}

    /// Called when the call ends, once.
    fn ended(&self, end: &CallEnd<'_>) {
        let _ = end;
    }

    /// Runs a part of the work on a call of the peer's: the handler, and each poll of its future. An observer that keeps a
    /// span enters it around `poll`, which it calls once.
    fn in_scope(&self, poll: &mut dyn FnMut()) {
        poll();
    }
}

impl fmt::Debug for dyn CallObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallObserver")
    }
}

/// The begin of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallStart<'a> {
    /// [`In`](Direction::In) for a call of the peer's, [`Out`](Direction::Out) for one of ours.
    pub direction: Direction,
    /// The method's name.
    pub method: &'a str,
    /// The id on the wire.
    pub id: &'a RequestId,
    /// The params, as text.
    pub params: Option<&'a RawJson>,
    /// How the request arrived, if the transport can tell. None for calls of ours.
    pub source: Option<&'a Arc<dyn MessageSource>>,
    /// The revision of the protocol, if one has been negotiated.
    pub revision: Option<&'a str>,
    /// The value of the [`CallContext`] that [`Observer::call_made`] returned for this call, if it did.
    pub context: Option<&'a Arc<dyn Any + Send + Sync>>,
}

impl CallStart<'_> {
    /// The member `_meta` of the params, as text.
    pub fn meta(&self) -> Option<RawJson> {
        self.params?.member("_meta")
    }
}

/// The end of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallEnd<'a> {
    /// [`In`](Direction::In) for a call of the peer's, [`Out`](Direction::Out) for one of ours.
    pub direction: Direction,
    /// The method's name.
    pub method: &'a str,
    /// The id on the wire.
    pub id: &'a RequestId,
    /// How the call ended.
    pub outcome: Outcome<'a>,
    /// The time since the call began.
    pub duration: Duration,
    /// The revision of the protocol, if one has been negotiated, perhaps by this call.
    pub revision: Option<&'a str>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// With a result.
    Result(&'a RawJson),
    /// With an error as its response.
    Error(&'a ErrorObject),
    /// With a response that is not a JSON-RPC response.
    Malformed(&'a ErrorObject),
    /// Cancelled before there was a response: by the side that made it, or by the other where the protocol allows that.
    Cancelled,
    /// Without a response within the time-out.
    TimedOut,
    /// The transport could not carry it, and goes on.
    Failed(Option<&'a TransportError>),
    /// The connection ended first.
    Closed,
}

impl Outcome<'_> {
    /// The code of the JSON-RPC error, if the response is one.
    pub fn error_code(&self) -> Option<i64> {
        match self {
            Self::Error(error) => Some(error.code),
            _ => None,
        }
    }

    /// A word of few different ones for how the call failed, none if it has a result: the code of the JSON-RPC error as text,
    /// or `malformed`, `cancelled`, `timeout`, `transport` or `closed`.
    pub fn error_type(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Result(_) => return None,
            Self::Error(error) => error.code.to_string().into(),
            Self::Malformed(_) => "malformed".into(),
            Self::Cancelled => "cancelled".into(),
            Self::TimedOut => "timeout".into(),
            Self::Failed(_) => "transport".into(),
            Self::Closed => "closed".into(),
        })
    }
}

/// The end of a connection.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConnectionEnd<'a> {
    /// The error that the transport reported last. None when the peer, or this side, closed in good order.
    pub error: Option<&'a TransportError>,
    /// The time since the connection began.
    pub duration: Duration,
    /// The revision of the protocol, if one has been negotiated.
    pub revision: Option<&'a str>,
}
