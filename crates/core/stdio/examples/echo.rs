//! Sends every frame back as it came: the smallest thing that speaks over stdin and stdout.
//!
//! An argument sets the limit for lines, in bytes.

use agentwire_transport_stdio::stdio;
use futures::{SinkExt, StreamExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut transport = stdio()?;
    if let Some(bytes) = std::env::args().nth(1) {
        transport = transport.limit(bytes.parse()?);
    }
    while let Some(packet) = transport.next().await {
        transport.send(packet?).await?;
    }
    transport.close().await?;
    Ok(())
}
