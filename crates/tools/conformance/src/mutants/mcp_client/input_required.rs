//! Mutants of the checks in `mcp_client/input_required.rs`.

use crate::mcp_client::input_required::CALL;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "MRT-10" => [
        "trims the state" => faults::each_call(CALL, |m| if let Some(state) = m["params"]["requestState"].as_str() {
            m["params"]["requestState"] = json!(state.trim());
        }),
    ],
    "MRT-11" => [
        "uses the id again" => {
            let mut first = None;
            faults::each_call(CALL, move |m| m["id"] = first.get_or_insert(m["id"].take()).clone())
        },
    ],
];
