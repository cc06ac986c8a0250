//! A tool with an argument that clients repeat in an HTTP header.

use agentwire_mcp_server::{Context, Server};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) fn offer(server: Server) -> Server {
    server.tool("test_x_mcp_header", "Works in a region, which a proxy can read in a header", run)
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// Where to work.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

async fn run(Place { region }: Place, _: Context) -> String {
    format!("Worked in {region}")
}
