//! `--otlp`, `--metrics` and the variables of OpenTelemetry: observes the command's connections, and exports spans and metrics.

mod arguments;
mod collector;
mod collector_url;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_hub::{HttpTarget, HubConfig, Target};
use agentwire_otel::{Config, Counts, Network, ProtocolObserver, Stats};
use agentwire_peer::observe::Observer;
use agentwire_sync::Mutex;
use agentwire_transport_http::server::EndpointCounts;
use agentwire_transport_stdio::Command;
use anyhow::Result;
use opentelemetry::trace::noop::NoopTracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
pub(crate) use prometheus::Registry;
use tokio::time::timeout;

pub(crate) use self::arguments::TelemetryOptions;
use self::collector::Collector;
use self::collector_url::CollectorUrl;
use self::settings::Settings;
use crate::arguments::Arguments;
use crate::output::text::Notes;

/// The timeout of sending the last spans and metrics: 2 s.
const FINISH_LIMIT: Duration = Duration::from_secs(2);

/// The telemetry of the command's connections. Does nothing unless the command line or the environment enables it. Clones share
/// everything.
#[derive(Clone, Default)]
pub(crate) struct Telemetry(Option<Arc<Providers>>);

/// The OpenTelemetry providers and their exporters.
struct Providers {
    instruments: agentwire_otel::Telemetry,
    tracers: Option<SdkTracerProvider>,
    meters: SdkMeterProvider,
    /// The metrics for `--metrics`.
    registry: Option<Registry>,
    /// The collector that spans and metrics are sent to.
    collector: Option<Collector>,
    /// The URL of `--otlp`, for the programs that this one starts.
    passed_on: Option<CollectorUrl>,
    /// The parts whose counts are reported.
    watched: Mutex<Vec<Arc<dyn Stats>>>,
}

impl Telemetry {
    /// Starts the telemetry that the command line and the environment enable.
    pub(crate) fn start(arguments: &Arguments, notes: &Notes) -> Result<Self> {
        let Some(settings) = Settings::of(arguments, notes)? else { return Ok(Self::default()) };
        let Settings { service, traces, metrics, has_registry } = settings;
        let resource = resource(service);
        let collector = match traces.as_ref().or(metrics.as_ref()) {
            Some(url) => Some(Collector::new(url, notes)?),
            None => None,
        };
        let mut meters = SdkMeterProvider::builder().with_resource(resource.clone());
        let mut tracers = None;
        if let Some(collector) = &collector {
            if let Some(url) = &traces {
                let exporter = collector.span_exporter(url)?;
                let builder = SdkTracerProvider::builder().with_resource(resource);
                tracers = Some(builder.with_batch_exporter(exporter).build());
            }
            if let Some(url) = &metrics {
                meters = meters.with_periodic_exporter(collector.metric_exporter(url)?);
            }
        }
        let registry = has_registry.then(Registry::new);
        if let Some(registry) = &registry {
            // There is only one scope. Its name and version would be repeated at every number.
            let exporter = opentelemetry_prometheus::exporter().scope_info_enabled(false);
            meters = meters.with_reader(exporter.with_registry(registry.clone()).build()?);
        }
        let meters = meters.build();
        let config = in_trace(|name| std::env::var(name).ok());
        let instruments = match &tracers {
            Some(tracers) => agentwire_otel::Telemetry::new(tracers, &meters, config),
            None => agentwire_otel::Telemetry::new(&NoopTracerProvider::new(), &meters, config),
        };
        let passed_on = arguments.telemetry.otlp.clone().filter(|_| collector.is_some());
        let watched = Mutex::default();
        let providers = Providers { instruments, tracers, meters, registry, collector, passed_on, watched };
        Ok(Self(Some(Arc::new(providers))))
    }

    /// An observer of the connection to an MCP server.
    pub(crate) fn of_target(&self, target: &Target) -> Option<Arc<dyn Observer>> {
        let network = match target {
            Target::Http(target) => http_network(target),
            _ => Network::pipe(),
        };
        self.observer(network, agentwire_otel::Telemetry::mcp_client)
    }

    /// An observer of an MCP server, which is on stdio or behind HTTP.
    pub(crate) fn of_mcp_server(&self, is_http: bool) -> Option<Arc<dyn Observer>> {
        let network = if is_http { Network::http(None) } else { Network::pipe() };
        self.observer(network, agentwire_otel::Telemetry::mcp_server)
    }

    /// An observer of the connection to an agent.
    pub(crate) fn of_acp_client(&self) -> Option<Arc<dyn Observer>> {
        self.observer(Network::pipe(), agentwire_otel::Telemetry::acp_client)
    }

    /// An observer of an agent.
    pub(crate) fn of_acp_agent(&self) -> Option<Arc<dyn Observer>> {
        self.observer(Network::pipe(), agentwire_otel::Telemetry::acp_agent)
    }

    fn observer(
        &self,
        network: Network,
        of: impl FnOnce(&agentwire_otel::Telemetry) -> ProtocolObserver,
    ) -> Option<Arc<dyn Observer>> {
        let providers = self.0.as_ref()?;
        Some(Arc::new(of(&providers.instruments).network(network)))
    }

    /// Reports the counts of an endpoint's open parts, and its readiness.
    pub(crate) fn watch_endpoint(&self, counts: impl Fn() -> (EndpointCounts, bool) + Send + Sync + 'static) {
        self.watch("http", move || {
            let (counts, is_ready) = counts();
            Counts::new()
                .sessions(counts.sessions as u64)
                .streams(counts.streams as u64)
                .exchanges(counts.exchanges as u64)
                .ready(is_ready)
        });
    }

    /// Reports how often the servers of a hub were restarted.
    pub(crate) fn watch_hub(&self, hub: HubConfig) {
        self.watch("mcp_hub", move || Counts::new().child_restarts(hub.restart_count()));
    }

    /// Reports the counts of a part of the program, up to the last metrics.
    fn watch(&self, component: &'static str, counts: impl Fn() -> Counts + Send + Sync + 'static) {
        if let Some(providers) = &self.0 {
            let part = Arc::new(counts);
            providers.instruments.watch(component, &part);
            providers.watched.lock().push(part);
        }
    }

    /// Whether the command line or the environment enables telemetry.
    pub(crate) fn is_reporting(&self) -> bool {
        self.0.is_some()
    }

    /// The metrics for `--metrics`.
    pub(crate) fn registry(&self) -> Option<&Registry> {
        self.0.as_ref()?.registry.as_ref()
    }

    /// Passes the collector of `--otlp` to a program that this one starts. The program inherits a collector of the environment.
    pub(crate) fn pass_on(&self, command: Command) -> Command {
        match self.0.as_ref().and_then(|providers| providers.passed_on.as_ref()) {
            Some(url) => command.env(settings::ENDPOINT, url.as_str()),
            None => command,
        }
    }

    /// Sends the remaining spans and metrics, for up to [`FINISH_LIMIT`].
    pub(crate) async fn finish(self) {
        let Some(providers) = self.0 else { return };
        let Some(collector) = &providers.collector else { return };
        // Both wait for their own threads. One after the other, an unreachable collector would cost the time twice.
        let tracers = providers.tracers.clone();
        let spans = tokio::task::spawn_blocking(move || {
            tracers.map(|tracers| tracers.shutdown_with_timeout(FINISH_LIMIT))
        });
        let meters = providers.meters.clone();
        let metrics = tokio::task::spawn_blocking(move || meters.shutdown_with_timeout(FINISH_LIMIT));
        // The collector's client reports failures.
        if timeout(FINISH_LIMIT, async { tokio::join!(spans, metrics) }).await.is_err() {
            collector.note_failure("it has not answered in 2 s");
        }
    }
}

/// The settings of spans. Their parent is the W3C trace context of the environment, if it has one.
fn in_trace(variable: impl Fn(&str) -> Option<String>) -> Config {
    match variable("TRACEPARENT") {
        Some(parent) => Config::new().parent(&parent, variable("TRACESTATE").as_deref()),
        None => Config::new(),
    }
}

/// The description of this program. The variables `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` come first.
fn resource(service: &'static str) -> Resource {
    use opentelemetry::{Key, KeyValue};
    let from_environment = Resource::builder().build();
    let name = from_environment.get(&Key::new("service.name")).map(|name| name.to_string());
    let mut resource = Resource::builder();
    if name.is_none_or(|name| name.starts_with("unknown_service")) {
        resource = resource.with_service_name(format!("agentwire-{service}"));
    }
    let version = ("service.version", Some(env!("CARGO_PKG_VERSION").to_owned()));
    // Without it, a collector would merge several processes of one service, whose counters would then appear to fall.
    let instance = ("service.instance.id", agentwire_store::NodeId::random().map(|id| id.to_string()));
    for (key, value) in [version, instance] {
        if let Some(value) = value.filter(|_| from_environment.get(&Key::new(key)).is_none()) {
            resource = resource.with_attribute(KeyValue::new(key, value));
        }
    }
    resource.build()
}

/// The host and port of the server, which are known because the person or the client has named them.
fn http_network(target: &HttpTarget) -> Network {
    let network = Network::http(None);
    let Ok(url) = target.url().parse::<http::Uri>() else { return network };
    let Some(host) = url.host() else { return network };
    let default = if url.scheme_str() == Some("https") { 443 } else { 80 };
    network.server(host, url.port_u16().unwrap_or(default))
}
