//! Mutants of the checks in `mcp_client/caching.rs`.

use crate::mcp_client::caching::LIST;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CAC-08" => [
        "fetches a list that became stale" => faults::says_after_call(LIST, |m| {
            let mut again = m.clone();
            again["id"] = json!("again");
            vec![again]
        }),
    ],
];
