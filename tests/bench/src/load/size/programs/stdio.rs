//! An MCP server with one tool, over stdin and stdout.

use agentwire_mcp_server::{Context, Server};
use agentwire_transport_stdio::stdio;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add, _cx: Context) -> String {
    (a + b).to_string()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(Server::new("adder", "0.1.0").tool("add", "Add two numbers", add).serve(stdio()?).await?)
}
