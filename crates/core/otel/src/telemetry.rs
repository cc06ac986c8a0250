//! The instruments of a program, and the observers that use them.

use std::fmt;
use std::sync::Arc;

use opentelemetry::InstrumentationScope;
use opentelemetry::global::{self, BoxedTracer};
use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::{Tracer, TracerProvider};

use crate::attributes::names::NameSet;
use crate::attributes::network::Network;
use crate::config::Config;
use crate::connection::ConnectionKind;
use crate::inner::TelemetryInner;
use crate::instruments::Instruments;
use crate::observer::ProtocolObserver;
use crate::protocol::{Protocol, Role};
use crate::watch::{Stats, WatchedParts};

/// The version of OpenTelemetry's semantic conventions for generative AI, which include MCP. The names of this crate follow it. Its
/// status is *development*, so it will change.
///
/// See <https://github.com/open-telemetry/semantic-conventions-genai/blob/v0.1.0/docs/gen-ai/mcp.md>.
pub const SEMCONV_VERSION: &str = "0.1.0";

/// The instruments of a program. Cloning is cheap.
#[derive(Clone)]
pub struct Telemetry {
    inner: Arc<TelemetryInner>,
    watched: Arc<WatchedParts>,
}

impl Telemetry {
    /// Uses the current global providers. A program must set them before.
    pub fn global(config: Config) -> Self {
        Self::new(&global::tracer_provider(), &*global::meter_provider(), config)
    }

    /// Uses these providers.
    pub fn new<P>(tracers: &P, meters: &dyn MeterProvider, config: Config) -> Self
    where
        P: TracerProvider,
        P::Tracer: Send + Sync + 'static,
        <P::Tracer as Tracer>::Span: Send + Sync + 'static,
    {
        let tracer = BoxedTracer::new(Box::new(tracers.tracer_with_scope(scope())));
        let meter = meters.meter_with_scope(scope());
        let instruments = Instruments::new(&meter);
        let inner = TelemetryInner { config, tracer, instruments, names: NameSet::default() };
        Self { inner: Arc::new(inner), watched: WatchedParts::new(&meter) }
    }

    /// Returns an observer of the connections of an MCP client.
    pub fn mcp_client(&self) -> ProtocolObserver {
        self.observer(Protocol::Mcp, Role::Client)
    }

    /// Returns an observer of an MCP server.
    pub fn mcp_server(&self) -> ProtocolObserver {
        self.observer(Protocol::Mcp, Role::Server)
    }

    /// Returns an observer of the connections of an ACP client.
    pub fn acp_client(&self) -> ProtocolObserver {
        self.observer(Protocol::Acp, Role::Client)
    }

    /// Returns an observer of an ACP agent.
    pub fn acp_agent(&self) -> ProtocolObserver {
        self.observer(Protocol::Acp, Role::Server)
    }

    /// Reports the counts of a part of the program whenever metrics are collected, until the part is dropped. The counts of all parts
    /// of a component are added up.
    pub fn watch(&self, component: &'static str, part: &Arc<impl Stats + 'static>) {
        let part: Arc<dyn Stats> = part.clone();
        self.watched.add(component, Arc::downgrade(&part));
    }

    fn observer(&self, protocol: Protocol, role: Role) -> ProtocolObserver {
        let inner = self.inner.clone();
        let network = Network::default();
        ProtocolObserver::new(ConnectionKind { inner, protocol, role, network, trusts_callers: true })
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

fn scope() -> InstrumentationScope {
    // Without a schema URL, because OpenTelemetry's schemas no longer contain the names of MCP.
    InstrumentationScope::builder("agentwire").with_version(env!("CARGO_PKG_VERSION")).build()
}
