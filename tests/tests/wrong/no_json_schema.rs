//! The type of a tool's arguments lacks `JsonSchema`.
//~ derive `serde::Deserialize` and `schemars::JsonSchema`

use agentwire::mcp::server::{Context, Server};

#[derive(serde::Deserialize)]
struct Add {
    a: i64,
}

async fn add(add: Add, _cx: Context) -> String {
    add.a.to_string()
}

fn main() {
    let _ = Server::new("calculator", "1.0.0").tool("add", "Add", add);
}
