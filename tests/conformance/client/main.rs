//! A client for the official conformance suite: it does what each of the suite's scenarios waits for.
//!
//! ```text
//! everything-client URL
//! everything-client --driver TARGET [--revision R]
//! ```
//!
//! `MCP_CONFORMANCE_SCENARIO` names the scenario, `MCP_CONFORMANCE_PROTOCOL_VERSION` the revision to speak (without it,
//! one with sessions), and `MCP_CONFORMANCE_CONTEXT` has the scenario's further data for its client, as JSON.
//!
//! With `--driver` it takes steps from this project's own suite instead, and `TARGET` is the server's command line or URL.

mod authorization;
mod capabilities;
mod driver;
mod elicitation;
mod headers;
mod input_required;
mod resumption;
mod schema;
mod steps;
mod tools;

use std::env;

use agentwire_mcp_client::{BoxError, Client, Era, RemoteServer};
use agentwire_transport_http::client::{Config, Http};
use anyhow::{Context as _, Result, anyhow};
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    if let Some(options) = driver::Options::read(env::args().skip(1))? {
        return driver::run(options).await;
    }
    let url = env::args().nth(1).context("everything-client URL")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let case = Case { url };
    let outcome = match scenario.as_str() {
        name if name.starts_with("auth/") => authorization::run(case, name).await,
        "request-metadata" => capabilities::declare(case).await,
        "elicitation-sep1034-client-defaults" => elicitation::defaults(case).await,
        "sse-retry" => resumption::retry(case).await,
        "sep-2322-client-request-state" => input_required::request_state(case).await,
        "http-standard-headers" => headers::standard(case).await,
        "http-custom-headers" => headers::custom(case).await,
        "http-invalid-tool-headers" => headers::invalid(case).await,
        "json-schema-2020-12-preservation" => schema::preservation(case).await,
        "tools_call" => tools::add(case).await,
        _ => tools::list(case).await,
    };
    outcome.map_err(|error| anyhow!(error))
}

/// The wanted scenario.
struct Case {
    url: String,
}

impl Case {
    /// A client in the revision that the scenario is about.
    fn client(&self) -> Client {
        let modern = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")
            .is_ok_and(|version| version.as_str() >= "2026-07-28");
        let era = if modern { Era::Modern } else { Era::Legacy };
        Client::new("agentwire-everything-client", env!("CARGO_PKG_VERSION"))
            .era(era)
            .validate_output(true)
            .on_warning(|warning| eprintln!("{warning}"))
    }

    /// Runs `main` against the suite's server.
    async fn run(
        self,
        client: Client,
        main: impl AsyncFnOnce(RemoteServer) -> Result<(), BoxError>,
    ) -> Result<(), BoxError> {
        Ok(client.connect(self.transport()?, async |server| main(server).await).await?)
    }

    /// The same over a transport of its own.
    async fn run_over(
        self,
        client: Client,
        transport: Http,
        main: impl AsyncFnOnce(RemoteServer) -> Result<(), BoxError>,
    ) -> Result<(), BoxError> {
        Ok(client.connect(transport, async |server| main(server).await).await?)
    }

    fn transport(&self) -> Result<Http, BoxError> {
        Ok(Config::new(&self.url)?.open()?)
    }

    /// The further data of the scenario.
    fn context(&self) -> Result<Value, BoxError> {
        Ok(serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?)
    }
}
