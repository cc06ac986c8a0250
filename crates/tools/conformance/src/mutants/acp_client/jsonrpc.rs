//! Mutants of the checks in `acp_client/connection/jsonrpc.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-01" => [
        "makes a string of each id" => faults::each_response(|response| {
            if let Some(id) = response["id"].as_i64().filter(|id| *id < 9) {
                response["id"] = json!(id.to_string());
            }
        }),
        "makes a number of an id that is one" => faults::each_response(|response| {
            if let Some(number) = response["id"].as_str().and_then(|id| id.parse::<i64>().ok()) {
                response["id"] = json!(number);
            }
        }),
    ],
    "RPC-02" => [
        "answers with neither" => faults::each_response(|response| {
            *response = json!({"jsonrpc": "2.0", "id": response["id"]});
        }),
    ],
    "RPC-11" => [
        "says nothing" => faults::each_response(|response| {
            if matches!(response["error"]["code"].as_i64(), Some(-32700 | -32600)) {
                *response = Value::Null;
            }
        }),
    ],
];
