//! An [`Observer`] that reports spans and events through the crate `tracing`.

use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Notification, Printable, Response, WithCauses};
use agentwire_transport::TransportError;
use tracing::field::{Empty, display};
use tracing::{Level, Span, debug, debug_span, event, info_span, trace};

use super::{CallEnd, CallObserver, CallStart, ConnectionEnd, Direction, Observer, Outcome};

/// The maximum length of a peer's text in a field, in bytes before escaping.
pub const TRACING_TEXT_LIMIT: usize = 256;

/// An observer that reports spans and events through [`tracing`].
///
/// | target | span or event | level | fields |
/// |---|---|---|---|
/// | `agentwire::connection` | the span `connection`, from start to end | info | – |
/// | | the event `connection ended` | debug | `duration`, `revision`, `error` |
/// | `agentwire::call` | the span `call`, from start to end | debug | `direction`, `method`, `id`, `revision`, `error.type`, `error.code`, `error.message` |
/// | | the events `call cancelled` and `call ended`, in that span | debug | `duration` |
/// | `agentwire::notification` | the event `notification` | debug | `direction`, `method` |
/// | `agentwire::frame` | the event `frame` | trace | `direction`, `bytes` |
/// | `agentwire::queue` | the event `send queue` | trace | `bytes` |
/// | `agentwire::malformed` | the events `malformed message` and `unmatched response` | warn, debug | `error.code`, `error.message`; `id` |
///
/// `direction` is `in` for messages and calls by the peer, else `out`. `duration` is in seconds. The `error.type` of a call is
/// [`Outcome::error_type`]. A handler, and each poll of its future, runs within the span of its call, so its own events and spans
/// are children of that span. The span of a call is a child of the connection's span. The span of an exchange is a child of the span
/// in which its service is called, such as that of the HTTP request.
///
/// The peer's text is shown in one line without control characters, and cut after [`TRACING_TEXT_LIMIT`] bytes. Params,
/// results and `_meta` are not shown.
///
/// ```
/// use std::sync::Arc;
///
/// use agentwire_peer::observe::TracingObserver;
/// use agentwire_peer::{Config, Dialect};
///
/// let config = Config::new(Dialect::ACP).observer(Arc::new(TracingObserver::default()));
/// # let _ = config;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TracingObserver {
    connection: Span,
}

/// Makes an observer for all connections and exchanges. Each connection gets its own span.
impl Default for TracingObserver {
    fn default() -> Self {
        Self { connection: Span::none() }
    }
}

impl Observer for TracingObserver {
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        let connection = info_span!(target: "agentwire::connection", "connection");
        Some(Arc::new(Self { connection }))
    }

    fn connection_ended(&self, end: &ConnectionEnd<'_>) {
        self.connection.in_scope(|| {
            debug!(
                target: "agentwire::connection",
                duration = end.duration.as_secs_f64(),
                revision = end.revision.map(Shown).map(display),
                error = end.error.map(|error| display(ShownCauses(error))),
                "connection ended"
            );
        });
    }

    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        let span = self.connection.in_scope(|| {
            debug_span!(
                target: "agentwire::call",
                "call",
                direction = name(call.direction),
                method = %Shown(call.method),
                id = %ShownDisplay(call.id),
                revision = call.revision.map(Shown).map(display),
                "error.type" = Empty,
                "error.code" = Empty,
                "error.message" = Empty,
            )
        });
        (!span.is_disabled()).then(|| Arc::new(CallSpan(span)) as Arc<dyn CallObserver>)
    }

    fn notification(&self, direction: Direction, notification: &Notification) {
        let method = Shown(&notification.method);
        self.connection.in_scope(|| {
            debug!(target: "agentwire::notification", direction = name(direction), %method, "notification");
        });
    }

    fn frame(&self, direction: Direction, bytes: usize) {
        self.connection.in_scope(|| {
            trace!(target: "agentwire::frame", direction = name(direction), bytes, "frame");
        });
    }

    fn queue(&self, bytes: usize) {
        self.connection.in_scope(|| trace!(target: "agentwire::queue", bytes, "send queue"));
    }

    fn malformed(&self, error: &ErrorObject) {
        let message = Shown(&error.message);
        self.connection.in_scope(|| {
            // `warn!` accepts no dotted name right after a target.
            event!(
                target: "agentwire::malformed",
                Level::WARN,
                error.code = error.code,
                error.message = %message,
                "malformed message"
            );
        });
    }

    fn unmatched_response(&self, response: &Response) {
        let id = ShownDisplay(&response.id);
        self.connection.in_scope(|| debug!(target: "agentwire::malformed", %id, "unmatched response"));
    }
}

/// The span of one call.
struct CallSpan(Span);

impl CallObserver for CallSpan {
    fn cancelled(&self) {
        self.0.in_scope(|| debug!(target: "agentwire::call", "call cancelled"));
    }

    fn ended(&self, end: &CallEnd<'_>) {
        if let Some(error_type) = end.outcome.error_type() {
            self.0.record("error.type", &*error_type);
        }
        if let Some(revision) = end.revision {
            self.0.record("revision", display(Shown(revision)));
        }
        if let Outcome::Error(error) | Outcome::Malformed(error) = end.outcome {
            self.0.record("error.code", error.code);
            self.0.record("error.message", display(Shown(&error.message)));
        }
        let duration = end.duration.as_secs_f64();
        self.0.in_scope(|| debug!(target: "agentwire::call", duration, "call ended"));
    }

    fn in_scope(&self, poll: &mut dyn FnMut()) {
        self.0.in_scope(poll);
    }
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "in",
        Direction::Out => "out",
    }
}

/// A peer's text in one line, escaped and cut.
#[derive(Clone, Copy)]
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut end = self.0.len().min(TRACING_TEXT_LIMIT);
        while !self.0.is_char_boundary(end) {
            end -= 1;
        }
        Printable::one_line(&self.0[..end]).fmt(f)?;
        if end < self.0.len() { f.write_str("…") } else { Ok(()) }
    }
}

/// The text of an error and its causes in one line, escaped and cut.
struct ShownCauses<'a>(&'a TransportError);

impl fmt::Display for ShownCauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(&WithCauses::new(self.0).plain()).fmt(f)
    }
}

/// The `Display` text of a value in one line, escaped and cut.
struct ShownDisplay<T>(T);

impl<T: fmt::Display> fmt::Display for ShownDisplay<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(&self.0.to_string()).fmt(f)
    }
}
