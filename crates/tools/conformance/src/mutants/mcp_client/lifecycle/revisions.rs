//! Mutants of the checks in `mcp_client/lifecycle/revisions.rs`.

use crate::fault::Incoming;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "LIF-21" => [
        "hangs after a refusal" => faults::incoming(|incoming| match incoming {
            Incoming::Outcome(_) => Vec::new(),
            other => vec![other],
        }),
    ],
];
