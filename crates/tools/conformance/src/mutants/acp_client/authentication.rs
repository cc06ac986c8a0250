//! Mutants of the checks in `acp_client/authentication.rs`.

use crate::mutants::acp_client::shared;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "AUTH-01" => [
        "takes null for support" => {
            let mut count = 0;
            shared::adds_after("initialize", move |_| {
                count += 1;
                let logout = json!({"jsonrpc": "2.0", "id": "forged", "method": "logout", "params": {}});
                if count > 1 { vec![logout] } else { Vec::new() }
            })
        },
    ],
];
