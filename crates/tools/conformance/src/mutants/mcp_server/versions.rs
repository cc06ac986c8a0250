//! Mutants of the checks in `mcp_server/lifecycle/versions.rs`.

use crate::fault::Fault;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "LIF-10" => [
        "offers a version that it does not support" => answers_unsupported("2024-01-01"),
    ],
    "LIF-10b" => [
        "offers its oldest version" => answers_unsupported("2024-11-05"),
    ],
];

/// Answers with a version where the suite asks for one of the last century.
pub(crate) fn answers_unsupported(version: &'static str) -> Box<dyn Fault> {
    let asked: Arc<Mutex<Option<Value>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let notes = faults::says_at("initialize", move |message| {
        let is_unsupported = message["params"]["protocolVersion"] == "1999-01-01";
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = is_unsupported.then(|| message["id"].clone());
        Vec::new()
    });
    let edits = faults::response_to("initialize", move |message| {
        if asked.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(&message["id"]) {
            message["result"]["protocolVersion"] = json!(version);
        }
    });
    faults::both(notes, edits)
}
