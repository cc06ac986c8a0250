//! The agent over HTTP and WebSocket, at `/acp`. Each connection has a run of the agent for itself.
//!
//! ```text
//! POST ──▶ endpoint ──▶ connection ──▶ duplex ──▶ agent
//! GET  ◀── event queue ◀── routes ◀──┘
//! GET with an upgrade ◀──▶ websocket ──▶ duplex ──▶ agent
//! ```
//!
//! The queues in memory are bounded: 8 MiB of events for each connection, and 64 messages in each direction of its run.

mod connection;
mod endpoint;
mod event_queue;
mod guard;
mod responses;
mod routes;
mod websocket;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;

pub(crate) use self::connection::RunAgent;
use self::endpoint::{Endpoint, PATH};

/// How long a client may take for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long to wait after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves HTTP/1.1, HTTP/2 with prior knowledge and WebSocket until the process is ended.
pub(crate) async fn listen(address: &str, run: RunAgent) -> Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    eprintln!("listening on http://{}{PATH}", listener.local_addr()?);
    let endpoint = Arc::new(Endpoint::new(run));
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(HEAD_TIME).keep_alive_timeout(HEAD_TIME);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Small messages should not wait for more; where that cannot be said, they are only slower.
        let _ = stream.set_nodelay(true);
        let endpoint = Arc::clone(&endpoint);
        let service = service_fn(move |request| {
            let endpoint = Arc::clone(&endpoint);
            async move { Ok::<_, Infallible>(endpoint.answer(request).await) }
        });
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
        tokio::spawn(async move {
            // A client may leave at any time.
            let _ = connection.await;
        });
    }
}
