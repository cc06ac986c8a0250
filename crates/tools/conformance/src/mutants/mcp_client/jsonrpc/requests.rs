//! Mutants of the checks in `mcp_client/jsonrpc/requests.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-04" => [
        "uses one id for each page" => {
            let mut first = None;
            faults::each_call("tools/list", move |m| m["id"] = first.get_or_insert(m["id"].take()).clone())
        },
    ],
    "RPC-06" => [
        "turns ids into strings" => faults::each_response(|m| if m["id"].is_number() { m["id"] = json!(m["id"].to_string()) }),
    ],
];
