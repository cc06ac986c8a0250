//! Mutants of the checks in `acp_agent/connection/jsonrpc.rs`.

use crate::acp_agent::connection::jsonrpc::LARGE;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-01" => [
        "makes strings of numbers" => faults::each_response(|m| if let Some(id) = m["id"].as_i64().filter(|id| *id < 9) { m["id"] = json!(id.to_string()) }),
        "makes positive numbers" => faults::each_response(|m| if let Some(id) = m["id"].as_i64() { m["id"] = json!(id.abs()) }),
        "rounds large numbers" => faults::each_response(|m| if m["id"] == LARGE { m["id"] = json!(LARGE + 1) }),
    ],
    "RPC-06" => [
        "breaks down" => broken_after("_conformance/unknown"),
    ],
    "RPC-12" => [
        "breaks down" => broken_after("_conformance/unknown"),
    ],
];

/// Answers nothing more once the suite has sent a message of a method.
pub(crate) fn broken_after(method: &'static str) -> Box<dyn crate::fault::Fault> {
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&broken);
    let sees = faults::says_at(method, move |_| {
        seen.store(true, std::sync::atomic::Ordering::Relaxed);
        Vec::new()
    });
    let loses = faults::each_message(move |m| {
        if broken.load(std::sync::atomic::Ordering::Relaxed) && m["error"]["code"] != -32601 {
            *m = Value::Null;
        }
    });
    faults::both(sees, loses)
}
