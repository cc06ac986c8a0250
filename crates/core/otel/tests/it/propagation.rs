//! Trace context and baggage in `_meta`.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use agentwire_jsonrpc::RawJson;
use agentwire_otel::{Config, ExecuteToolSpan};
use agentwire_peer::observe::{Observer, Observers};
use agentwire_peer::runtime::{call_raw, start_call};
use agentwire_peer::{Dialect, Handler};
use opentelemetry::baggage::BaggageExt;
use opentelemetry::trace::{SpanId, SpanKind, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};

use crate::support::{
    Answers, call, connected_by, is_child, json, kept, method_not_found, no_context, observed, shown,
};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Answers with the `_meta` that arrived.
fn meta() -> impl Handler {
    Answers(async |request: agentwire_jsonrpc::Request, _| {
        Ok(request.params.and_then(|params| params.member("_meta")).unwrap_or(RawJson::NULL))
    })
}

#[tokio::test(start_paused = true)]
async fn current_span_and_baggage_are_propagated() {
    let kept = kept(Config::new());
    let tracer = kept.tracers.tracer("test");
    let outer =
        Context::current_with_span(tracer.start("outer")).with_baggage([KeyValue::new("user", "a b")]);
    let handler = Answers(async |request: agentwire_jsonrpc::Request, _| {
        assert_eq!(Context::current().baggage().get("user").unwrap().as_str(), "a b");
        Ok(request.params.and_then(|params| params.member("_meta")).unwrap())
    });
    let answer = observed(&kept, handler, async |peer| {
        let call = call(&peer, "ping", r#"{"_meta":{"own":1}}"#);
        opentelemetry::context::FutureExt::with_context(call, outer.clone()).await.unwrap()
    })
    .await;
    outer.span().end();
    let spans = kept.spans();
    let [server, client, outer] = &*spans else { panic!("{spans:?}") };
    assert!(is_child(server, client) && is_child(client, outer));
    let (trace, span) = (client.span_context.trace_id(), client.span_context.span_id());
    let expected = format!(r#"{{"own":1,"traceparent":"00-{trace}-{span}-01","baggage":"user=a%20b"}}"#);
    assert_eq!(answer.as_str(), expected);
}

#[tokio::test(start_paused = true)]
async fn span_in_the_params_is_the_parent_without_a_current_span() {
    let kept = kept(Config::new());
    let params = format!(r#"{{"_meta":{{"traceparent":"{PARENT}","tracestate":"a=1"}}}}"#);
    let answer = observed(&kept, meta(), async |peer| call(&peer, "ping", &params).await.unwrap()).await;
    let spans = kept.spans();
    let client = spans.iter().find(|span| span.span_kind == SpanKind::Client).unwrap();
    assert_eq!(client.parent_span_id.to_string(), "b7ad6b7169203331");
    let span = client.span_context.span_id();
    let parent = format!("00-0af7651916cd43dd8448eb211c80319c-{span}-01");
    assert_eq!(answer.as_str(), format!(r#"{{"traceparent":"{parent}","tracestate":"a=1"}}"#));
}

#[tokio::test(start_paused = true)]
async fn current_span_precedes_the_parent_of_the_configuration() {
    let kept = kept(Config::new().parent(PARENT, Some("a=1")));
    let other = PARENT.replace("b7ad6b7169203331", "00f067aa0ba902b7");
    let named = format!(r#"{{"_meta":{{"traceparent":"{other}"}}}}"#);
    let tracer = kept.tracers.tracer("test");
    let outer = no_context().with_span(tracer.start("outer"));
    observed(&kept, meta(), async |peer| {
        call(&peer, "ping", "{}").await.unwrap();
        call(&peer, "tools/list", &named).await.unwrap();
        let within = call(&peer, "prompts/list", "{}");
        opentelemetry::context::FutureExt::with_context(within, outer.clone()).await.unwrap();
    })
    .await;
    let spans = kept.spans();
    let clients = spans.iter().filter(|span| span.span_kind == SpanKind::Client);
    let parents: Vec<_> = clients.map(|span| (&*span.name, span.parent_span_id.to_string())).collect();
    let outer = outer.span().span_context().span_id().to_string();
    let expected =
        [("ping", "b7ad6b7169203331"), ("tools/list", "00f067aa0ba902b7"), ("prompts/list", &outer)];
    assert_eq!(parents, expected.map(|(name, parent)| (name, parent.to_owned())));
}

#[tokio::test(start_paused = true)]
async fn request_without_a_context_has_the_parent_of_the_configuration() {
    let kept = kept(Config::new().parent(PARENT, None));
    let server: Arc<dyn Observer> = Arc::new(kept.telemetry.mcp_server());
    let refuse = Answers(async |request, _| method_not_found(&request));
    connected_by(Dialect::MCP, None, Some(server), refuse, meta(), async |peer| {
        call(&peer, "ping", "{}").await.unwrap();
    })
    .await;
    assert_eq!(kept.spans()[0].parent_span_id.to_string(), "b7ad6b7169203331");
}

#[test]
fn malformed_parent_is_ignored() {
    for text in ["", "00-1", "x"] {
        assert!(Config::new().parent(text, None).parent.is_none(), "{text}");
    }
    assert!(Config::new().parent(&format!(" {PARENT}\n"), Some("?")).parent.is_some());
}

#[tokio::test(start_paused = true)]
async fn server_continues_the_trace_in_meta_and_links_to_the_current_span() {
    let kept = kept(Config::new());
    let server: Arc<dyn Observer> = Arc::new(kept.telemetry.mcp_server());
    let refuse = Answers(async |request, _| method_not_found(&request));
    let tracer = kept.tracers.tracer("test");
    // The connection's future runs within this span, as that of a modern request does within the span of its HTTP request.
    let http = no_context().with_span(tracer.start("http"));
    let params = format!(r#"{{"_meta":{{"traceparent":"{PARENT}"}}}}"#);
    let connection = connected_by(Dialect::MCP, None, Some(server), refuse, meta(), async |peer| {
        call(&peer, "ping", &params).await.unwrap();
        call(&peer, "tools/list", "{}").await.unwrap();
    });
    opentelemetry::context::FutureExt::with_context(connection, http.clone()).await;
    let spans = kept.spans();
    let [ping, list] = &*spans else { panic!("{spans:?}") };
    assert_eq!(ping.parent_span_id.to_string(), "b7ad6b7169203331");
    assert_eq!(ping.links.len(), 1);
    assert_eq!(&ping.links[0].span_context, http.span().span_context());
    assert_eq!(list.parent_span_id, http.span().span_context().span_id());
    assert_eq!(list.links.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn marked_execute_tool_span_is_used_for_the_call() {
    let kept = kept(Config::new());
    let tracer = kept.tracers.tracer("test");
    let outer = ExecuteToolSpan::mark(&no_context().with_span(tracer.start("execute_tool a")));
    observed(&kept, meta(), async |peer| {
        let calls = async {
            call(&peer, "tools/call", r#"{"name":"a"}"#).await.unwrap();
            call(&peer, "tools/list", "{}").await.unwrap();
        };
        opentelemetry::context::FutureExt::with_context(calls, outer.clone()).await;
    })
    .await;
    outer.span().end();
    let spans = kept.spans();
    let names: Vec<_> = spans.iter().map(|span| format!("{} {:?}", span.name, span.span_kind)).collect();
    assert_eq!(
        names,
        ["tools/call a Server", "tools/list Server", "tools/list Client", "execute_tool a Internal"]
    );
    assert!(is_child(&spans[0], &spans[3]) && is_child(&spans[2], &spans[3]));
    assert!(
        shown(&spans[3].attributes)
            .contains("gen_ai.tool.name=a jsonrpc.request.id=1 mcp.method.name=tools/call")
    );
}

#[tokio::test(start_paused = true)]
async fn second_observer_does_not_change_the_spans() {
    struct Nothing;
    impl Observer for Nothing {}
    let kept = kept(Config::new());
    let nothing: Arc<dyn Observer> = Arc::new(Nothing);
    let both = |observer: Arc<dyn Observer>| {
        Some(Arc::new(Observers::new([nothing.clone(), observer])) as Arc<dyn Observer>)
    };
    let (client, server) =
        (both(Arc::new(kept.telemetry.mcp_client())), both(Arc::new(kept.telemetry.mcp_server())));
    let refuse = Answers(async |request, _| method_not_found(&request));
    connected_by(Dialect::MCP, client, server, refuse, meta(), async |peer| {
        call(&peer, "ping", "{}").await.unwrap()
    })
    .await;
    let spans = kept.spans();
    assert!(is_child(&spans[0], &spans[1]));
    assert_eq!(spans.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn call_that_is_not_sent_ends_its_span() {
    let kept = kept(Config::new());
    let config = agentwire_peer::Config::new(Dialect::MCP).observer(Arc::new(kept.telemetry.mcp_client()));
    let (peer, driver) = agentwire_peer::driver(config, agentwire_peer::TokioClock::default());
    let mut call = Box::pin(call(&peer, "ping", "{}"));
    assert!(futures::poll!(&mut call).is_pending());
    drop((call, driver));
    let spans = kept.spans();
    let [span] = &*spans else { panic!("{spans:?}") };
    assert_eq!(shown(&span.attributes), "error.type=not_sent mcp.method.name=ping");
    assert_eq!(kept.points("mcp.client.operation.duration"), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn request_that_a_relay_forwards_keeps_its_context() {
    let kept = kept(Config::new());
    let params = format!(r#"{{"_meta":{{"traceparent":"{PARENT}"}}}}"#);
    let answer = observed(&kept, meta(), async |peer| {
        let mut call = call_raw(&peer, "ping", Some(json(&params)));
        let (_, waker) = poll_fn(|cx| Poll::Ready(start_call(&mut call, cx))).await.unwrap();
        waker.into_iter().for_each(Waker::wake);
        call.await.unwrap()
    })
    .await;
    assert_eq!(answer.as_str(), format!(r#"{{"traceparent":"{PARENT}"}}"#));
    let spans = kept.spans();
    let shown: Vec<_> =
        spans.iter().map(|span| format!("{:?} {}", span.span_kind, span.parent_span_id)).collect();
    assert_eq!(shown, ["Server b7ad6b7169203331", "Client b7ad6b7169203331"]);
}

#[tokio::test(start_paused = true)]
async fn relay_links_to_the_spans_of_untrusted_callers() {
    let kept = kept(Config::new());
    let [client, server] = [kept.telemetry.mcp_client(), kept.telemetry.mcp_server()]
        .map(|observer| Some(Arc::new(observer.trust_callers(false)) as Arc<dyn Observer>));
    let refuse = Answers(async |request, _| method_not_found(&request));
    let params = format!(r#"{{"_meta":{{"traceparent":"{PARENT}"}}}}"#);
    connected_by(Dialect::MCP, client, server, refuse, meta(), async |peer| {
        let mut call = call_raw(&peer, "ping", Some(json(&params)));
        let (_, waker) = poll_fn(|cx| Poll::Ready(start_call(&mut call, cx))).await.unwrap();
        waker.into_iter().for_each(Waker::wake);
        call.await.unwrap()
    })
    .await;
    for span in kept.spans() {
        assert_eq!(span.parent_span_id, SpanId::INVALID);
        assert_eq!(span.links[0].span_context.span_id().to_string(), "b7ad6b7169203331");
    }
}
