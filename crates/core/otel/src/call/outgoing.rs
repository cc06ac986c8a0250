//! Starts the span of a request to the peer, and adds its trace context to the request.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_jsonrpc::RawObject;
use agentwire_peer::observe::{CallContext, CallStart, NewCall};
use opentelemetry::baggage::BaggageExt;
use opentelemetry::trace::{Link, SpanBuilder, SpanId, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};

use crate::attributes::error_type::NOT_SENT;
use crate::attributes::params::Params;
use crate::attributes::{CallAttributes, TOOLS_CALL};
use crate::call::active::ActiveCall;
use crate::call::{ObservedCall, id_attribute};
use crate::connection::ConnectionKind;
use crate::propagation::baggage;
use crate::propagation::baggage::BAGGAGE;
use crate::propagation::trace_context;
use crate::propagation::trace_context::{TRACEPARENT, TRACESTATE};

/// Marks the current span of a context as the span of a tool's execution, started by the instrumentation of a model's library.
///
/// The conventions ask for a single `execute_tool` span. A `tools/call` that is awaited in such a context starts no span. It adds its
/// attributes to the marked span, and propagates that.
///
/// ```
/// use agentwire_otel::ExecuteToolSpan;
/// use opentelemetry::Context;
///
/// let context = ExecuteToolSpan::mark(&Context::current());
/// let _guard = context.attach();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ExecuteToolSpan(SpanId);

impl ExecuteToolSpan {
    /// Returns the context with a mark on its current span.
    pub fn mark(context: &Context) -> Context {
        context.with_value(Self(context.span().span_context().span_id()))
    }

    /// Returns whether the context's current span is marked. A child of the marked span is not.
    fn is_current(context: &Context) -> bool {
        let span = context.span().span_context().span_id();
        span != SpanId::INVALID && context.get::<Self>().is_some_and(|Self(marked)| *marked == span)
    }
}

/// The span of a call before its [`CallStart`].
struct NewSpan {
    context: Context,
    owns_span: bool,
    /// Whether the call has started, so that its [`ObservedCall`] ends the span.
    begun: AtomicBool,
}

/// Ends the span of a call that failed before its request was sent.
impl Drop for NewSpan {
    fn drop(&mut self) {
        if self.owns_span && !*self.begun.get_mut() {
            let span = self.context.span();
            span.set_attribute(KeyValue::new("error.type", NOT_SENT));
            span.set_status(Status::error(""));
            span.end();
        }
    }
}

/// Starts the span of a call, and returns the context and the members of `_meta` for its request.
pub(crate) fn make(kind: &ConnectionKind, call: &NewCall<'_>) -> CallContext {
    let params = Params::of(call.params);
    let span = begin_span(kind, &CallAttributes::new(kind, call.method, &params), &params);
    let meta = propagated(&span.context);
    CallContext::new(Arc::new(span)).meta(meta)
}

pub(crate) fn begin(kind: &ConnectionKind, call: &CallStart<'_>) -> ObservedCall {
    let params = Params::of(call.params);
    let attributes = CallAttributes::new(kind, call.method, &params);
    let new = call
        .context
        .map(|context| &**context as &dyn Any)
        .and_then(|context| context.downcast_ref::<NewSpan>());
    let (context, owns_span) = match new {
        Some(new) => {
            new.begun.store(true, Ordering::Relaxed);
            (new.context.clone(), new.owns_span)
        }
        // A relay forwards the request with the context that it contains.
        None => {
            let mut span = begin_span(kind, &attributes, &params);
            *span.begun.get_mut() = true;
            (span.context.clone(), span.owns_span)
        }
    };
    context.span().set_attribute(id_attribute(call.id));
    let revision = call.revision.map(str::to_owned).or_else(|| params.trace().revision);
    let revision = revision.and_then(|revision| kind.protocol.revision(&revision));
    let active = ActiveCall::begin(kind.clone(), call.direction);
    ObservedCall { active, attributes, context, owns_span, revision }
}

fn begin_span(kind: &ConnectionKind, attributes: &CallAttributes, params: &Params<'_>) -> NewSpan {
    let begun = AtomicBool::new(false);
    let current = Context::current();
    if attributes.method == TOOLS_CALL && ExecuteToolSpan::is_current(&current) {
        current.span().set_attributes(attributes.of_span());
        return NewSpan { context: current, owns_span: false, begun };
    }
    let named = params.trace().parent.filter(|_| !current.has_active_span());
    let (parent, link) = match named {
        Some(named) if kind.trusts_callers => (current.with_remote_span_context(named), None),
        // A relay forwards the request of an untrusted caller: that caller's span is a link.
        link => (kind.inner.with_default_parent(current), link),
    };
    let span = SpanBuilder::from_name(attributes.span_name())
        .with_kind(SpanKind::Client)
        .with_attributes(attributes.of_span())
        .with_links(link.into_iter().map(Link::with_context).collect());
    let span = kind.inner.tracer.build_with_context(span, &parent);
    NewSpan { context: parent.with_span(span), owns_span: true, begun }
}

/// The members of `_meta` that carry a context. Without a valid span there is no `traceparent`.
fn propagated(context: &Context) -> RawObject {
    let mut meta = RawObject::new();
    let span = context.span().span_context().clone();
    if span.is_valid() {
        let (parent, state) = trace_context::format(&span);
        meta.insert(TRACEPARENT, text(&parent));
        if let Some(state) = state {
            meta.insert(TRACESTATE, text(&state));
        }
    }
    if let Some(members) = baggage::format(context.baggage()) {
        meta.insert(BAGGAGE, text(&members));
    }
    meta
}

fn text(value: &str) -> agentwire_jsonrpc::RawJson {
    agentwire_jsonrpc::RawJson::encode(value).expect("a string has a JSON form")
}
