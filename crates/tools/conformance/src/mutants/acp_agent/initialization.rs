//! Mutants of the checks in `acp_agent/connection/initialization.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "INIT-06" => [
        "answers another version each time" => {
            let mut version = 2;
            faults::result_of("initialize", move |result| {
                version += 1;
                result["protocolVersion"] = json!(version);
            })
        },
    ],
];
