//! The options of every command about telemetry.

use clap::Args;

use super::collector_url::CollectorUrl;

#[derive(Debug, Args)]
pub(crate) struct TelemetryOptions {
    /// Send spans and metrics of the connections to an OpenTelemetry collector, by OTLP over HTTP, and name it to the agent or
    /// server that is started [default: $OTEL_EXPORTER_OTLP_ENDPOINT, else none is sent]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) otlp: Option<CollectorUrl>,
}
