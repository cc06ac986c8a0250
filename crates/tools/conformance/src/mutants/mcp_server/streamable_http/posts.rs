//! Mutants of the checks in `mcp_server/streamable_http/posts.rs`.

use crate::fault::{Head, Incoming};
use crate::link::events::Event;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-06" => [
        "answers notifications with a body" => faults::in_response_to(is_notification, |incoming| match incoming {
            Incoming::Body { exchange, .. } => vec![Incoming::Body { exchange, bytes: b"{}".to_vec() }],
            other => vec![other],
        }),
    ],
    "HTP-07" => [
        "sends an error with status 200" => faults::in_response_to(|request| request.contains("\"method\":7"), |incoming| match incoming {
            Incoming::Head(head) => vec![Incoming::Head(Head { status: 200, ..head })],
            Incoming::Body { exchange, .. } => {
                let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no method"}});
                vec![Incoming::Body { exchange, bytes: error.to_string().into_bytes() }]
            }
            other => vec![other],
        }),
    ],
    "HTP-09" => [
        "calls a stream JSON, and JSON a stream" => faults::answer_head(is_labelled, |head| {
            let is_stream = head.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
            head.set("content-type", if is_stream { "application/json" } else { "text/event-stream" });
        }),
    ],
    "HTP-11" => [
        "ends a stream without the response" => faults::both(
            faults::each_event(|event| vec![Event { id: None, ..event }]),
            faults::response_to("tools/list", |message| {
                *message = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            }),
        ),
    ],
    "HTP-12" => [
        "ends the stream of a slow call early" => faults::in_response_to(|request| request.contains("\"slow\""), |incoming| match incoming {
            Incoming::Event { exchange, event } if event.data.contains("\"result\"") => vec![Incoming::StreamEnd { exchange }],
            other => vec![other],
        }),
    ],
    "HTP-57" => [
        "answers responses with a body" => faults::in_response_to(is_unknown_response, |incoming| match incoming {
            Incoming::Head(head) => vec![Incoming::Head(Head { status: 202, ..head })],
            Incoming::Body { exchange, .. } => vec![Incoming::Body { exchange, bytes: b"{}".to_vec() }],
            other => vec![other],
        }),
    ],
];

pub(crate) fn is_notification(request: &str) -> bool {
    request.contains("\"method\":\"notifications/")
}

pub(crate) fn is_unknown_response(request: &str) -> bool {
    request.contains("\"id\":\"conformance-unknown\"")
}

pub(crate) fn is_labelled(request: &str) -> bool {
    request.contains("\"labelled\"")
}
