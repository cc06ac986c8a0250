//! Checks of a client's HTTP requests, which the proxy recorded.

use anyhow::{Result, ensure};

use super::proxy::{Proxy, Request};

/// The revision without sessions.
const MODERN: &str = "2026-07-28";

/// Whether a request comes before the session, to find out what the server speaks.
fn is_opening(request: &Request) -> bool {
    ["server/discover", "initialize"].contains(&request.method())
}

/// Sessions: each begins with `initialize` and ends with DELETE, and its requests name the session and the revision.
pub(super) fn sessions(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    for request in requests.iter().filter(|request| !is_opening(request)) {
        ensure!(!request.header("mcp-session-id").is_empty(), "no session id: {request:?}");
        ensure!(
            request.header("mcp-protocol-version") == "2025-11-25",
            "not the agreed revision: {request:?}"
        );
    }
    let begun = count(&requests, |request| request.method() == "initialize");
    let ended = count(&requests, |request| request.verb() == "DELETE");
    ensure!(begun > 0 && begun == ended, "{begun} sessions were begun, and {ended} ended");
    ensure!(
        requests.iter().any(|request| request.verb() == "GET"),
        "the client opened no stream for the server's own messages"
    );
    Ok(())
}

/// Modern requests: only POST, without a session, with the headers that repeat the body.
pub(super) fn modern(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    ensure!(requests.iter().any(|request| request.method() == "tools/call"), "no tool was called");
    for request in &requests {
        ensure!(
            request.verb() == "POST" && request.header("mcp-session-id").is_empty(),
            "a session: {request:?}"
        );
        let meta = &request.message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let named = [request.header("mcp-protocol-version"), meta.as_str().unwrap_or_default()];
        ensure!(named == [MODERN; 2], "not the revision: {request:?}");
        ensure!(request.header("mcp-method") == request.method(), "not the method: {request:?}");
        let params = &request.message["params"];
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
        ensure!(request.header("mcp-name") == name, "not the name: {request:?}");
    }
    Ok(())
}

/// HTTP+SSE: streams and handshakes, and no DELETE.
pub(super) fn sse(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    let begun = count(&requests, |request| request.verb() == "POST" && request.method() == "initialize");
    let streams = count(&requests, |request| request.verb() == "GET");
    ensure!(begun > 0 && streams > 0, "{streams} streams, {begun} handshakes");
    ensure!(requests.iter().all(|request| request.verb() != "DELETE"), "there is nothing to delete");
    Ok(())
}

/// At least this many requests of the server were answered with a result.
pub(super) fn answered(proxy: &Proxy, expected: usize) -> Result<()> {
    let requests = proxy.requests();
    let answered =
        count(&requests, |request| request.verb() == "POST" && request.message["result"].is_object());
    ensure!(answered >= expected, "{answered} requests were answered instead of {expected}");
    Ok(())
}

/// A cut stream was resumed from its last event.
pub(super) fn resumed(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    let resumed = count(&requests, |request| !request.header("last-event-id").is_empty());
    ensure!(resumed > 0, "no stream was resumed");
    Ok(())
}

fn count(requests: &[Request], what: impl Fn(&Request) -> bool) -> usize {
    requests.iter().filter(|request| what(request)).count()
}
