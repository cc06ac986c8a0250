//! The transport from outside: raw sockets against the server, a scripted server against the client, and the two
//! against each other. Names begin with the number that the requirement has among those of MCP's HTTP+SSE.

#[cfg(all(feature = "http-client", feature = "hyper"))]
mod both;
#[cfg(feature = "http-client")]
mod client;
#[cfg(feature = "hyper")]
mod server;

use std::time::Duration;

/// No test waits for longer.
const PATIENCE: Duration = Duration::from_secs(20);

async fn patiently<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happened")
}
