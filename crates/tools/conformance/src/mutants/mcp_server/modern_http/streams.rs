//! Mutants of the checks in `mcp_server/modern_http/streams.rs`.

use crate::fault::{Fault, Incoming};
use crate::mcp_server::modern_http::streams::{ACKNOWLEDGED, TOKEN, UPDATED};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-32" => [
        "reports on another stream" => with_acknowledgement(json!({
            "jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": TOKEN, "progress": 1},
        })),
        "answers on another stream" => with_acknowledgement(json!({
            "jsonrpc": "2.0", "id": TOKEN, "result": {"resultType": "complete", "content": []},
        })),
    ],
    "ST-32b" => [
        "works on" => updates_without_a_call(),
    ],
];

/// A fault: a message arrives beside the acknowledgement of a subscription.
pub(crate) fn with_acknowledgement(message: Value) -> Box<dyn Fault> {
    faults::incoming(move |incoming| match &incoming {
        Incoming::Event { event, .. } if event.data.contains(ACKNOWLEDGED) => {
            vec![incoming, Incoming::Forged(message.clone())]
        }
        _ => vec![incoming],
    })
}

/// A fault: each update is sent twice, the second time when a later subscription is acknowledged.
pub(crate) fn updates_without_a_call() -> Box<dyn Fault> {
    let mut update = None;
    faults::incoming(move |incoming| match &incoming {
        Incoming::Event { event, .. } if event.data.contains(UPDATED) => {
            update = serde_json::from_str(&event.data).ok();
            vec![incoming]
        }
        Incoming::Event { event, .. } if event.data.contains(ACKNOWLEDGED) => {
            let again: Option<Value> = update.take();
            std::iter::once(incoming).chain(again.map(Incoming::Forged)).collect()
        }
        _ => vec![incoming],
    })
}
