//! Mutants of the checks in `mcp_client/tasks.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TSK-12" => [
        "polls twice at once" => faults::says_before_call("tasks/get", |m| vec![m.clone()]),
    ],
    "CAN-08" => [
        "cancels the request instead" => {
            let mut call = Value::Null;
            faults::each_message(move |m| {
                if m["method"] == "tools/call" {
                    call = m["id"].clone();
                } else if m["method"] == "tasks/cancel" {
                    *m = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
                }
            })
        },
    ],
];
