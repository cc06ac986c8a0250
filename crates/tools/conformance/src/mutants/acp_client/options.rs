//! Mutants of the checks in `acp_client/session/options.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CFG-07" => [
        "sets an option of an unknown type" => faults::says_after_call("session/set_config_option", |message| {
            let mut forged = message.clone();
            forged["id"] = json!("forged");
            forged["params"]["configId"] = json!("volume");
            vec![forged]
        }),
    ],
];
