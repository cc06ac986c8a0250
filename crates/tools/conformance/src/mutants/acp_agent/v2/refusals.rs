//! Mutants of the checks in `acp_agent/v2/refusals.rs`.

use crate::mutants::acp_agent::elicitation::takes_for;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "V2-47" => [
        "accepts" => takes_for_accept(),
    ],
];

/// Takes each answer but the first for an accepted one.
pub(crate) fn takes_for_accept() -> Box<dyn crate::fault::Fault> {
    takes_for("accept")
}
