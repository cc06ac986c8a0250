//! Without the feature `record`: nothing is recorded.

use std::io;

use agentwire_mcp_hub::Target;
use agentwire_mcp_server::Server;
use agentwire_transport::{Lines, Transport, lines};
use agentwire_transport_http::client::HttpClient;
use agentwire_transport_stdio::{Input, Output};
use anyhow::Result;
use clap::Args;

pub(crate) use crate::absent::Absent as Commands;
pub(crate) use crate::absent::Absent as Recorder;
use crate::arguments::Arguments;
use crate::output::text::Notes;

/// The options of every command about recordings: none in this build.
#[derive(Debug, Args)]
pub(crate) struct RecordingOptions {}

pub(crate) fn start(_: &Arguments, _: &Notes) -> Result<Option<Recorder>> {
    Ok(None)
}

pub(crate) async fn run(command: Commands, _json: bool, _: &Notes, _: Option<Recorder>) -> Result<()> {
    match command {}
}

pub(crate) fn recorded_transport(transport: impl Transport, _: Option<Recorder>) -> impl Transport {
    transport
}

pub(crate) fn recorded_client(client: impl HttpClient, _: Option<Recorder>) -> impl HttpClient {
    client
}

pub(crate) fn recorded_server(_: Server, recorder: Recorder) -> Server {
    match recorder {}
}

pub(crate) fn recorded_stdio(_: Option<Recorder>) -> io::Result<Lines<Input, Output>> {
    Ok(lines(Input::stdin()?, Output::stdout()?))
}

pub(crate) fn record_kind(_: &Target, _: Option<&Recorder>) {}

pub(crate) fn record_stderr(_: Option<&Recorder>, _line: &str) {}

pub(crate) fn finish(recorder: &Recorder, _: &Notes) {
    match *recorder {}
}
