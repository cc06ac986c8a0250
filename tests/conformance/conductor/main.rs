//! A conductor of ACP on stdin and stdout, which puts proxies in front of an agent.
//!
//! ```text
//! everything-conductor [--proxy COMMAND]... --agent COMMAND
//! ```
//!
//! Each `COMMAND` is a command line in one argument.

use agentwire_acp_proxy::Conductor;
use agentwire_transport_stdio::{Child, Command, stdio};
use anyhow::{Context as _, bail};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut conductor, mut agent) = (Conductor::new(), None);
    while let Some(argument) = arguments.next() {
        let command = arguments.next().with_context(|| format!("{argument} needs a command"))?;
        let program = Child::spawn(Command::parse(&command)?)?;
        match argument.as_str() {
            "--proxy" => conductor = conductor.component(program),
            "--agent" => agent = Some(program),
            _ => bail!("unknown argument {argument}"),
        }
    }
    conductor.serve(stdio()?, agent.context("--agent COMMAND")?).await?;
    Ok(())
}
