//! Starts the command line that is its argument, and holds it until it ends.

use agentwire_transport_stdio::{Child, Command};
use futures::StreamExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let line = std::env::args().nth(1).ok_or("a command line is missing")?;
    let mut child = Child::spawn(Command::parse(&line)?)?;
    while let Some(packet) = child.next().await {
        packet?;
    }
    Ok(())
}
