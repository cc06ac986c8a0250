//! A resource returns a type that is not content.
//~ a resource cannot be read as `u64`
//~ give a `String`
//~ lines: 16, as the signature takes two

use agentwire::mcp::server::Server;

async fn count() -> u64 {
    3
}

fn main() {
    let _ = Server::new("counter", "1.0.0").resource("count:///now", "count", count);
}
