//! Observes connections and exchanges: calls, notifications, bytes, the send queue, and malformed input.
//!
//! An [`Observer`] is set by [`Config::observer`](crate::Config::observer), and on the servers and clients of the protocol
//! runtimes. It observes the messages between this side and the transport:
//!
//! ```text
//!  connection_started ─▶ frame, notification, malformed, queue … ─▶ connection_ended
//!         (call_made ─▶) call_started ─▶ CallObserver: cancelled, in_scope … ─▶ ended
//! ```
//!
//! A call by the peer starts when its request arrives. It ends when its response is given to the transport, or when the peer cancels
//! it and the protocol does not answer cancelled requests. A call by this side starts when its request is given to the transport. It
//! ends when its response arrives, its time-out passes, or its cancel is given to the transport. A call that fails before its request
//! is sent is not observed. Every call that has started ends, at the latest with the connection, as [`Outcome::Closed`].
//!
//! [`Observer::call_made`] runs earlier, when a call by this side is first awaited: in the scope of the caller, and before its request
//! is encoded. It may add members to the request's `_meta`, and the value of its [`CallContext`] is passed on in
//! [`CallStart::context`].
//!
//! An [`Exchange`](agentwire_transport::Exchange), which is one request without a connection, is observed by the same methods.
//!
//! # Guarantees for an observer
//!
//! - Its methods are called without any lock, and in the order of the events on the connection. Exchanges are concurrent with each
//!   other.
//! - A panic in an observer changes nothing for the connection. The panic hook reports it.
//! - It runs within the connection's future, so it must not block.
//! - Times are those of the connection's [`Clock`](crate::Clock).
//!
//! Method names, ids, params and error messages come from the peer, with any length and any characters. Show them with
//! [`Printable`](agentwire_jsonrpc::Printable), cut to a limit. Use a method name as a label of a metric only if it is a known one.
//!
//! Without an observer each of these costs one branch, no allocation and no read of the clock.
//!
//! # For telemetry
//!
//! | attribute | source |
//! |---|---|
//! | method, JSON-RPC id | [`CallStart::method`], [`CallStart::id`] |
//! | tool, prompt, resource, ACP session | members of [`CallStart::params`] |
//! | context to propagate (`traceparent`, `tracestate`, `baggage`) | [`CallStart::meta`], as raw text; for requests to the peer [`CallContext::meta`] |
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
//! /// The total time of the calls by the peer, by outcome.
//! #[derive(Default)]
//! struct Durations(Mutex<BTreeMap<String, Duration>>);
//!
//! /// Adds each call by the peer to `Durations`.
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
    /// Called when a connection starts. Returns the observer of this connection. `None` observes it with this one.
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        None
    }

    /// Called when a connection has ended, after the end of all its calls.
    fn connection_ended(&self, end: &ConnectionEnd<'_>) {
        let _ = end;
    }

    /// Called when a call by this side is first awaited, within the future that awaits it. Returns members for the request's `_meta`
    /// and a value for the observer. `None` leaves the request unchanged.
    ///
    /// Before the connection has started, the configured observer is called; after that, the observer of the connection. If a call
    /// fails before its request is sent, its context is dropped. The method is not called for a request that a relay forwards, because
    /// that keeps its bytes, with the `_meta` in them.
    ///
    /// A call with a context gets its id here. If several calls wait for room in the queue, their requests may be sent in another order
    /// than that of their ids.
    fn call_made(&self, call: &NewCall<'_>) -> Option<CallContext> {
        let _ = call;
        None
    }

    /// Called when a call starts. Returns the observer of this call. `None` ignores the rest of it.
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

    /// Called when the size of the send queue has changed, with its approximate size in bytes. The size is read before and after
    /// writing. An exchange has no send queue.
    fn queue(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Called for a message from the peer that is not valid JSON-RPC, exceeds a size limit, or is in a batch that is not accepted. The
    /// error describes the fault.
    fn malformed(&self, error: &ErrorObject) {
        let _ = error;
    }

    /// Called for a response from the peer that belongs to no open call. It is late, repeated, or the error for a message that the peer
    /// could not read.
    fn unmatched_response(&self, response: &Response) {
        let _ = response;
    }
}

impl fmt::Debug for dyn Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// Observes one call, after [`Observer::call_started`].
pub trait CallObserver: Send + Sync {
    /// Called when the side that made the call has cancelled it. [`ended`](Self::ended) still follows.
    fn cancelled(&self) {}

    /// Called once, when the call ends.
    fn ended(&self, end: &CallEnd<'_>) {
        let _ = end;
    }

    /// Runs a part of the work on a call by the peer: the handler, and each poll of its future. An implementation calls `poll` once, for
    /// example with its span entered.
    fn in_scope(&self, poll: &mut dyn FnMut()) {
        poll();
    }
}

impl fmt::Debug for dyn CallObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallObserver")
    }
}

/// The start of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallStart<'a> {
    /// [`In`](Direction::In) for a call by the peer, [`Out`](Direction::Out) for a call by this side.
    pub direction: Direction,
    /// The method's name.
    pub method: &'a str,
    /// The id on the wire.
    pub id: &'a RequestId,
    /// The params, as text.
    pub params: Option<&'a RawJson>,
    /// The source of the request, if the transport provides one. `None` for calls by this side.
    pub source: Option<&'a Arc<dyn MessageSource>>,
    /// The revision of the protocol, if one has been negotiated.
    pub revision: Option<&'a str>,
    /// The value of the [`CallContext`] that [`Observer::call_made`] returned for this call.
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
    /// [`In`](Direction::In) for a call by the peer, [`Out`](Direction::Out) for a call by this side.
    pub direction: Direction,
    /// The method's name.
    pub method: &'a str,
    /// The id on the wire.
    pub id: &'a RequestId,
    /// The outcome of the call.
    pub outcome: Outcome<'a>,
    /// The time since the call started.
    pub duration: Duration,
    /// The revision of the protocol, if one has been negotiated, possibly by this call.
    pub revision: Option<&'a str>,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// A response with a result.
    Result(&'a RawJson),
    /// A response with an error.
    Error(&'a ErrorObject),
    /// A malformed response.
    Malformed(&'a ErrorObject),
    /// The call was cancelled before its response: by the caller, or by the receiver if the protocol allows that.
    Cancelled,
    /// No response arrived within the time-out.
    TimedOut,
    /// The transport could not send the request or receive the response, but the connection goes on.
    Failed(Option<&'a TransportError>),
    /// The connection ended first.
    Closed,
}

impl Outcome<'_> {
    /// The code of the JSON-RPC error. `None` for any other outcome.
    pub fn error_code(&self) -> Option<i64> {
        match self {
            Self::Error(error) => Some(error.code),
            _ => None,
        }
    }

    /// The kind of the failure, one of few values: the code of the JSON-RPC error as text, or `malformed`, `cancelled`, `timeout`,
    /// `transport` or `closed`. `None` for a result.
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
    /// The error that the transport reported last. `None` if one side closed the connection without an error.
    pub error: Option<&'a TransportError>,
    /// The time since the connection started.
    pub duration: Duration,
    /// The revision of the protocol, if one has been negotiated.
    pub revision: Option<&'a str>,
}
