//! An MCP client on rmcp over HTTP: it calls the tool of the server at the URL to add 40 and 2, and prints the sum.

use std::error::Error;
use std::io::{self, Write};

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    let server = ().serve(StreamableHttpClientTransport::from_uri(url)).await?;
    let arguments = json!({ "a": 40, "b": 2 }).as_object().cloned().unwrap_or_default();
    let result = server.call_tool(CallToolRequestParams::new("add").with_arguments(arguments)).await?;
    let text = result.content.first().and_then(|block| block.as_text()).ok_or("no text")?;
    writeln!(io::stdout(), "{}", text.text)?;
    server.cancel().await?;
    Ok(())
}
