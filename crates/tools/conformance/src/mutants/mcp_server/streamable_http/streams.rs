//! Mutants of the checks in `mcp_server/streamable_http/streams.rs`.

use crate::fault::{Fault, Incoming};
use crate::mcp_server::streamable_http::streams::TOKEN;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-14" => [
        "tells of a change on the stream of a request" => sends_on(|request| request.contains("\"slow\""), tools_changed()),
    ],
    "HTP-20" => [
        "reports the progress of a call on the GET stream" => sends_on(|request| request.starts_with("GET"), progress(0.5)),
    ],
    "HTP-21" => [
        "sends a response on the GET stream" => sends_on(|request| request.starts_with("GET"), response("one")),
    ],
    "HTP-22" => [
        "sends progress on every GET stream" => sends_on(|request| request.starts_with("GET"), progress(1.0)),
        "tells of an update on every GET stream" => sends_on(|request| request.starts_with("GET"), json!({
            "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "test://watched-resource"}})),
    ],
    "HTP-24" => [
        "counts events from 1 on each stream" => faults::each_event(|mut event| {
            event.id = event.id.map(|_| "1".to_owned());
            vec![event]
        }),
    ],
];

fn progress(progress: f64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": TOKEN, "progress": progress}})
}

fn response(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

/// Sends one more message at the beginning of the streams of some requests.
pub(crate) fn sends_on(accept: impl FnMut(&str) -> bool + Send + 'static, message: Value) -> Box<dyn Fault> {
    faults::in_response_to(accept, move |incoming| match incoming {
        Incoming::Head(head) => vec![Incoming::Head(head), Incoming::Forged(message.clone())],
        other => vec![other],
    })
}

pub(crate) fn tools_changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
}
