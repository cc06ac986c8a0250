//! Starts the span of a request from the peer.

use std::str;
use std::sync::Arc;

use agentwire_mcp_wire::header;
use agentwire_peer::observe::CallStart;
use agentwire_transport::MessageSource;
use opentelemetry::baggage::{BaggageExt, KeyValueMetadata};
use opentelemetry::trace::{Link, SpanBuilder, SpanContext, SpanKind, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};

use crate::attributes::CallAttributes;
use crate::attributes::params::{Params, Trace};
use crate::attributes::text::{TEXT_LIMIT, bounded};
use crate::call::active::ActiveCall;
use crate::call::{ObservedCall, id_attribute};
use crate::connection::ConnectionKind;
use crate::propagation::trace_context;
use crate::propagation::trace_context::{TRACEPARENT, TRACESTATE};
use crate::protocol::Protocol;

pub(crate) fn begin(kind: &ConnectionKind, call: &CallStart<'_>) -> ObservedCall {
    let params = Params::of(call.params);
    let mut attributes = CallAttributes::new(kind, call.method, &params);
    attributes.span.push(id_attribute(call.id));
    if kind.protocol == Protocol::Mcp
        && kind.inner.config.session_ids
        && let Some(session) = call.source.and_then(|source| header_text(source, header::SESSION_ID))
    {
        // The part after the dot may be a sealed secret. With it, the full id gives access to the session at any node.
        let public_id = session.split('.').next().unwrap_or_default();
        attributes.span.push(KeyValue::new("mcp.session.id", bounded(public_id, TEXT_LIMIT)));
    }
    let trace = params.trace();
    let revision = call.revision.or(trace.revision.as_deref());
    let revision = revision.and_then(|revision| kind.protocol.revision(revision));
    let (parent, link) = match kind.trusts_callers {
        true => parent(trace, call.source),
        false => (Context::current(), caller_span(trace.parent, call.source)),
    };
    let parent = kind.inner.with_default_parent(parent);
    let span = SpanBuilder::from_name(attributes.span_name())
        .with_kind(SpanKind::Server)
        .with_attributes(attributes.of_span())
        .with_links(link.into_iter().map(Link::with_context).collect());
    let span = kind.inner.tracer.build_with_context(span, &parent);
    let context = parent.with_span(span);
    let active = ActiveCall::begin(kind.clone(), call.direction);
    ObservedCall { active, attributes, context, owns_span: true, revision }
}

/// The parent context of the span, and the span that it links to.
///
/// The parent is the first of: the span in `_meta`, the current span, the span in the headers of the HTTP request. If `_meta` has
/// it, the next one that exists is the link.
fn parent(trace: Trace, source: Option<&Arc<dyn MessageSource>>) -> (Context, Option<SpanContext>) {
    let mut current = Context::current();
    if let Some(baggage) = trace.baggage {
        current = current.with_baggage(baggage.iter().map(|(key, (value, metadata))| {
            KeyValueMetadata::new(key.clone(), value.clone(), metadata.clone())
        }));
    }
    let ambient = Some(current.span().span_context().clone()).filter(SpanContext::is_valid);
    let header = || source.and_then(of_headers);
    match trace.parent {
        Some(parent) => {
            let link = ambient.or_else(header).filter(|link| link.span_id() != parent.span_id());
            (current.with_remote_span_context(parent), link)
        }
        None if ambient.is_some() => (current, None),
        None => match header() {
            Some(parent) => (current.with_remote_span_context(parent), None),
            None => (current, None),
        },
    }
}

/// The caller's span: the one in `_meta`, else the one in the headers of the HTTP request.
fn caller_span(parent: Option<SpanContext>, source: Option<&Arc<dyn MessageSource>>) -> Option<SpanContext> {
    parent.or_else(|| source.and_then(of_headers))
}

fn of_headers(source: &Arc<dyn MessageSource>) -> Option<SpanContext> {
    let state = header_text(source, TRACESTATE);
    trace_context::parse(&header_text(source, TRACEPARENT)?, state.as_deref())
}

fn header_text(source: &Arc<dyn MessageSource>, name: &str) -> Option<String> {
    let value = source.header(name)?;
    str::from_utf8(&value).ok().map(str::to_owned)
}
