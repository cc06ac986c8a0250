//! Mutants of the checks in `mcp_server/features/subscriptions.rs`.

use crate::mcp_server::features::subscriptions::{PROMPTS_CHANGED, SUBSCRIPTION};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SUB-02" => [
        "turns ids into texts" => faults::each_message(|m| {
            if let Some(id @ Value::Number(_)) = m.pointer_mut(SUBSCRIPTION) {
                *id = json!(id.to_string());
            }
        }),
    ],
    "SUB-04" => [
        "has one subscription for each client" => faults::each_message(|m| {
            if m.pointer(SUBSCRIPTION).is_some_and(|id| id == "prompts") && m["method"] == PROMPTS_CHANGED {
                *m = Value::Null;
            }
        }),
    ],
    "SUB-06" => [
        "ends without a result" => faults::response_to("subscriptions/listen", |m| *m = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": m["id"]},
        })),
    ],
];
