//! Mounts the endpoint in an axum server, beside routes of its own.
//!
//! ```sh
//! cargo run --example axum
//! ```

use agentwire_jsonrpc::{Frame, Message, RawJson, Response};
use agentwire_transport::Packet;
use agentwire_transport_http::server::{Config, Endpoint, Link};
use axum::Router;
use axum::routing::get;
use futures::{SinkExt, StreamExt};

/// Answers every request with what it was asked with. A server of `agentwire-mcp-server` would stand here.
async fn echo(mut link: Link) {
    while let Some(Ok(packet)) = link.next().await {
        if let Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } = packet {
            let params = request.params.unwrap_or(RawJson::EMPTY_OBJECT);
            let answer = Message::from(Response::new(request.id, Ok(params)));
            if link.send(answer.into()).await.is_err() {
                break;
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let endpoint = Endpoint::serving(Config::new(), echo);
    // Sessions are served here, and time passes.
    tokio::spawn(endpoint.run());
    let router = Router::new().route("/health", get(|| async { "well" })).route_service("/mcp", endpoint);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await
}
