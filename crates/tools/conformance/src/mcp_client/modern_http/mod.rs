//! Checks of clients: what each request has since 2026-07-28, when there are no sessions.

pub(crate) mod headers;
pub(super) mod streams;
pub(super) mod tools;
pub(super) mod versions;

use serde_json::Value;

use super::McpClient;
use super::http_sse::fallback::opens_stream;
use super::streamable_http::some;
use crate::check::{ANY, Check, HTTP, audit};
use crate::fault::ClientRequest;
use crate::link::played_http::{requests_in, text};
use crate::trace::{Part, Sender, Trace, TraceEvent};
use crate::verdict::{Outcome, Stop, ensure};

/// Where the protocol version is in a request.
pub(crate) const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
pub(crate) const CAPABILITIES: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
pub(crate) const INFO: &str = "/params/_meta/io.modelcontextprotocol~1clientInfo";

pub(super) const CHECKS: &[Check<McpClient>] = &[
    audit!(posts_have_the_version, HTTP),
    audit!(header_repeats_the_version, HTTP),
    audit!(requests_have_version_and_capabilities, ANY),
    audit!(requests_have_client_info, ANY),
    audit!(header_repeats_the_method, HTTP),
    audit!(bodies_are_requests_or_notifications, HTTP),
    audit!(nothing_of_sessions_is_sent, HTTP),
    audit!(extensions_have_a_prefix, ANY),
];

/// The requests over HTTP up to the first session: a client may fall back to one, whose rules are others.
fn modern(trace: &Trace) -> Outcome<Vec<ClientRequest>> {
    let requests = requests_in(trace).into_iter().take_while(|request| !request.calls("initialize"));
    some(requests.filter(|request| request.target == "/mcp"))
}

/// Whether a POST carries a request: the revision defines no headers for that of a notification.
fn is_request((_, message): &(ClientRequest, Value)) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// The POSTs among them, with their messages.
fn posts(trace: &Trace) -> Outcome<Vec<(ClientRequest, Value)>> {
    let posts = modern(trace)?.into_iter().filter(|request| request.method == "POST");
    some(posts.map(|request| {
        let message = request.message().unwrap_or_default();
        (request, message)
    }))
}

/// The requests of JSON-RPC, over any transport, up to the first session.
fn requests(trace: &Trace) -> Outcome<Vec<Value>> {
    let messages = trace.messages(Sender::Subject).into_iter();
    let messages = messages.take_while(|message| message["method"] != "initialize");
    some(messages.filter(|message| message.get("method").is_some() && message.get("id").is_some()))
}

fn posts_have_the_version(_: &McpClient, trace: &Trace) -> Outcome {
    for (request, _) in posts(trace)?.into_iter().filter(is_request) {
        ensure!(
            request.header("mcp-protocol-version").is_some(),
            "an MCP-Protocol-Version header in the POST of each request",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

fn header_repeats_the_version(_: &McpClient, trace: &Trace) -> Outcome {
    for (request, message) in posts(trace)? {
        let (header, body) = (request.header("mcp-protocol-version"), message.pointer(VERSION));
        ensure!(
            header.is_none() || body.is_none() || body.and_then(Value::as_str) == header,
            "the same version in the MCP-Protocol-Version header and in _meta",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

fn requests_have_version_and_capabilities(_: &McpClient, trace: &Trace) -> Outcome {
    for message in requests(trace)? {
        ensure!(
            message.pointer(VERSION).is_some_and(Value::is_string),
            "io.modelcontextprotocol/protocolVersion, a string, in the _meta of each request",
            "`{message}`"
        );
        ensure!(
            message.pointer(CAPABILITIES).is_some_and(Value::is_object),
            "io.modelcontextprotocol/clientCapabilities, an object, in the _meta of each request",
            "`{message}`"
        );
    }
    Ok(())
}

fn requests_have_client_info(_: &McpClient, trace: &Trace) -> Outcome {
    for message in requests(trace)? {
        ensure!(
            message.pointer(INFO).is_some_and(Value::is_object),
            "io.modelcontextprotocol/clientInfo in the _meta of each request",
            "`{message}`"
        );
    }
    Ok(())
}

fn header_repeats_the_method(_: &McpClient, trace: &Trace) -> Outcome {
    for (request, message) in posts(trace)?.into_iter().filter(is_request) {
        let method = message["method"].as_str();
        ensure!(
            request.header("mcp-method") == method,
            format!("an Mcp-Method header with the value {}", method.unwrap_or_default()),
            "{}",
            text(&request)
        );
    }
    Ok(())
}

fn bodies_are_requests_or_notifications(_: &McpClient, trace: &Trace) -> Outcome {
    for (request, message) in posts(trace)? {
        ensure!(
            message["method"].is_string(),
            "one request or one notification as the body of each POST",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

fn nothing_of_sessions_is_sent(_: &McpClient, trace: &Trace) -> Outcome {
    for request in modern(trace)? {
        let header =
            ["mcp-session-id", "last-event-id"].into_iter().find(|name| request.header(name).is_some());
        ensure!(
            header.is_none(),
            "neither Mcp-Session-Id nor Last-Event-ID in a request",
            "{}",
            text(&request)
        );
        ensure!(request.method != "DELETE", "no DELETE, since there are no sessions", "{}", text(&request));
    }
    match get_without_refusal(trace) {
        Some(get) => Err(Stop::failed("no GET for an event stream", text(&get))),
        None => Ok(()),
    }
}

/// The first GET for an event stream. One after a refusal does not count, because it may be for an older transport.
fn get_without_refusal(trace: &Trace) -> Option<ClientRequest> {
    let is_refusal = |event: &TraceEvent| {
        let head = String::from_utf8_lossy(&event.bytes);
        event.from == Sender::Suite
            && ["400", "404", "405"].iter().any(|status| head.starts_with(&format!("HTTP/1.1 {status}")))
    };
    let heads = trace.events().into_iter().filter(|event| event.what == Part::Head);
    let before = heads.take_while(|event| !is_refusal(event)).filter(|event| event.from == Sender::Subject);
    let requests = requests_in(trace).into_iter().take(before.count());
    let requests = requests.take_while(|request| !request.calls("initialize"));
    requests.filter(|request| request.target == "/mcp").find(opens_stream)
}

fn extensions_have_a_prefix(_: &McpClient, trace: &Trace) -> Outcome {
    for message in requests(trace)? {
        let extensions = message.pointer(&format!("{CAPABILITIES}/extensions")).and_then(Value::as_object);
        let wrong = extensions.into_iter().flatten().map(|(name, _)| name).find(|name| !has_prefix(name));
        ensure!(
            wrong.is_none(),
            "a prefix such as `com.example/` in the identifier of each extension",
            "`{}` in `{message}`",
            wrong.map_or("", String::as_str)
        );
    }
    Ok(())
}

/// Whether a name has a prefix of labels that are joined by dots.
fn has_prefix(name: &str) -> bool {
    let is_label = |label: &str| {
        label.starts_with(|first: char| first.is_ascii_alphabetic())
            && label.ends_with(|last: char| last.is_ascii_alphanumeric())
            && label.chars().all(|inner| inner.is_ascii_alphanumeric() || inner == '-')
    };
    name.split_once('/').is_some_and(|(prefix, _)| prefix.split('.').all(is_label))
}
