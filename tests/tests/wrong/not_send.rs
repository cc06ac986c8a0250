//! The future of a tool holds something that is not `Send`.
//~ cannot be sent between threads safely
//~ which is not `Send`
//~ lines: 19, as rustc shows both places in the function

use std::rc::Rc;

use agentwire::mcp::server::Server;

async fn greet() -> String {
    let text = Rc::new(String::from("hello"));
    tokio::task::yield_now().await;
    text.to_string()
}

fn main() {
    let _ = Server::new("greeter", "1.0.0").tool("greet", "Greet", greet);
}
