//! Mutants of the checks in `mcp_server/modern_http/state.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-46" => [
        "lists its tools in another order" => {
            let mut requests = 0;
            faults::result_of("tools/list", move |result| {
                requests += 1;
                if let (2, Some(tools)) = (requests, result["tools"].as_array_mut()) {
                    tools.reverse();
                }
            })
        },
    ],
];
