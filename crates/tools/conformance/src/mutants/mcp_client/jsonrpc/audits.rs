//! Mutants of the checks in `mcp_client/jsonrpc/audits.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-10" => [
        "gives notifications an id" => faults::each_message(|m| {
            if m["method"].as_str().is_some_and(|method| method.starts_with("notifications/")) {
                m["id"] = json!(77);
            }
        }),
    ],
];
