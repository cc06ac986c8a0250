//! Mutants of the checks in `mcp_server/http_sse.rs`.

use crate::fault::{Fault, Incoming};
use crate::link::events::Event;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SSE-02" => [
        "names no endpoint" => edits_endpoint(|event| event.name = None),
        "sends a JSON object in place of a URI" => edits_endpoint(|event| event.data = json!({"uri": event.data}).to_string()),
    ],
    "SSE-05" => [
        "calls its events data" => faults::each_event(|mut event| {
            event.name = event.name.map(|name| if name == "message" { "data".to_owned() } else { name });
            vec![event]
        }),
        "answers in the response to the POST" => faults::in_response_to(|request| request.contains("\"ping\""), |incoming| match incoming {
            Incoming::Body { exchange, .. } => vec![Incoming::Body { exchange, bytes: br#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_vec() }],
            other => vec![other],
        }),
    ],
    "SSE-14" => [
        "sends each response to every client" => faults::each_event(|event| {
            let other = match &event.data {
                data if data.contains("\"of-the-first\"") => "of-the-second",
                data if data.contains("\"of-the-second\"") => "of-the-first",
                _ => return vec![event],
            };
            let data = json!({"jsonrpc": "2.0", "id": other, "result": {}}).to_string();
            vec![event.clone(), Event { data, ..event }]
        }),
    ],
];

pub(crate) fn edits_endpoint(edit: fn(&mut Event)) -> Box<dyn Fault> {
    faults::each_event(move |mut event| {
        if event.name.as_deref() == Some("endpoint") {
            edit(&mut event);
        }
        vec![event]
    })
}
