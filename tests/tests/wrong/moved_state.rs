//! A closure moves what it captures into its future, so it can run only once.
//~ a closure clones what it captures, before its `async move` block

use agentwire::mcp::server::Server;

fn main() {
    let text = String::from("hello");
    let _ = Server::new("greeter", "1.0.0").tool("greet", "Greet", move || async move { text });
}
