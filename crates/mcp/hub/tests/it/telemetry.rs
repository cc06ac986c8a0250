//! A trace that goes on from a hub over HTTP to a tool, and the counts of the endpoint in that time.

use std::sync::{Arc, Mutex};

use agentwire_mcp_client::Era;
use agentwire_mcp_hub::{HubConfig, ServerConfig, Target};
use agentwire_mcp_server::{Context, Server};
use agentwire_otel::{Config, Network, Telemetry};
use agentwire_transport_http::server::{Endpoint, EndpointConfig, EndpointCounts, Routes, serve};
use opentelemetry::metrics::noop::NoopMeterProvider;
use opentelemetry::trace::{Span, SpanKind, Tracer, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// The spans of a call over HTTP: those of the client, of the server, and of the tool's own work. With them what the endpoint
/// counted while the tool ran.
async fn spans_of_a_call(era: Era, config: Config) -> ([SpanData; 3], EndpointCounts) {
    let exporter = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let telemetry = Telemetry::new(&tracers, &NoopMeterProvider::new(), config);
    let (endpoint, counts) =
        (Arc::new(Mutex::new(None::<Endpoint>)), Arc::new(Mutex::new(EndpointCounts::default())));
    let (tracer, own, counted) = (tracers.tracer("test"), endpoint.clone(), counts.clone());
    let observer = Arc::new(telemetry.mcp_server().network(Network::http(None)));
    let server = Server::new("server", "1.0.0")
        .tool("work", "Works.", move |_: Nothing, _: Context| {
            let (tracer, own, counted) = (tracer.clone(), own.clone(), counted.clone());
            async move {
                tokio::task::yield_now().await;
                *counted.lock().unwrap() = own.lock().unwrap().as_ref().unwrap().counts();
                tracer.start("work").end();
                "done".to_owned()
            }
        })
        .connection(|config| config.observer(observer));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = Endpoint::serving(EndpointConfig::new(), server);
    *endpoint.lock().unwrap() = Some(serving.clone());
    let serving = tokio::spawn(async move { serve(listener, Routes::new().at("/mcp", serving)).await });
    let config = HubConfig::new().era(era).observer(move |server| {
        assert_eq!(server.name, "web");
        Some(Arc::new(telemetry.mcp_client().network(Network::http(None))))
    });
    let servers = [ServerConfig::new("web", Target::parse(&url).unwrap())];
    config
        .connect(servers, async |hub| {
            hub.ready().await;
            assert_eq!(hub.call("work", ()).await.unwrap().text(), "done");
        })
        .await;
    serving.abort();
    let spans = exporter.get_finished_spans().unwrap();
    let find = |name: &str, kind: SpanKind| {
        let mut found = spans.iter().filter(|span| span.name == name && span.span_kind == kind);
        let (Some(span), None) = (found.next(), found.next()) else { panic!("{spans:?}") };
        span.clone()
    };
    let call = "tools/call work";
    let found =
        [find(call, SpanKind::Client), find(call, SpanKind::Server), find("work", SpanKind::Internal)];
    let counts = *counts.lock().unwrap();
    (found, counts)
}

fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == key)?;
    Some(found.value.as_str().into_owned())
}

fn assert_one_trace([client, server, work]: &[SpanData; 3]) {
    for (child, parent) in [(server, client), (work, server)] {
        assert_eq!(child.parent_span_id, parent.span_context.span_id());
        assert_eq!(child.span_context.trace_id(), parent.span_context.trace_id());
    }
}

#[tokio::test]
async fn a_trace_goes_on_without_a_session() {
    let (spans, counts) = spans_of_a_call(Era::Modern, Config::new().session_ids(true)).await;
    assert_one_trace(&spans);
    assert_eq!(counts.sessions, 0);
    // The call, and beside it the subscription, which may not have arrived.
    assert!((1..=2).contains(&counts.exchanges), "{counts:?}");
    for span in &spans[..2] {
        assert_eq!(attribute(span, "mcp.protocol.version").as_deref(), Some("2026-07-28"));
        assert_eq!(attribute(span, "mcp.session.id"), None);
    }
}

#[tokio::test]
async fn a_trace_goes_on_in_a_session() {
    for with_id in [false, true] {
        let config = Config::new().session_ids(with_id);
        let (spans, counts) = spans_of_a_call(Era::Legacy, config).await;
        assert_one_trace(&spans);
        assert_eq!((counts.sessions, counts.exchanges), (1, 0));
        for span in &spans[..2] {
            assert_eq!(attribute(span, "mcp.protocol.version").as_deref(), Some("2025-11-25"));
        }
        assert_eq!(attribute(&spans[1], "mcp.session.id").is_some(), with_id);
    }
}
