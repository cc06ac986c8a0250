//! The server that the benchmarks talk to, over HTTP. It is also a small example of one.
//!
//! `FORM` is the form of its answers: `session-json`, `session-events`, `stateless-json` or `stateless-events`. It prints its
//! address and leaves when its standard input ends.

use std::io::{self, Read, Write};

use agentwire_mcp_server::{Context, Server, ToolError};
use agentwire_transport_http::server::{AnswerForm, Endpoint, EndpointConfig, serve};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to send back.
    text: String,
}

async fn echo(Echo { text }: Echo, _cx: Context) -> String {
    text
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// How many.
    n: u32,
}

async fn burst(Count { n }: Count, cx: Context) -> Result<String, ToolError> {
    for step in 1..=n {
        cx.progress(step.into(), Some(n.into()), None).await?;
    }
    Ok(format!("reported {n} times"))
}

async fn big(Count { n }: Count, _cx: Context) -> String {
    "a".repeat(n as usize)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let form = std::env::var("FORM").unwrap_or_default();
    let form = if form.ends_with("json") { AnswerForm::Json } else { AnswerForm::Events };
    let server = Server::new("bench", env!("CARGO_PKG_VERSION"))
        .tool("echo", "Says back what it is told", echo)
        .tool("burst", "Reports progress many times", burst)
        .tool("big", "Says many letters", big);
    // All clients of a benchmark have one address.
    let config = EndpointConfig::new().legacy_answer(form).modern_answer(form).caller_session_limit(10_000);
    let endpoint = Endpoint::serving(config, server);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    let end_of_input = tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new()));
    serve(listener, endpoint)
        .shutdown(async {
            let _ = end_of_input.await;
        })
        .await;
    Ok(())
}
