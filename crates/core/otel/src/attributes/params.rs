//! The members of a request's params that become attributes, found in one pass.

use agentwire_jsonrpc::RawJson;
use agentwire_jsonrpc::runtime::Members;
use agentwire_mcp_wire::meta;
use opentelemetry::baggage::Baggage;
use opentelemetry::trace::SpanContext;

use crate::attributes::text::string;
use crate::propagation::baggage;
use crate::propagation::trace_context;
use crate::propagation::trace_context::{TRACEPARENT, TRACESTATE};

/// The text of members of a request's params.
#[derive(Clone, Copy, Default)]
pub(crate) struct Params<'a> {
    /// The tool or prompt of MCP.
    pub(crate) name: Option<&'a str>,
    /// The resource of MCP.
    pub(crate) uri: Option<&'a str>,
    /// The session of ACP.
    pub(crate) session_id: Option<&'a str>,
    /// The arguments of a tool.
    pub(crate) arguments: Option<&'a str>,
    pub(crate) meta: Option<&'a str>,
}

impl<'a> Params<'a> {
    pub(crate) fn of(params: Option<&'a RawJson>) -> Self {
        let mut found = Self::default();
        for (name, value) in params.into_iter().flat_map(|params| Members::of(params.as_str())) {
            match &*name {
                "name" => found.name = Some(value),
                "uri" => found.uri = Some(value),
                "sessionId" => found.session_id = Some(value),
                "arguments" => found.arguments = Some(value),
                "_meta" => found.meta = Some(value),
                _ => {}
            }
        }
        found
    }

    /// Reads the members of `_meta` for the caller's trace and the protocol's revision.
    pub(crate) fn trace(&self) -> Trace {
        let (mut parent, mut state, mut trace) = (None, None, Trace::default());
        for (name, value) in self.meta.into_iter().flat_map(Members::of) {
            match &*name {
                TRACEPARENT => parent = string(value),
                TRACESTATE => state = string(value),
                baggage::BAGGAGE => trace.baggage = string(value).and_then(|text| baggage::parse(&text)),
                meta::PROTOCOL_VERSION => trace.revision = string(value).map(Into::into),
                _ => {}
            }
        }
        trace.parent = parent.and_then(|parent| trace_context::parse(&parent, state.as_deref()));
        trace
    }
}

/// The members of `_meta` that telemetry reads.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) parent: Option<SpanContext>,
    pub(crate) baggage: Option<Baggage>,
    pub(crate) revision: Option<String>,
}
