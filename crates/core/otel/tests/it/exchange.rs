//! A server's request without a connection, as `mcp-server` reports it.

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use agentwire_jsonrpc::{Request, RequestId, Response};
use agentwire_otel::Config;
use agentwire_peer::runtime::{ExchangeObservation, in_scope};
use agentwire_transport::MessageSource;
use opentelemetry::Context;
use opentelemetry::baggage::BaggageExt;
use opentelemetry::trace::TraceContextExt;

use crate::support::{json, kept, shown};

/// The head of an HTTP request.
#[derive(Debug)]
struct Head(&'static [(&'static str, &'static str)]);

impl MessageSource for Head {
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let (_, value) = self.0.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value.as_bytes().into())
    }

    fn extension_of(&self, _: TypeId) -> Option<&dyn std::any::Any> {
        None
    }
}

const HTTP: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
const UNSAMPLED: &[(&str, &str)] =
    &[("traceparent", "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00")];
const HEADERS: &[(&str, &str)] = &[("traceparent", HTTP), ("mcp-session-id", "session.sealed")];

#[test]
fn span_of_the_http_request_is_the_link_or_the_parent() {
    let kept = kept(Config::new().session_ids(true));
    let meta = r#"{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}"#;
    for params in [meta, "{}"] {
        let request = Request::new(RequestId::from("a\nb"), "tools/list", Some(json(params)));
        let source: Arc<dyn MessageSource> = Arc::new(Head(HEADERS));
        let observer = Arc::new(kept.telemetry.mcp_server());
        let revision = Some("2026-07-28".into());
        let observation =
            ExchangeObservation::begin(observer, &request, Some(&source), revision, Instant::now);
        let span =
            in_scope(observation.call_observer(), || Context::current().span().span_context().span_id());
        observation.end(&Response::new(request.id, Ok(json("{}"))));
        assert_eq!(kept.spans().last().unwrap().span_context.span_id(), span);
    }
    let spans = kept.spans();
    assert_eq!(spans[0].parent_span_id.to_string(), "b7ad6b7169203331");
    assert_eq!(spans[0].links[0].span_context.span_id().to_string(), "00f067aa0ba902b7");
    assert_eq!(spans[1].parent_span_id.to_string(), "00f067aa0ba902b7");
    assert_eq!(spans[1].links.len(), 0);
    assert_eq!(
        shown(&spans[0].attributes),
        "jsonrpc.request.id=a b mcp.method.name=tools/list mcp.protocol.version=2026-07-28 mcp.session.id=session"
    );
}

#[test]
fn session_ids_are_left_out_by_default() {
    let kept = kept(Config::new());
    let request = Request::new(RequestId::from(1_i64), "ping", None);
    let source: Arc<dyn MessageSource> = Arc::new(Head(HEADERS));
    let observer = Arc::new(kept.telemetry.mcp_server());
    drop(ExchangeObservation::begin(observer, &request, Some(&source), None, Instant::now));
    assert_eq!(
        shown(&kept.spans()[0].attributes),
        "error.type=cancelled jsonrpc.request.id=1 mcp.method.name=ping"
    );
}

#[test]
fn untrusted_caller_sets_neither_parent_nor_sampling() {
    let kept = kept(Config::new());
    let meta = r#"{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00","baggage":"user=a"}}"#;
    for (trusts, params) in [(true, meta), (true, "{}"), (false, meta), (false, "{}")] {
        let request = Request::new(RequestId::from(1_i64), "tools/list", Some(json(params)));
        let source: Arc<dyn MessageSource> = Arc::new(Head(UNSAMPLED));
        let observer = Arc::new(kept.telemetry.mcp_server().trust_callers(trusts));
        let observation = ExchangeObservation::begin(observer, &request, Some(&source), None, Instant::now);
        let baggage = in_scope(observation.call_observer(), || Context::current().baggage().len());
        assert_eq!(baggage, usize::from(trusts && params == meta));
        observation.end(&Response::new(request.id, Ok(json("{}"))));
    }
    let spans = kept.spans();
    let shown: Vec<_> = spans
        .iter()
        .map(|span| {
            let links = span.links.iter().map(|link| link.span_context.span_id().to_string());
            (span.parent_span_id.to_string(), links.collect::<Vec<_>>())
        })
        .collect();
    // Both requests of the trusted caller are not sampled, because of its flag.
    let root = "0".repeat(16);
    let links = |id: &str| (root.clone(), vec![id.to_owned()]);
    assert_eq!(shown, [links("b7ad6b7169203331"), links("00f067aa0ba902b7")]);
    assert!(spans.iter().all(|span| span.span_context.trace_id().to_string() != HTTP[3..35]));
}
