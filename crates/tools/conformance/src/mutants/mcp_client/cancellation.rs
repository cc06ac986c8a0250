//! Mutants of the checks in `mcp_client/cancellation.rs`.

use crate::fault::Fault;
use crate::mcp_client::cancellation::CANCELLED;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CAN-04" => [
        "answers what was cancelled" => answers_late(),
    ],
];

/// Answers a cancelled question after the next ping.
pub(crate) fn answers_late() -> Box<dyn Fault> {
    let cancelled: Arc<Mutex<Option<Value>>> = Arc::default();
    let id = Arc::clone(&cancelled);
    let notes = faults::says_at(CANCELLED, move |m| {
        *id.lock().unwrap_or_else(PoisonError::into_inner) = Some(m["params"]["requestId"].clone());
        Vec::new()
    });
    let says = faults::says_after_response_to("ping", move |_| {
        let id = cancelled.lock().unwrap_or_else(PoisonError::into_inner).take();
        let answer = |id| json!({"jsonrpc": "2.0", "id": id, "result": {"action": "cancel"}});
        id.into_iter().map(answer).collect()
    });
    faults::both(notes, says)
}
