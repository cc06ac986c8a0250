//! A tool returns a type that is not a result of a tool.
//~ a tool cannot give `u64`
//~ Structured<T>

use agentwire::mcp::server::Server;

async fn count() -> u64 {
    3
}

fn main() {
    let _ = Server::new("counter", "1.0.0").tool("count", "Count", count);
}
