//! Mutants of the checks in `mcp_server/features/logging.rs`.

use crate::fault::Fault;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::Value;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "LOG-01" => [
        "logs and does not declare it" => without_capability(),
    ],
];

pub(crate) fn without_capability() -> Box<dyn Fault> {
    let remove = |result: &mut Value| {
        result["capabilities"].as_object_mut().map(|all| all.remove("logging"));
    };
    faults::both(
        faults::result_of("initialize", move |result| remove(result)),
        faults::result_of("server/discover", move |result| remove(result)),
    )
}
