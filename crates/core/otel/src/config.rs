//! The configuration: the optional content of spans, and their default parent.

use agentwire_wire_derive::Build;
use opentelemetry::trace::SpanContext;

use crate::propagation::trace_context;

/// The configuration of a [`Telemetry`](crate::Telemetry).
#[derive(Clone, Debug, Build)]
#[build(new)]
#[non_exhaustive]
pub struct Config {
    /// Sets whether spans contain the arguments and results of tools (default: no). They may contain secrets and personal data.
    pub content: bool,
    /// Sets whether a server's spans contain the id of their MCP session over HTTP (default: no). An id is a
    /// credential if a server does not authenticate its clients. Of an id with a dot, such as a sealed one,
    /// only the part before the dot is shown.
    pub session_ids: bool,
    /// The parent of spans without any other parent (default: none), such as the span of the program that has started
    /// this one.
    #[build(skip)]
    pub parent: Option<SpanContext>,
}

impl Config {
    /// Sets the parent of spans without any other parent, from W3C's `traceparent` and `tracestate` (default: none). A
    /// malformed `traceparent` sets none.
    ///
    /// A program that is started within a trace has them in its environment, as `TRACEPARENT` and `TRACESTATE`:
    ///
    /// ```
    /// use std::env;
    ///
    /// use agentwire_otel::Config;
    ///
    /// let (parent, state) = (env::var("TRACEPARENT"), env::var("TRACESTATE"));
    /// let config = Config::new().parent(&parent.unwrap_or_default(), state.ok().as_deref());
    /// ```
    #[must_use]
    pub fn parent(mut self, traceparent: &str, tracestate: Option<&str>) -> Self {
        self.parent = trace_context::parse(traceparent.trim(), tracestate.map(str::trim));
        self
    }
}
