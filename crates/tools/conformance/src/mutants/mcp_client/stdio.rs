//! Mutants of the checks in `mcp_client/stdio.rs`.

use crate::fault::Incoming;
use crate::mcp_client::stdio::CODES;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::Value;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "STD-01" => [
        "breaks a message into two lines" => faults::incoming(|incoming| match incoming {
            Incoming::Line(line) => {
                let (start, end) = line.split_at(line.len() / 2);
                vec![Incoming::Line(start.to_vec()), Incoming::Line(end.to_vec())]
            }
            other => vec![other],
        }),
    ],
    "STD-03" => [
        "writes a log to the server" => faults::incoming(|incoming| match incoming {
            Incoming::Line(line) => vec![Incoming::Line(b"starting".to_vec()), Incoming::Line(line)],
            other => vec![other],
        }),
        "writes other JSON to the server" => faults::incoming(|incoming| match incoming {
            Incoming::Line(line) => vec![Incoming::Line(b"{\"level\":\"info\"}".to_vec()), Incoming::Line(line)],
            other => vec![other],
        }),
    ],
    "STD-16b" => [
        "waits for ever" => begins_sessions(CODES.len()),
    ],
];

/// Loses each initialize request after the first ones.
pub(crate) fn begins_sessions(most: usize) -> Box<dyn crate::fault::Fault> {
    let mut sessions = 0;
    faults::each_call("initialize", move |message| {
        sessions += 1;
        if sessions > most {
            *message = Value::Null;
        }
    })
}
