//! Mutants of the checks in `acp_client/options.rs`.

use crate::mutants::acp_client::shared;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CFG-07" => [
        "sets an option of an unknown type" => shared::adds_after("session/set_config_option", |message| {
            let mut forged = message.clone();
            forged["id"] = json!("forged");
            forged["params"]["configId"] = json!("volume");
            vec![forged]
        }),
    ],
];
