//! Checks of HTTP/1.1 itself, where they concern MCP.

use std::time::Duration;

use super::Session;
use crate::check::{Check, HTTP, check};
use crate::link::http::HttpRequest;
use crate::link::tcp::Tcp;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// The pause between two parts of a request that arrives slowly.
const PAUSE: Duration = Duration::from_millis(50);

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[check!(bodies_arrive_in_every_form, HTTP)];

/// Writes a request's head, and returns its body as it was.
async fn begin(tcp: &mut Tcp, request: &HttpRequest) -> Outcome {
    tcp.announce(&request.head_text(), request.body_bytes());
    tcp.write(&request.head_bytes()).await
}

/// Fails unless the next response of a connection is a success, or has the other status that is right, too.
async fn succeeds(tcp: &mut Tcp, what: &str, or: u16) -> Outcome {
    let response = tcp.response().await.map_err(|stop| match stop {
        Stop::Failed(failure) => Stop::failed(format!("status 200 for {what}"), failure.seen),
        other => other,
    })?;
    let status = response.head.status;
    ensure!(status == 200 || status == or, format!("status 200 for {what}"), "status {status}");
    Ok(())
}

async fn bodies_arrive_in_every_form(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    chunked(&session).await?;
    split(&session).await?;
    session.end().await
}

/// A body in chunks, of which one is a single byte. HTTP lets a server refuse a body without a length.
async fn chunked(session: &Session) -> Outcome {
    let request = session.post(&session.simple("chunked")).header("transfer-encoding", "chunked");
    let mut tcp = session.target.tcp().await?;
    begin(&mut tcp, &request).await?;
    let (first, rest) = request.body_bytes().split_at(1);
    tcp.write(&[b"1\r\n", first, b"\r\n"].concat()).await?;
    tokio::time::sleep(PAUSE).await;
    let length = format!("{:X}\r\n", rest.len());
    tcp.write(&[length.as_bytes(), rest, b"\r\n0\r\n\r\n"].concat()).await?;
    succeeds(&mut tcp, "a body in chunks", 411).await
}

/// A head and a body that arrive in several segments.
async fn split(session: &Session) -> Outcome {
    let request = session.post(&session.simple("split")).with_length();
    let bytes = [request.head_bytes(), request.body_bytes().to_vec()].concat();
    let mut tcp = session.target.tcp().await?;
    tcp.announce(&request.head_text(), request.body_bytes());
    for part in bytes.chunks(bytes.len() / 6 + 1) {
        tcp.write(part).await?;
        tokio::time::sleep(PAUSE).await;
    }
    succeeds(&mut tcp, "a request in several segments", 200).await
}
