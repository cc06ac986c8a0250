//! Mutants of the checks in `acp_agent/session/list.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "LIST-09" => [
        "lists all at once" => faults::result_of("session/list", |result| if let Some(sessions) = result["sessions"].as_array_mut() {
            let more = sessions.clone();
            sessions.extend(more);
        }),
    ],
];
