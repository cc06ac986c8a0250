//! An MCP client over HTTP: it calls the tool of the server at the URL to add 40 and 2, and prints the sum. TLS is by
//! rustls on ring.

use std::io::{self, Write};

use agentwire_mcp_client::{BoxError, connect};
use agentwire_transport_http::client::Http;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    connect(Http::new(&url)?, async |server| {
        let result = server.call_tool("add", json!({ "a": 40, "b": 2 })).await?;
        Ok(writeln!(io::stdout(), "{}", result.text())?)
    })
    .await?;
    Ok(())
}
