//! Mutants of the checks in `mcp_server/streamable_http/sessions.rs`.

use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-38" => [
        "has a space in its session ids" => renames_sessions(|_| "session 1".to_owned()),
    ],
    "HTP-38b" => [
        "counts its sessions" => renames_sessions(|number| format!("session-0000000000000000-{number}")),
        "gives every client the same id" => renames_sessions(|_| "0123456789abcdef0123456789abcdef".to_owned()),
    ],
    "HTP-56" => [
        "tells every session of an update" => faults::in_response_to(|request| request.starts_with("GET"), |incoming| match incoming {
            Incoming::Head(head) => vec![Incoming::Head(head), Incoming::Forged(json!({
                "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "test://watched-resource"}}))],
            other => vec![other],
        }),
    ],
];

/// Gives the sessions other ids, from their number on.
pub(crate) fn renames_sessions(name: fn(usize) -> String) -> Box<dyn Fault> {
    let mut number = 0;
    faults::each_head(move |head| {
        if head.header("mcp-session-id").is_some() {
            number += 1;
            head.set("mcp-session-id", &name(number));
        }
    })
}
