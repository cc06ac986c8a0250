//! Layers of tower around a tool: an import that runs once at a time, and no longer than ten seconds.
//!
//! A call that waits for another to end counts as running, because the time-out is the outer layer. A server's own layer
//! is around everything; here it writes each call to stderr.

use std::time::Duration;

use agentwire_mcp_server::{Context, Next, RawCall, Server, ServerTool, ToolError, from_fn};
use agentwire_transport_stdio::stdio;
use schemars::JsonSchema;
use serde::Deserialize;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

#[derive(Deserialize, JsonSchema)]
struct Import {
    /// How many rows to import; each takes 100 milliseconds.
    rows: u32,
}

async fn import(Import { rows }: Import, cx: Context) -> Result<String, ToolError> {
    for row in 1..=rows {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cx.progress(row.into(), Some(rows.into()), None).await?;
    }
    Ok(format!("imported {rows} rows"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let import = ServerTool::new("import", "Import rows", import)
        .layer(TimeoutLayer::new(Duration::from_secs(10)))
        .layer(ConcurrencyLimitLayer::new(1));
    let server = Server::new("books", "1.0.0")
        .layer(from_fn(async |call: RawCall, next: Next| {
            eprintln!("{} {}", call.method(), call.name());
            next.call(call).await
        }))
        .with_tool(import);
    Ok(server.serve(stdio()?).await?)
}
