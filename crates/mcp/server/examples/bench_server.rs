//! The server that the benchmarks talk to, over stdin and stdout. It is also a small example of one.
//!
//! `TOOLS=98 bench_server` offers 98 more tools, which do nothing.

use std::error::Error;

use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};
use agentwire_transport_stdio::stdio;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to send back.
    text: String,
}

async fn echo(Echo { text }: Echo, _cx: Context) -> String {
    text
}

#[derive(Deserialize, JsonSchema)]
struct Burst {
    /// How many times to report progress.
    n: u32,
}

async fn burst(Burst { n }: Burst, cx: Context) -> Result<String, ToolError> {
    for step in 1..=n {
        cx.progress(step.into(), Some(n.into()), None).await?;
    }
    Ok(format!("reported {n} times"))
}

async fn idle(_: NoArguments, _cx: Context) {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let more = std::env::var("TOOLS").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
    let mut server = Server::new("bench", env!("CARGO_PKG_VERSION"))
        .tool("echo", "Says back what it is told", echo)
        .tool("burst", "Reports progress many times", burst);
    for number in 0..more {
        server = server.tool(format!("idle-{number}"), "Does nothing", idle);
    }
    server.serve(stdio()?).await?;
    Ok(())
}
