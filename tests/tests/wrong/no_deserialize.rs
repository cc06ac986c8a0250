//! The type of a tool's arguments lacks `Deserialize`.
//~ derive `serde::Deserialize` and `schemars::JsonSchema`

use agentwire::mcp::server::Server;
use agentwire::schemars;

#[derive(schemars::JsonSchema)]
struct Add {
    a: i64,
}

async fn add(add: Add) -> String {
    add.a.to_string()
}

fn main() {
    let _ = Server::new("calculator", "1.0.0").tool("add", "Add", add);
}
