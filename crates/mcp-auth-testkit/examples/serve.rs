//! Runs an authorization server for manual tests, until it is killed.
//!
//! ```text
//! cargo run -p agentwire-mcp-auth-testkit --example serve -- [RESOURCE]...
//! ```
//!
//! Prints its issuer. Each RESOURCE is the URL of a resource that tokens may be asked for.

use agentwire_mcp_auth_testkit::AuthServer;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let server = AuthServer::builder().start().await?;
    std::env::args().skip(1).for_each(|resource| server.accept_resource(resource));
    println!("{}", server.issuer());
    std::future::pending().await
}
