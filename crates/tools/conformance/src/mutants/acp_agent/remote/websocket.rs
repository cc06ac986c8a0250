//! Mutants of the checks in `acp_agent/remote/websocket.rs`.

use crate::acp_agent::remote::websocket::BINARY;
use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HT-14" => [
        "sends binary frames" => sends_binary_frames(),
        "reads binary frames" => answers_binary_frames(),
        "ends at a binary frame" => ends_at_binary_frames(),
    ],
];

pub(crate) fn sends_binary_frames() -> Box<dyn Fault> {
    faults::incoming(|incoming| match incoming {
        Incoming::Frame { bytes, .. } => vec![Incoming::Frame { is_text: false, bytes }],
        other => vec![other],
    })
}

pub(crate) fn answers_binary_frames() -> Box<dyn Fault> {
    faults::says_at("_conformance/unknown", |request| {
        let error = json!({"code": -32601, "message": "method not found"});
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        if request["id"] == BINARY { vec![answer] } else { Vec::new() }
    })
}

/// Answers nothing more after the first result.
pub(crate) fn ends_at_binary_frames() -> Box<dyn Fault> {
    let mut has_begun = false;
    faults::incoming(move |incoming| match incoming {
        Incoming::Frame { .. } if std::mem::replace(&mut has_begun, true) => vec![Incoming::Closed],
        other => vec![other],
    })
}
