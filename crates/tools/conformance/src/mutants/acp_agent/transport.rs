//! Mutants of the checks in `acp_agent/connection/transport.rs`.

use crate::fault::Incoming;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TR-01" => [
        "writes Latin-1" => faults::each_line(|line| if let Some(at) = line.iter().position(|byte| *byte == b'"') { line.insert(at + 1, 0xe9) }),
    ],
    "TR-02" => [
        "prints JSON over several lines" => prints_over_two_lines(),
    ],
    "TR-03" => [
        "prints its log to standard output" => logs(),
        "prints JSON that is no message" => faults::each_message(|m| *m = json!({"level": "info", "event": m})),
    ],
    "TR-06" => [
        "wraps each message" => faults::each_message(|m| *m = json!([m])),
    ],
    "TR-07" => [
        "is silent" => faults::each_line(Vec::clear),
    ],
];

pub(crate) fn logs() -> Box<dyn crate::fault::Fault> {
    faults::each_line(|line| *line = [b"INFO ", line.as_slice()].concat())
}

pub(crate) fn prints_over_two_lines() -> Box<dyn crate::fault::Fault> {
    faults::incoming(|incoming| match incoming {
        Incoming::Line(line) if line.starts_with(b"{") => {
            vec![Incoming::Line(b"{".to_vec()), Incoming::Line(line[1..].to_vec())]
        }
        other => vec![other],
    })
}
