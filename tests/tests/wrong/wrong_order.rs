//! The context comes before the arguments.
//~ `State<S>`, the arguments, `Context`, in this order

use agentwire::mcp::server::{Context, Server};
use agentwire::schemars;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
}

async fn add(_cx: Context, add: Add) -> String {
    add.a.to_string()
}

fn main() {
    let _ = Server::new("calculator", "1.0.0").tool("add", "Add", add);
}
