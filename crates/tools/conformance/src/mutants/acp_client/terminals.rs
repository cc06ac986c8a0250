//! Mutants of the checks in `acp_client/client_methods/terminals.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TERM-06" => [
        "forgets a terminal that was killed" => forgets_killed(),
    ],
];

pub(crate) fn forgets_killed() -> Box<dyn crate::fault::Fault> {
    let killed = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&killed);
    let sees = faults::says_at("terminal/kill", move |_| {
        seen.store(true, std::sync::atomic::Ordering::Relaxed);
        Vec::new()
    });
    let forgets = faults::response_to("terminal/output", move |response| {
        if killed.load(std::sync::atomic::Ordering::Relaxed) {
            faults::refuse(response, -32602);
        }
    });
    faults::both(sees, forgets)
}
