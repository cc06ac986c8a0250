//! Mutants of the checks in `acp_client/connection/transport.rs`.

use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TR-01" => [
        "writes Latin-1" => faults::each_line(|line| line.push(0xe9)),
    ],
    "TR-02" => [
        "writes a line end inside a string" => writes_as(|line| line.replace("\\n", "\n")),
        "writes each message on several lines" => writes_as(|line| line.replacen('{', "{\n", 1)),
    ],
    "TR-04" => [
        "writes a greeting" => faults::each_line(|line| if line.starts_with(b"{") { line.insert(0, b'x') }),
    ],
    "TR-06" => [
        "wraps each message" => faults::each_message(|message| *message = json!([message])),
    ],
    "TR-07" => [
        "writes nothing" => faults::each_line(Vec::clear),
    ],
];

/// Writes each line in another way, which may have several lines.
pub(crate) fn writes_as(edit: fn(&str) -> String) -> Box<dyn Fault> {
    faults::incoming(move |incoming| match incoming {
        Incoming::Line(line) => {
            let text = edit(&String::from_utf8_lossy(&line));
            text.split('\n').map(|line| Incoming::Line(line.as_bytes().to_vec())).collect()
        }
        other => vec![other],
    })
}
