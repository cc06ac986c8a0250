//! A collector: it takes spans and metrics by OTLP over HTTP, and reads them with OpenTelemetry's own protobuf types.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentwire_test_support::http::{self, Message};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Metric as SentMetric, number_data_point};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span as SentSpan;
use prost::Message as _;

/// The attributes of a resource, span or measurement, as text.
pub(crate) type Attributes = BTreeMap<String, String>;

/// A collector that runs until the test ends.
pub(crate) struct Collector {
    pub(crate) url: String,
    received: Arc<Mutex<Received>>,
}

/// The received telemetry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) spans: Vec<Span>,
    pub(crate) metrics: Vec<Metric>,
    /// The `Content-Type` of each request.
    pub(crate) types: BTreeSet<String>,
    /// The attributes of each service, by its name.
    pub(crate) services: BTreeMap<String, Attributes>,
}

#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) service: String,
    pub(crate) name: String,
    /// As OTLP numbers it: 2 for a server's, 3 for a client's.
    pub(crate) kind: i32,
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty at the root.
    pub(crate) parent: String,
    pub(crate) attributes: Attributes,
}

#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) unit: String,
    /// Of each point: its attributes, how often it was measured or how much it counts, and its bounds.
    pub(crate) points: Vec<(Attributes, u64, Vec<f64>)>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let received = Arc::<Mutex<Received>>::default();
        let shared = received.clone();
        let url = http::serve(move |request| {
            let known = accept(&request, &mut lock(&shared));
            let status = if known { "200 OK" } else { "404 Not Found" };
            http::response(&format!("{status}\r\nContent-Type: application/x-protobuf"), "")
        });
        Self { url, received }
    }

    /// The telemetry that was received so far.
    pub(crate) fn received(&self) -> Received {
        lock(&self.received).clone()
    }
}

impl Received {
    /// The span of that service with that name and kind.
    #[track_caller]
    pub(crate) fn span(&self, service: &str, name: &str, kind: i32) -> &Span {
        let mut fitting = self
            .spans
            .iter()
            .filter(|span| span.service == service && span.name == name && span.kind == kind);
        match (fitting.next(), fitting.next()) {
            (Some(span), None) => span,
            (first, _) => panic!("{service}: {name} {kind}: {first:#?} among {:#?}", self.spans),
        }
    }

    /// The last report of that metric of that service.
    #[track_caller]
    pub(crate) fn metric(&self, service: &str, name: &str) -> &Metric {
        let fits = |metric: &&Metric| metric.service == service && metric.name == name;
        let names = || self.metrics.iter().map(|metric| (&metric.service, &metric.name)).collect::<Vec<_>>();
        self.metrics
            .iter()
            .rev()
            .find(fits)
            .unwrap_or_else(|| panic!("{service}: {name} is not in {:?}", names()))
    }
}

/// Reads what a request carries. False where nothing is at its path.
fn accept(request: &Message, received: &mut Received) -> bool {
    received.types.insert(request.header("content-type").to_owned());
    let body = &*request.body;
    match &*request.first {
        "POST /v1/traces HTTP/1.1" => {
            let sent = ExportTraceServiceRequest::decode(body).expect("it is the protobuf of spans");
            for sent in sent.resource_spans {
                let service = service(sent.resource, received);
                let spans = sent.scope_spans.into_iter().flat_map(|scope| scope.spans);
                received.spans.extend(spans.map(|span| Span::of(&service, span)));
            }
            true
        }
        "POST /v1/metrics HTTP/1.1" => {
            let sent = ExportMetricsServiceRequest::decode(body).expect("it is the protobuf of metrics");
            for sent in sent.resource_metrics {
                let service = service(sent.resource, received);
                let metrics = sent.scope_metrics.into_iter().flat_map(|scope| scope.metrics);
                received.metrics.extend(metrics.map(|metric| Metric::of(&service, metric)));
            }
            true
        }
        _ => false,
    }
}

/// The name of a service, whose attributes are kept.
fn service(resource: Option<Resource>, received: &mut Received) -> String {
    let attributes = attributes(resource.expect("it has a resource").attributes);
    let name = attributes["service.name"].clone();
    received.services.insert(name.clone(), attributes);
    name
}

impl Span {
    fn of(service: &str, span: SentSpan) -> Self {
        Self {
            service: service.to_owned(),
            name: span.name,
            kind: span.kind,
            trace: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            attributes: attributes(span.attributes),
        }
    }
}

impl Metric {
    fn of(service: &str, metric: SentMetric) -> Self {
        let SentMetric { name, unit, data, .. } = metric;
        let amount = |value: Option<number_data_point::Value>| match value {
            Some(number_data_point::Value::AsInt(amount)) => {
                u64::try_from(amount).expect("it is not negative")
            }
            other => panic!("{name} is {other:?}"),
        };
        let numbers = |points: Vec<opentelemetry_proto::tonic::metrics::v1::NumberDataPoint>| {
            points
                .into_iter()
                .map(|point| (attributes(point.attributes), amount(point.value), Vec::new()))
                .collect()
        };
        let points = match data {
            Some(Data::Histogram(histogram)) => histogram
                .data_points
                .into_iter()
                .map(|point| (attributes(point.attributes), point.count, point.explicit_bounds))
                .collect(),
            Some(Data::Sum(sum)) => numbers(sum.data_points),
            Some(Data::Gauge(gauge)) => numbers(gauge.data_points),
            other => panic!("{name} is {other:?}"),
        };
        Self { service: service.to_owned(), name, unit, points }
    }
}

fn attributes(attributes: Vec<KeyValue>) -> Attributes {
    attributes.into_iter().map(|attribute| (attribute.key, text(attribute.value))).collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("an attribute is {other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
