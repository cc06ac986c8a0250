//! The transport from outside: raw sockets against the server, a scripted server against the client, and the two
//! against each other. Names begin with the number that the requirement has among those of MCP's HTTP+SSE.

#[cfg(all(feature = "http-client", feature = "hyper"))]
mod both;
#[cfg(feature = "http-client")]
mod client;
#[cfg(feature = "hyper")]
mod server;

use agentwire_test_support::net::{PATIENCE, patiently};
