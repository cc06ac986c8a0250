//! Checks of HTTP/1.1 itself, where they concern MCP.

use std::time::Duration;

use super::Session;
use crate::check::{Check, HTTP, check};
use crate::faults;
use crate::link::http::HttpRequest;
use crate::link::tcp::Tcp;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// More than any server takes: 1 TiB.
const TOO_LONG: u64 = 1 << 40;
/// The pause between two parts of a request that arrives slowly.
const PAUSE: Duration = Duration::from_millis(50);

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!("HTP-59", other_methods_get_405, HTTP, [
        "does not know PUT" => faults::answer_status(|request| request.starts_with("PUT"), 404),
        "says no allowed methods" => faults::answer_head(|request| request.starts_with("P"), |head| head.remove("allow")),
    ]),
    check!("HTP-60", unknown_paths_and_long_bodies_are_refused, HTTP, [
        "serves every path" => faults::answer_status(|request| request.contains("/conformance-unknown"), 200),
        "answers a body that is too long with status 500" => faults::answer_status(|request| request.contains("content-length: 1099511627776"), 500),
    ]),
    check!("HTP-61", bodies_arrive_in_every_form, HTTP, [
        "refuses chunks" => faults::answer_status(|request| request.contains("transfer-encoding: chunked"), 411),
        "serves one request on a connection" => faults::answer_status(|request| request.contains("\"second\""), 400),
        "refuses to say that a client may continue" => faults::answer_status(|request| request.contains("expect: 100-continue"), 417),
        "reads one segment only" => faults::answer_status(|request| request.contains("\"split\""), 400),
    ]),
];

async fn other_methods_get_405(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    for method in ["PUT", "PATCH"] {
        let request = session.post(&session.simple("other-method")).method(method);
        let response = request.send().await?;
        let status = response.status();
        ensure!(status == 405, format!("status 405 for {method}"), "status {status}");
        let allow = response.header("allow").unwrap_or_default();
        ensure!(allow.contains("POST"), "an Allow header with POST", "`Allow: {allow}`");
    }
    session.end().await
}

async fn unknown_paths_and_long_bodies_are_refused(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let unknown = session.post(&session.simple("elsewhere")).path("/conformance-unknown");
    let status = unknown.send().await?.status();
    ensure!(status == 404, "status 404 for an unknown path", "status {status}");

    let request = session.post(&session.simple("long"));
    let request = request.header("content-length", &TOO_LONG.to_string()).header("expect", "100-continue");
    let mut tcp = session.target.tcp().await?;
    tcp.announce(&request.head_text(), b"");
    tcp.write(&request.head_bytes()).await?;
    // A server may also read up to its limit first, which this check does not wait for.
    let Ok(head) = tokio::time::timeout(Duration::from_secs(1), tcp.head()).await else {
        return session.end().await;
    };
    let status = head?.status;
    ensure!(matches!(status, 100 | 413), "status 413 for a body of 1 TiB", "status {status}");
    session.end().await
}

/// Writes a request's head, and returns its body as it was.
async fn begin(tcp: &mut Tcp, request: &HttpRequest) -> Outcome {
    tcp.announce(&request.head_text(), request.body_bytes());
    tcp.write(&request.head_bytes()).await
}

/// Fails unless the next response of a connection is a success.
async fn succeeds(tcp: &mut Tcp, what: &str) -> Outcome {
    let response = tcp.response().await.map_err(|stop| match stop {
        Stop::Failed(failure) => Stop::failed(format!("status 200 for {what}"), failure.seen),
        other => other,
    })?;
    let (status, length) = (response.head.status, response.body.len());
    ensure!(status == 200 && length > 0, format!("status 200 for {what}"), "status {status}, {length} bytes");
    Ok(())
}

async fn bodies_arrive_in_every_form(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    chunked(&session).await?;
    continued(&session).await?;
    split(&session).await?;
    kept(&session).await?;
    session.end().await
}

/// A body in chunks, of which one is a single byte and one has an extension.
async fn chunked(session: &Session) -> Outcome {
    let request = session.post(&session.simple("chunked")).header("transfer-encoding", "chunked");
    let mut tcp = session.target.tcp().await?;
    begin(&mut tcp, &request).await?;
    let (first, rest) = request.body_bytes().split_at(1);
    tcp.write(&[b"1\r\n", first, b"\r\n"].concat()).await?;
    tokio::time::sleep(PAUSE).await;
    let length = format!("{:X};name=value\r\n", rest.len());
    tcp.write(&[length.as_bytes(), rest, b"\r\n0\r\n\r\n"].concat()).await?;
    succeeds(&mut tcp, "a body in chunks").await
}

/// A body that is sent once the server says that it wants it.
async fn continued(session: &Session) -> Outcome {
    let message = session.simple("continued");
    let request = session.post(&message).with_length().header("expect", "100-continue");
    let mut tcp = session.target.tcp().await?;
    begin(&mut tcp, &request).await?;
    // A client sends the body after a while also without an invitation.
    let invitation = tokio::time::timeout(Duration::from_secs(1), tcp.head()).await;
    if let Ok(head) = invitation {
        let status = head?.status;
        ensure!(status == 100, "status 100 for `Expect: 100-continue`", "status {status}");
    }
    tcp.write(request.body_bytes()).await?;
    succeeds(&mut tcp, "a body after `Expect: 100-continue`").await
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
    succeeds(&mut tcp, "a request in several segments").await
}

/// Two requests on one connection.
async fn kept(session: &Session) -> Outcome {
    let mut tcp = session.target.tcp().await?;
    for id in ["first", "second"] {
        let request = session.post(&session.simple(id)).with_length();
        begin(&mut tcp, &request).await?;
        tcp.write(request.body_bytes()).await?;
        succeeds(&mut tcp, &format!("the {id} request on a connection")).await?;
    }
    Ok(())
}
