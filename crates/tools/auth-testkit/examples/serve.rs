//! Runs a server until it is interrupted, with the faults that are named, and prints what it receives:
//! `cargo run --example serve -- iss-missing refresh-fails`. Without any, all names are printed.
#![expect(clippy::print_stdout, reason = "a program for people")]

use std::time::Duration;

use agentwire_mcp_auth_testkit::{AuthServer, Fault};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let faults: Vec<Fault> = std::env::args().skip(1).map(|name| name.parse()).collect::<Result<_, _>>()?;
    if faults.is_empty() {
        let names: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        println!("Faults: {}\n", names.join(" "));
    }
    let server = faults.into_iter().fold(AuthServer::builder(), |builder, fault| builder.misbehave(fault));
    let server = server.start().await?;
    println!("Connect to {} (issuer {}).", server.resource_url(), server.issuer());
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        for request in server.log().requests {
            println!("{request:#?}");
        }
        server.clear_log();
    }
}
