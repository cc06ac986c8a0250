//! The function of a tool is not async.
//~ is not a future

use agentwire::mcp::server::Server;

fn greet() -> String {
    "hello".into()
}

fn main() {
    let _ = Server::new("greeter", "1.0.0").tool("greet", "Greet", greet);
}
