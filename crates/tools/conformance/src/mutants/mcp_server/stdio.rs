//! Mutants of the checks in `mcp_server/stdio.rs`.

use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::Value;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "STD-01" => [
        "indents its messages" => indents(),
        "writes two messages on one line" => joins_lines(),
    ],
    "STD-02" => [
        "logs to standard output" => logs("INFO listing tools"),
        "logs JSON to standard output" => logs("{\"level\":\"info\",\"text\":\"listing tools\"}"),
    ],
];

pub(crate) fn indents() -> Box<dyn Fault> {
    faults::incoming(|incoming| match incoming {
        Incoming::Line(line) => {
            let message: Value = serde_json::from_slice(&line).unwrap_or_default();
            let text = serde_json::to_string_pretty(&message).unwrap_or_default();
            text.lines().map(|line| Incoming::Line(line.into())).collect()
        }
        other => vec![other],
    })
}

pub(crate) fn joins_lines() -> Box<dyn Fault> {
    faults::each_line(|line| {
        let again = line.clone();
        line.extend(again);
    })
}

pub(crate) fn logs(text: &'static str) -> Box<dyn Fault> {
    faults::incoming(move |incoming| match incoming {
        Incoming::Line(line) => vec![Incoming::Line(text.into()), Incoming::Line(line)],
        other => vec![other],
    })
}
