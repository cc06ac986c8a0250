//! The first messages of both sides of an ACP connection, and the envelope between conductors and proxies.

use std::time::Duration;

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::requirements::revision::Revision;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

/// Whether a value is an integer as JSON Schema has it: 1.0 is one as well.
pub(crate) fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Whether a value is an integer that is not below zero.
pub(crate) fn is_count(value: &Value) -> bool {
    is_integer(value) && value.as_f64().is_some_and(|number| number >= 0.0)
}

/// Whether a value is a number below a version.
pub(crate) fn is_below(value: &Value, version: u16) -> bool {
    value.as_f64().is_some_and(|number| number < f64::from(version))
}

/// Whether a value is a version, which may be written as 1.0.
pub(crate) fn is_version(value: &Value, version: u16) -> bool {
    value.as_f64() == Some(f64::from(version))
}

/// How long a program that was just started may take for its first message. Some take half a minute on a busy machine.
pub(crate) const START_TIME: Duration = Duration::from_secs(60);

/// The version as a number.
pub(crate) fn version(revision: Revision) -> u16 {
    if revision == Revision::Acp2 { 2 } else { 1 }
}

/// The params of `initialize`.
pub(crate) fn initialize(revision: Revision, capabilities: Value) -> Value {
    let info = json!({"name": "conformance", "version": "1.0.0"});
    if revision == Revision::Acp2 {
        return json!({"protocolVersion": 2, "capabilities": capabilities, "info": info});
    }
    json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info})
}

/// The capabilities of a client that can do everything.
pub(crate) fn capabilities(revision: Revision) -> Value {
    if revision == Revision::Acp2 {
        return json!({"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": {}}});
    }
    json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "auth": {"terminal": true},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    })
}

/// The answer of an agent that can do everything.
pub(crate) fn greeting(revision: Revision) -> Value {
    let info = json!({"name": "conformance", "version": "1.0.0"});
    if revision == Revision::Acp2 {
        let session = json!({
            "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
            "mcp": {"stdio": {}, "http": {}},
            "delete": {},
            "additionalDirectories": {},
        });
        return json!({"protocolVersion": 2, "capabilities": {"session": session}, "info": info});
    }
    let capabilities = json!({
        "loadSession": true,
        "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
        "mcpCapabilities": {"http": true, "sse": true},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
    });
    json!({"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info})
}

/// The method of an envelope between a conductor and a proxy.
pub(crate) const SUCCESSOR: &str = "proxy/successor";

/// Whether a message is an envelope with a message of a method in it.
pub(crate) fn wraps(message: &Value, method: &str) -> bool {
    message["method"] == SUCCESSOR && message["params"]["method"] == method
}

/// Whether a message is the response to a request with an id.
pub(crate) fn is_response(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message.get("id") == Some(id)
}

/// How a request that passes proxies is answered: a result or an error of any form.
pub(crate) struct Answer {
    member: &'static str,
    value: Value,
}

impl Answer {
    /// Results of several types, and an error with data.
    pub(crate) fn several() -> Vec<Self> {
        let error = json!({"code": -31999, "message": "It failed.", "data": {"why": [1, null]}});
        let results = [json!({"result": {"two": null}}), json!([1, "two"]), json!("text"), Value::Null];
        let results = results.into_iter().map(|value| Self { member: "result", value });
        results.chain([Self { member: "error", value: error }]).collect()
    }

    /// The response to a request.
    pub(crate) fn to(&self, request: &Value) -> Value {
        let mut response = json!({"jsonrpc": "2.0", "id": request["id"]});
        response[self.member] = self.value.clone();
        response
    }

    /// Whether a response has the same result or error.
    pub(crate) fn is_in(&self, response: &Value) -> bool {
        response.get(self.member) == Some(&self.value)
    }

    /// The expected form of such a response.
    pub(crate) fn expected(&self) -> String {
        format!("the {} of the wrapped request, `{}`, as that of `{SUCCESSOR}`", self.member, self.value)
    }
}

/// The kind of a line that a program writes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Line {
    Message,
    /// JSON that is not UTF-8.
    Garbled,
    /// A part of a message that has several lines.
    Fragment,
    Other,
}

/// The most lines of one message.
const MAX_LINES: usize = 200;

/// The lines of the program under test, with what each is, so that each fault of a line breaks one requirement.
pub(crate) fn lines(trace: &Trace) -> Vec<(Line, String)> {
    let events = trace.events().into_iter();
    let events = events.filter(|event| event.from == Sender::Subject && event.what == Part::Line);
    let mut lines: Vec<_> = events.map(|event| (line(&event.bytes), text(&event.bytes))).collect();
    let mut at = 0;
    while at < lines.len() {
        let rest = &lines[at..lines.len().min(at + MAX_LINES)];
        let begins = rest[0].0 == Line::Other && rest[0].1.trim_start().starts_with(['{', '[']);
        let ends = |count: &usize| {
            let joined: Vec<&str> = rest[..*count].iter().map(|(_, text)| text.as_str()).collect();
            line(joined.join(" ").as_bytes()) == Line::Message
        };
        let count = if begins { (2..=rest.len()).find(ends).unwrap_or(0) } else { 0 };
        for line in &mut lines[at..at + count] {
            line.0 = Line::Fragment;
        }
        at += count.max(1);
    }
    lines
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn line(bytes: &[u8]) -> Line {
    if std::str::from_utf8(bytes).is_err() {
        return if bytes.trim_ascii_start().starts_with(b"{") { Line::Garbled } else { Line::Other };
    }
    let message: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let messages = message.as_array().map_or(std::slice::from_ref(&message), Vec::as_slice);
    let is_message = |message: &Value| message["jsonrpc"] == "2.0";
    if !messages.is_empty() && messages.iter().all(is_message) { Line::Message } else { Line::Other }
}

/// Fails unless a response refuses an unknown method.
pub(crate) fn refuses_the_method(response: &Value, method: &str) -> Outcome {
    let is_refused = response["error"]["code"] == -32601;
    ensure!(is_refused, format!("the code -32601 for `{method}`"), "`{response}`");
    Ok(())
}

/// A line that is not JSON, without a readable id.
const NO_JSON: &[u8] = b"{\"jsonrpc\": \"2.0\", \"method\":\n";

/// Fails unless the other side refuses a line that is not JSON and one that is not a request.
pub(crate) async fn refuses_malformed_lines(conversation: &mut Conversation) -> Outcome {
    let no_request = &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1,\"params\":\"bar\"}\n"[..];
    for (bytes, code) in [(NO_JSON, -32700), (no_request, -32600)] {
        conversation.send_bytes(bytes).await?;
        let shown = String::from_utf8_lossy(bytes).trim_end().to_owned();
        let what = format!("an error with the code {code} for the line `{shown}`");
        let response = conversation.wanted(&what, |message| message.get("error").is_some()).await?;
        ensure!(response["error"]["code"] == code, what, "`{response}`");
    }
    Ok(())
}

/// Fails if an error about a line whose id cannot be read has another id than null.
pub(crate) async fn answers_an_unreadable_id_with_null(conversation: &mut Conversation) -> Outcome {
    conversation.send_bytes(NO_JSON).await?;
    let is_error = |message: &Value| message.get("error").is_some();
    let response = conversation.wanted("a response to invalid JSON", is_error).await;
    let response = response.map_err(Stop::while_preparing)?;
    let is_null = response.get("id").is_some_and(Value::is_null);
    ensure!(is_null, "an error with the id null for invalid JSON", "`{response}`");
    Ok(())
}
