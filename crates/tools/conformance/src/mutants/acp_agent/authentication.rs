//! Mutants of the checks in `acp_agent/connection/authentication.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "AUTH-10" => [
        "offers one twice" => faults::result_of("initialize", |result| if let Some(methods) = result["authMethods"].as_array_mut() {
            let again = methods.first().cloned();
            methods.extend(again);
        }),
    ],
];
