//! The parts of messages that a server over HTTP reads.

use serde_json::{Value, json};

/// The requests of a message or a batch.
pub(super) fn requests_of(body: &Value) -> impl Iterator<Item = &Value> {
    let messages = body.as_array().map_or(std::slice::from_ref(body), Vec::as_slice);
    messages.iter().filter(|message| message.get("method").is_some() && message.get("id").is_some())
}

/// Whether a message names its revision itself.
pub(crate) fn is_modern(message: &Value) -> bool {
    message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some()
}

/// The status of a response: since 2026-07-28 some errors have their own.
pub(crate) fn status_of(request: &Value, response: &Value) -> u16 {
    match response.pointer("/error/code").and_then(Value::as_i64) {
        Some(-32601) if is_modern(request) => 404,
        Some(-32602 | -32020 | -32021 | -32022) if is_modern(request) => 400,
        _ => 200,
    }
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
