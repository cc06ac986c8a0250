//! Mutants of the checks in `mcp_server/features/completion.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CMP-01" => [
        "completes and does not declare it" => {
            let remove = |result: &mut Value| {
                result["capabilities"].as_object_mut().map(|all| all.remove("completions"));
            };
            faults::both(
                faults::result_of("initialize", move |result| { remove(result); }),
                faults::result_of("server/discover", move |result| { remove(result); }),
            )
        },
    ],
    "CMP-02" => [
        "sends all values" => faults::result_of("completion/complete", |result| {
            let all: Vec<String> = (0..101).map(|number| number.to_string()).collect();
            result["completion"]["values"] = json!(all);
        }),
    ],
];
