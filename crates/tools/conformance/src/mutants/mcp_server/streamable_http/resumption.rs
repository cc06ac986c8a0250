//! Mutants of the checks in `mcp_server/streamable_http/resumption.rs`.

use crate::fault::{Fault, Incoming};
use crate::link::events::Event;
use crate::mcp_server::streamable_http::resumption::is_priming;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-15" => [
        "cancels a call whose connection is lost" => {
            let mut before: Option<Value> = None;
            faults::answer_messages(
                |request| request.contains("\"before\"") || request.contains("\"after\""),
                move |message| if let Some(result) = message.get_mut("result") {
                    *result = before.get_or_insert_with(|| result.clone()).clone();
                },
            )
        },
    ],
    "HTP-27" => [
        "replays what the client has" => on_resumption(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": "a", "progress": 1}})),
    ],
    "HTP-28" => [
        "replays the messages of another stream" => on_resumption(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": "b", "progress": 1}})),
        "replays the response of another stream" => on_resumption(&json!({"jsonrpc": "2.0", "id": "b", "result": {}})),
    ],
    "HTP-30" => [
        "sends no event before the first message" => faults::each_event(|event| if is_priming(&event) { Vec::new() } else { vec![event] }),
        "gives the first event no id" => faults::each_event(|event| {
            if is_priming(&event) { vec![Event { id: None, ..event }] } else { vec![event] }
        }),
    ],
    "HTP-32" => [
        "closes a stream without a retry field" => faults::each_event(|event| vec![Event { retry: None, ..event }]),
    ],
    "HTP-35" => [
        "closes a GET stream without a retry field" => faults::each_event(|event| vec![Event { retry: None, ..event }]),
    ],
];

pub(crate) fn is_resumption(request: &str) -> bool {
    request.starts_with("GET") && request.contains("last-event-id: ")
}

/// Sends a message at the beginning of each stream that is resumed.
pub(crate) fn on_resumption(message: &Value) -> Box<dyn Fault> {
    let message = message.clone();
    faults::in_response_to(is_resumption, move |incoming| match incoming {
        Incoming::Head(head) => vec![Incoming::Head(head), Incoming::Forged(message.clone())],
        other => vec![other],
    })
}
