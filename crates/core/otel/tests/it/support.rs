//! Telemetry with in-memory exporters, and a client and a server on one connection.

use std::future::Future;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};
use agentwire_otel::{Config, ProtocolObserver, Telemetry};
use agentwire_peer::observe::Observer;
use agentwire_peer::runtime::call_raw;
use agentwire_peer::{CallError, Dialect, Handler, Peer, RequestContext, TokioClock, driver};
use agentwire_transport::duplex;
use opentelemetry::{Array, Context, Value};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};

/// Telemetry whose spans and metrics the test reads.
pub(crate) struct Kept {
    pub(crate) telemetry: Telemetry,
    pub(crate) tracers: SdkTracerProvider,
    spans: InMemorySpanExporter,
    meters: SdkMeterProvider,
    metrics: InMemoryMetricExporter,
}

pub(crate) fn kept(config: Config) -> Kept {
    let spans = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
    let metrics = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(metrics.clone()).build();
    let meters = SdkMeterProvider::builder().with_reader(reader).build();
    let telemetry = Telemetry::new(&tracers, &meters, config);
    Kept { telemetry, tracers, spans, meters, metrics }
}

impl Kept {
    /// The spans in the order in which they ended.
    pub(crate) fn spans(&self) -> Vec<SpanData> {
        self.spans.get_finished_spans().unwrap()
    }

    /// The current data points of a metric, sorted. Each is a line of its attributes and its value.
    pub(crate) fn points(&self, name: &str) -> Vec<String> {
        self.metrics.reset();
        self.meters.force_flush().unwrap();
        let all = self.metrics.get_finished_metrics().unwrap();
        let mut lines: Vec<String> = all.iter().flat_map(|metrics| points(metrics, name)).collect();
        lines.sort();
        lines
    }

    /// The result of `read` for the data of a metric.
    pub(crate) fn metric<R>(&self, name: &str, read: impl Fn(&str, &AggregatedMetrics) -> R) -> R {
        self.metrics.reset();
        self.meters.force_flush().unwrap();
        let all = self.metrics.get_finished_metrics().unwrap();
        let scopes = all.iter().flat_map(ResourceMetrics::scope_metrics);
        let mut metrics = scopes.flat_map(|scope| scope.metrics()).filter(|metric| metric.name() == name);
        let metric = metrics.next().unwrap();
        read(metric.unit(), metric.data())
    }
}

fn points(metrics: &ResourceMetrics, name: &str) -> Vec<String> {
    let found =
        metrics.scope_metrics().flat_map(|scope| scope.metrics()).filter(|metric| metric.name() == name);
    found
        .flat_map(|metric| match metric.data() {
            AggregatedMetrics::F64(MetricData::Histogram(data)) => {
                data.data_points().map(|point| line(point.attributes(), point.count())).collect::<Vec<_>>()
            }
            AggregatedMetrics::I64(MetricData::Sum(data)) => {
                data.data_points().map(|point| line(point.attributes(), point.value())).collect()
            }
            AggregatedMetrics::U64(MetricData::Sum(data)) => {
                data.data_points().map(|point| line(point.attributes(), point.value())).collect()
            }
            AggregatedMetrics::U64(MetricData::Gauge(data)) => {
                data.data_points().map(|point| line(point.attributes(), point.value())).collect()
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

fn line<'a>(
    attributes: impl Iterator<Item = &'a opentelemetry::KeyValue>,
    value: impl std::fmt::Display,
) -> String {
    format!("{} = {value}", shown(attributes))
}

/// The attributes, sorted, as one line.
pub(crate) fn shown<'a>(attributes: impl IntoIterator<Item = &'a opentelemetry::KeyValue>) -> String {
    let mut shown: Vec<_> = attributes
        .into_iter()
        .map(|attribute| format!("{}={}", attribute.key, text(&attribute.value)))
        .collect();
    shown.sort();
    shown.join(" ")
}

fn text(value: &Value) -> String {
    match value {
        Value::Array(Array::String(strings)) => format!("{strings:?}"),
        value => value.as_str().into_owned(),
    }
}

pub(crate) type Answer = Result<RawJson, ErrorObject>;

/// A handler made of a closure.
pub(crate) struct Answers<F>(pub(crate) F);

impl<F, A> Handler for Answers<F>
where
    F: Fn(Request, RequestContext) -> A,
    A: Future<Output = Answer>,
{
    fn request(&self, request: Request, context: RequestContext) -> impl Future<Output = Answer> {
        (self.0)(request, context)
    }

    fn notification(&self, _: Notification, _: &Peer) {}
}

pub(crate) fn json(text: &str) -> RawJson {
    RawJson::parse(text.to_owned().into()).unwrap()
}

pub(crate) fn method_not_found(request: &Request) -> Answer {
    Err(ErrorObject::method_not_found(&request.method))
}

/// Runs `main` on an MCP connection whose two ends have these observers.
pub(crate) async fn connected<R>(
    client: ProtocolObserver,
    server: ProtocolObserver,
    client_handler: impl Handler,
    server_handler: impl Handler,
    main: impl AsyncFnOnce(Peer) -> R,
) -> R {
    connected_by(
        Dialect::MCP,
        Some(Arc::new(client)),
        Some(Arc::new(server)),
        client_handler,
        server_handler,
        main,
    )
    .await
}

pub(crate) async fn connected_by<R>(
    dialect: Dialect,
    client: Option<Arc<dyn Observer>>,
    server: Option<Arc<dyn Observer>>,
    client_handler: impl Handler,
    server_handler: impl Handler,
    main: impl AsyncFnOnce(Peer) -> R,
) -> R {
    let config = |observer| {
        let mut config = agentwire_peer::Config::new(dialect.clone());
        config.observer = observer;
        config
    };
    let (near, far) = duplex(8);
    let (peer, client) = driver(config(client), TokioClock::default());
    let (_, server) = driver(config(server), TokioClock::default());
    let served = server.serve(server_handler, far);
    let ((result, _), _) = futures::join!(client.run(client_handler, near, main(peer)), served);
    result
}

/// Runs `main` on an MCP connection whose two ends are observed by one telemetry.
pub(crate) async fn observed<R>(kept: &Kept, server: impl Handler, main: impl AsyncFnOnce(Peer) -> R) -> R {
    let (client, observer) = (kept.telemetry.mcp_client(), kept.telemetry.mcp_server());
    connected(client, observer, Answers(async |request, _| method_not_found(&request)), server, main).await
}

/// Makes a call with params as text.
pub(crate) async fn call(peer: &Peer, method: &str, params: &str) -> Result<RawJson, CallError> {
    call_raw(peer, method.to_owned(), Some(json(params))).await
}

/// Returns whether two spans are child and parent.
pub(crate) fn is_child(child: &SpanData, parent: &SpanData) -> bool {
    child.parent_span_id == parent.span_context.span_id()
        && child.span_context.trace_id() == parent.span_context.trace_id()
}

/// A context without a span.
pub(crate) fn no_context() -> Context {
    Context::new()
}
