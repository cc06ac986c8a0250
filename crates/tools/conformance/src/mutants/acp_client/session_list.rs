//! Mutants of the checks in `acp_client/session_list.rs`.

use crate::mutants::acp_client::shared;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "LIST-06" => [
        "asks for one page more" => shared::adds_after("session/list", |message| {
            let last = message["params"]["cursor"] == "page-3";
            let more = json!({"jsonrpc": "2.0", "id": "forged", "method": "session/list", "params": {"cursor": "page-4"}});
            if last { vec![more] } else { Vec::new() }
        }),
    ],
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
