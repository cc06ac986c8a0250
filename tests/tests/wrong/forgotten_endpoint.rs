//! No task polls the future that serves an endpoint's sessions.
//~ tokio::spawn(endpoint.run())

#![deny(unused_must_use)]

use agentwire::http::server::{Endpoint, EndpointConfig};
use agentwire::mcp::server::Server;

fn main() {
    let endpoint = Endpoint::serving(EndpointConfig::new(), Server::new("calculator", "1.0.0"));
    endpoint.run();
}
