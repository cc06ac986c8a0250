//! A tool fails with a type that is not an error.
//~ a tool cannot give
//~ implements `std::error::Error`

use agentwire::mcp::server::Server;

struct Missing;

async fn find() -> Result<String, Missing> {
    Err(Missing)
}

fn main() {
    let _ = Server::new("finder", "1.0.0").tool("find", "Find", find);
}
