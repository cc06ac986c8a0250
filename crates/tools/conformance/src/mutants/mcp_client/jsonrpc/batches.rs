//! Mutants of the checks in `mcp_client/jsonrpc/batches.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-25" => [
        "sends initialize in an array" => faults::each_call("initialize", |m| *m = json!([m.take()])),
    ],
    "RPC-27" => [
        "sends arrays" => faults::each_call("tools/list", |m| *m = json!([m.take()])),
    ],
];
