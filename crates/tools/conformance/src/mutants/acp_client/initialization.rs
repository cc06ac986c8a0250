//! Mutants of the checks in `acp_client/connection/initialization.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "INIT-02b" => [
        "leaves out its capabilities" => faults::each_call("initialize", |message| {
            message["params"] = json!({"protocolVersion": message["params"]["protocolVersion"]});
        }),
    ],
];
