//! Mutants of ACP conductors that need code.

use crate::acp_messages::SUCCESSOR;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "PX-04" => [
        "passes envelopes on as they are" => faults::each_call("_conformance/ask", |message| {
        message["params"] = json!({"method": message["method"].take(), "params": message["params"].take()});
        message["method"] = json!(SUCCESSOR);
    }),
        "passes the agent's requests on without an envelope" => faults::each_call(SUCCESSOR, |message| {
        if message["params"]["method"] == "_conformance/ask" {
            let mut inner = message["params"].take();
            message["method"] = inner["method"].take();
            message["params"] = inner["params"].take();
        }
    }),
        "wraps results" => faults::response_to(SUCCESSOR, |response| {
        if let Some(result) = response.get_mut("result") {
            *result = json!({"result": result.take()});
        }
    }),
    ],
];
