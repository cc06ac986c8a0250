//! An MCP server with one tool, over HTTP. It prints its address and exits when its standard input ends.

use std::io::{self, Read, Write};

use agentwire_mcp_server::{Context, Server};
use agentwire_transport_http::server::{EndpointConfig, Endpoint, serve};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add, _cx: Context) -> String {
    (a + b).to_string()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let server = Server::new("adder", "0.1.0").tool("add", "Add two numbers", add);
    let endpoint = Endpoint::serving(EndpointConfig::new(), server);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    serve(listener, endpoint).await;
    Ok(())
}
