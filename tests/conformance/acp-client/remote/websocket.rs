//! An agent over WebSocket: each message is a text frame.

use agentwire_transport::{Duplex, Packet};
use anyhow::{Context as _, Result, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use http::Uri;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

/// Carries messages until either side ends.
pub(super) async fn carry(url: &str, client: Duplex) -> Result<()> {
    let parsed: Uri = url.parse()?;
    if parsed.scheme_str() == Some("wss") {
        bail!("this program reaches agents without TLS only");
    }
    let host = parsed.host().context("the URL has no host")?;
    let stream = TcpStream::connect((host, parsed.port_u16().unwrap_or(80))).await?;
    stream.set_nodelay(true)?;
    let (socket, _) = client_async(url, stream).await?;
    let ((mut frames_out, mut frames_in), (mut to_client, mut from_client)) =
        (socket.split(), client.split());
    let outward = async {
        while let Some(Ok(packet)) = from_client.next().await {
            if let Some(text) = packet.into_json() {
                frames_out.send(Message::text(text)).await?;
            }
        }
        frames_out.close().await?;
        Ok(())
    };
    let inward = async {
        while let Some(frame) = frames_in.next().await {
            match frame? {
                Message::Text(text) => to_client.send(Packet::from_json(&text)).await?,
                Message::Close(_) => break,
                _ => {}
            }
        }
        Ok(())
    };
    tokio::select! {
        ended = outward => ended,
        ended = inward => ended,
    }
}
