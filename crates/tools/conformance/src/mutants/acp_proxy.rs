//! Mutants of ACP proxies that need code.

use crate::acp_messages::SUCCESSOR;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "PX-04" => [
        "puts the whole message into the params" => faults::each_call(SUCCESSOR, |message| {
        if message["params"]["method"] == "_conformance/ask" {
            message["params"] = json!({"method": SUCCESSOR, "params": message["params"].take()});
        }
    }),
        "wraps the client's result" => faults::response_to(SUCCESSOR, |response| {
        if let Some(result) = response.get_mut("result") {
            *result = json!({"result": result.take()});
        }
    }),
    ],
];
