//! Mutants of the checks in `acp_client/session/list.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "LIST-07" => [
        "trims the cursor" => faults::each_call("session/list", |message| {
            if let Some(cursor) = message["params"]["cursor"].as_str() {
                message["params"]["cursor"] = json!(cursor.trim());
            }
        }),
        "encodes the cursor" => faults::each_call("session/list", |message| {
            if let Some(cursor) = message["params"]["cursor"].as_str() {
                message["params"]["cursor"] = json!(cursor.replace('/', "%2F"));
            }
        }),
    ],
];
