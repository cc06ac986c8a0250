//! A client in ten lines. `host COMMAND PROMPT` runs an agent for one turn in the current directory:
//!
//! ```text
//! cargo run -p agentwire-acp-toolkit --example host -- target/debug/examples/echo_agent "Hello! Anybody there?"
//! ```
#![allow(clippy::print_stdout, reason = "a program that prints")]

use agentwire_acp_client::BoxError;
use agentwire_acp_schema::v1::StopReason;
use agentwire_acp_toolkit::{Host, PermissionPolicy, Permissions};
use agentwire_transport::Transport;
use agentwire_transport_stdio::{Child, Command};

/// Runs one turn, and prints the text of the answer.
pub async fn run(agent: impl Transport, prompt: &str) -> Result<Option<StopReason>, BoxError> {
    let host = Host::new().without_terminals().permissions(Permissions::new(PermissionPolicy::AllowAll));
    Ok(host
        .run(agent, async |agent| {
            let session = agent.session(".").await?;
            let mut turn = session.prompt(prompt);
            while let Some(text) = turn.next_text().await? {
                print!("{}", text.replace(|c: char| c.is_control() && c != '\n', ""));
            }
            Ok(turn.stop_reason())
        })
        .await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, prompt] = &*arguments else { return Err("usage: host COMMAND PROMPT".into()) };
    run(Child::spawn(Command::parse(command)?)?, prompt).await.map(drop)
}
