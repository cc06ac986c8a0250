//! Without the feature `telemetry`: no spans and no metrics.

use std::env;
use std::sync::Arc;

use agentwire_mcp_hub::{HubConfig, Target};
use agentwire_peer::observe::Observer;
use agentwire_transport_http::server::EndpointCounts;
use agentwire_transport_stdio::Command;
use anyhow::Result;
use clap::Args;

pub(crate) use crate::absent::Absent as Registry;
use crate::arguments::{Arguments, Command as OurCommand};
use crate::features::missing;
use crate::output::text::Notes;

/// The variables that name a collector.
const ENDPOINTS: [&str; 3] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
];

/// The options of every command about telemetry: none in this build.
#[derive(Debug, Args)]
pub(crate) struct TelemetryOptions {}

/// Observes nothing.
#[derive(Clone)]
pub(crate) struct Telemetry;

impl Telemetry {
    /// Warns where the environment names a collector.
    pub(crate) fn start(arguments: &Arguments, notes: &Notes) -> Result<Self> {
        let set = |name: &&&str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_off = env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
        if let Some(name) = ENDPOINTS.iter().find(set)
            && !is_off
            && is_started_by_a_person(&arguments.command)
        {
            notes.add(&format!("warning: {}", missing(&format!("support for ${name}"), "telemetry")));
        }
        Ok(Self)
    }

    pub(crate) fn of_target(&self, _: &Target) -> Option<Arc<dyn Observer>> {
        None
    }

    pub(crate) fn of_mcp_server(&self, _is_http: bool) -> Option<Arc<dyn Observer>> {
        None
    }

    pub(crate) fn of_acp_client(&self) -> Option<Arc<dyn Observer>> {
        None
    }

    pub(crate) fn of_acp_agent(&self) -> Option<Arc<dyn Observer>> {
        None
    }

    pub(crate) fn watch_endpoint(&self, _: impl Fn() -> (EndpointCounts, bool) + Send + Sync + 'static) {}

    pub(crate) fn watch_hub(&self, _: HubConfig) {}

    pub(crate) fn is_reporting(&self) -> bool {
        false
    }

    pub(crate) fn registry(&self) -> Option<&Registry> {
        None
    }

    pub(crate) fn pass_on(&self, command: Command) -> Command {
        command
    }

    pub(crate) async fn finish(self) {}
}

/// Whether a person reads the command's stderr directly. An agent or a server on stdio gets the variables from the program that
/// starts it: `chat` and `call` would show a second warning.
fn is_started_by_a_person(command: &OurCommand) -> bool {
    match command {
        OurCommand::Agent(_) => false,
        OurCommand::Server(server) => server.listen.http.is_some() || server.listen.sse.is_some(),
        command => command.connecting().is_some(),
    }
}
