//! Mutants of the checks in `mcp_server/utilities/cancellation.rs`.

use crate::fault::Fault;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CAN-01" => [
        "cancels a request of its client" => cancels(|message| json!({"requestId": message["id"]})),
        "cancels what it never asked" => cancels(|_| json!({"requestId": "never"})),
    ],
    "CAN-03" => [
        "stops waiting, but not the work" => works_on(),
    ],
    "CAN-05" => [
        "is unusable afterwards" => unusable_after(1),
        "is unusable after a malformed notification" => unusable_after(4),
    ],
    "CAN-07" => [
        "is unusable afterwards" => unusable_after(2),
    ],
    "CAN-09b" => [
        "says no id" => cancels(|_| json!({"reason": "enough"})),
        "says an id that is a number with a fraction" => cancels(|_| json!({"requestId": 1.5})),
    ],
    "CAN-10" => [
        "cancels a call" => cancels(|message| json!({"requestId": message["id"]})),
    ],
];

/// Sends a cancelled notification as soon as its tools are listed.
pub(crate) fn cancels(mut params: impl FnMut(&Value) -> Value + Send + 'static) -> Box<dyn Fault> {
    faults::says_at("tools/list", move |message| {
        vec![json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params(message)})]
    })
}

/// Responds to nothing after so many cancelled notifications.
pub(crate) fn unusable_after(count: usize) -> Box<dyn Fault> {
    let cancelled: Arc<AtomicUsize> = Arc::default();
    let counts = Arc::clone(&cancelled);
    let notes = faults::says_at("notifications/cancelled", move |_| {
        counts.fetch_add(1, Ordering::Relaxed);
        Vec::new()
    });
    let loses = faults::each_response(move |message| {
        if cancelled.load(Ordering::Relaxed) >= count {
            *message = Value::Null;
        }
    });
    faults::both(notes, loses)
}

/// Does not respond to a cancelled request, but goes on with it.
pub(crate) fn works_on() -> Box<dyn Fault> {
    let cancelled: Arc<Mutex<Vec<Value>>> = Arc::default();
    let ids = Arc::clone(&cancelled);
    let notes = faults::says_at("notifications/cancelled", move |message| {
        ids.lock().unwrap_or_else(PoisonError::into_inner).push(message["params"]["requestId"].clone());
        Vec::new()
    });
    let loses = faults::each_response(move |message| {
        if cancelled.lock().unwrap_or_else(PoisonError::into_inner).contains(&message["id"]) {
            *message = Value::Null;
        }
    });
    faults::both(
        faults::ignores(|message| message["method"] == "notifications/cancelled"),
        faults::both(notes, loses),
    )
}
