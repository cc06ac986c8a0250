//! Mutants of the checks in `mcp_server/utilities/progress.rs`.

use crate::fault::{Fault, Incoming};
use crate::mcp_server::utilities::progress::PROGRESS;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "PRG-02" => [
        "turns tokens into texts" => faults::each_call(PROGRESS, |m| {
            if m["params"]["progressToken"].is_number() {
                m["params"]["progressToken"] = json!(m["params"]["progressToken"].to_string());
            }
        }),
    ],
    "PRG-03" => [
        "counts down" => faults::each_call(PROGRESS, |m| {
            let progress = m["params"]["progress"].as_f64().unwrap_or_default();
            m["params"]["progress"] = json!(100.0 - progress);
        }),
    ],
    "PRG-07" => [
        "reports each step" => floods(),
    ],
];

/// Puts two thousand notifications in the place of each.
pub(crate) fn floods() -> Box<dyn Fault> {
    faults::incoming(|incoming| {
        let is_progress = match &incoming {
            Incoming::Line(line) => line.windows(PROGRESS.len()).any(|part| part == PROGRESS.as_bytes()),
            Incoming::Event { event, .. } => event.data.contains(PROGRESS),
            _ => false,
        };
        vec![incoming; if is_progress { 2000 } else { 1 }]
    })
}
