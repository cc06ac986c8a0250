//! A client with every feature of ACP, which takes steps as JSON lines on standard input.
//!
//! ```text
//! everything-acp-client --driver TARGET [--revision 1|2]
//! ```
//!
//! `TARGET` is the agent's command line, or its URL over HTTP or WebSocket. A step is `{"id":N,"step":NAME,…}`, and its outcome `{"id":N,"result":…}` or
//! `{"id":N,"error":{"message":…,"code":…}}`. Steps run at the same time.

mod failure;
mod login;
mod mcp_server;
mod remote;
mod state;
mod user;
mod v1;
mod v2;

use std::future::Future;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

use self::failure::Failure;

/// A connection to an agent, which carries out steps.
trait Connection: Send + Sync + 'static {
    fn run(&self, step: &str, params: Value) -> impl Future<Output = Result<Value, Failure>> + Send;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut target, mut revision) = (None, "1".to_owned());
    while let Some(argument) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--driver" => target = Some(value),
            "--revision" => revision = value,
            _ => bail!("unknown argument {argument}"),
        }
    }
    let target = target.context("--driver TARGET")?;
    match revision.as_str() {
        "1" => serve(v1::Agent::start(&target)?).await,
        "2" => serve(v2::Agent::start(&target)?).await,
        other => bail!("there are versions 1 and 2 of the protocol, and not {other}"),
    }
}

/// Carries out steps until standard input ends.
async fn serve(connection: impl Connection) -> anyhow::Result<()> {
    let connection = Arc::new(connection);
    let (outcomes, mut finished) = mpsc::unbounded_channel::<Value>();
    let written = tokio::spawn(async move {
        let mut stdout = tokio::io::stdout();
        while let Some(outcome) = finished.recv().await {
            stdout.write_all(format!("{outcome}\n").as_bytes()).await?;
            stdout.flush().await?;
        }
        std::io::Result::Ok(())
    });
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let params: Value = serde_json::from_str(&line)?;
        let (connection, outcomes) = (connection.clone(), outcomes.clone());
        tokio::spawn(async move {
            let (id, step) = (params["id"].clone(), params["step"].as_str().unwrap_or_default().to_owned());
            let outcome = match connection.run(&step, params).await {
                Ok(result) => json!({"id": id, "result": result}),
                Err(failure) => json!({"id": id, "error": failure.to_json()}),
            };
            // Standard output may be closed.
            let _written = outcomes.send(outcome);
        });
    }
    drop(outcomes);
    written.abort();
    Ok(())
}
