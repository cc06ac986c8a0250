//! Mutants of the checks in `mcp_server/jsonrpc/messages.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-06" => [
        "turns ids into strings" => faults::each_response(|m| if m["id"].is_number() { m["id"] = json!(m["id"].to_string()); }),
    ],
    "RPC-09" => [
        "writes codes as texts" => faults::each_response(|m| if m.get("error").is_some() { m["error"]["code"] = json!(m["error"]["code"].to_string()); }),
    ],
];
