//! Mounts the endpoint in an axum server, beside routes of its own.
//!
//! ```sh
//! cargo run --example axum
//! ```

use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, RawJson, Request, Response};
use agentwire_transport::{Exchange, Packet, service_fn};
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig};
use axum::Router;
use axum::routing::get;
use futures::{SinkExt, StreamExt};

/// Answers a request with its params.
fn echo(request: Request) -> Response {
    Response::new(request.id, Ok(request.params.unwrap_or(RawJson::EMPTY_OBJECT)))
}

/// Serves one session. A server of `agentwire-mcp-server` would stand here.
async fn serve_session(mut connection: Connection) {
    while let Some(Ok(packet)) = connection.next().await {
        if let Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } = packet
            && connection.send(Message::from(echo(request)).into()).await.is_err()
        {
            break;
        }
    }
}

/// Answers one request without a session.
async fn serve_exchange(exchange: Exchange) -> Response {
    echo(exchange.request)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let endpoint = Endpoint::serving(EndpointConfig::new(), service_fn(serve_session, serve_exchange));
    // Sessions are served here, and time passes.
    tokio::spawn(endpoint.run());
    let router =
        Router::new().route("/health", get(|| async { "well" })).route_service("/mcp", endpoint.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    // Calls have 10 s to finish, and axum takes connections until then.
    let drained = async move {
        let _ = tokio::signal::ctrl_c().await;
        endpoint.shutdown(Duration::from_secs(10)).await;
    };
    axum::serve(listener, router).with_graceful_shutdown(drained).await
}
