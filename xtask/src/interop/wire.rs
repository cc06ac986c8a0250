//! What a client must send over HTTP, read from what the proxy noted.

use anyhow::{Result, ensure};

use super::proxy::{Proxy, Request};

/// The revision without sessions.
const STATELESS: &str = "2026-07-28";

/// Whether a request belongs to the search for an era, and not yet to a session.
fn opens(request: &Request) -> bool {
    ["server/discover", "initialize"].contains(&request.method())
}

/// Sessions, each begun by `initialize` and ended by DELETE, whose requests name the session and the revision.
pub(super) fn sessions(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    for request in requests.iter().filter(|request| !opens(request)) {
        ensure!(!request.header("mcp-session-id").is_empty(), "no session id: {request:?}");
        ensure!(
            request.header("mcp-protocol-version") == "2025-11-25",
            "not the agreed revision: {request:?}"
        );
    }
    let begun = count(&requests, |request| request.method() == "initialize");
    let ended = count(&requests, |request| request.verb == "DELETE");
    ensure!(begun > 0 && begun == ended, "{begun} sessions were begun, and {ended} ended");
    ensure!(
        requests.iter().any(|request| request.verb == "GET"),
        "nobody listened for what a server says by itself"
    );
    Ok(())
}

/// Nothing but POST, each for itself, and with the headers that repeat the body.
pub(super) fn stateless(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    ensure!(requests.iter().any(|request| request.method() == "tools/call"), "no tool was called");
    for request in &requests {
        ensure!(
            request.verb == "POST" && request.header("mcp-session-id").is_empty(),
            "a session: {request:?}"
        );
        let meta = &request.message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let named = [request.header("mcp-protocol-version"), meta.as_str().unwrap_or_default()];
        ensure!(named == [STATELESS; 2], "not the revision: {request:?}");
        ensure!(request.header("mcp-method") == request.method(), "not the method: {request:?}");
        let params = &request.message["params"];
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
        ensure!(request.header("mcp-name") == name, "not the name: {request:?}");
    }
    Ok(())
}

/// A stream for each connection, and nothing that this transport does not have.
pub(super) fn sse(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    let begun = count(&requests, |request| request.verb == "POST" && request.method() == "initialize");
    let streams = count(&requests, |request| request.verb == "GET");
    ensure!(begun > 0 && streams > 0, "{streams} streams, {begun} handshakes");
    ensure!(requests.iter().all(|request| request.verb != "DELETE"), "there is nothing to delete");
    Ok(())
}

/// So many questions of the server's were answered with a result.
pub(super) fn answered(proxy: &Proxy, questions: usize) -> Result<()> {
    let requests = proxy.requests();
    let answered =
        count(&requests, |request| request.verb == "POST" && request.message["result"].is_object());
    ensure!(answered >= questions, "{answered} questions were answered instead of {questions}");
    Ok(())
}

/// A stream that was cut is asked for again, from where it broke.
pub(super) fn resumed(proxy: &Proxy) -> Result<()> {
    let requests = proxy.requests();
    let resumed = count(&requests, |request| !request.header("last-event-id").is_empty());
    ensure!(resumed > 0, "no stream was taken up again");
    Ok(())
}

fn count(requests: &[Request], what: impl Fn(&Request) -> bool) -> usize {
    requests.iter().filter(|request| what(request)).count()
}
