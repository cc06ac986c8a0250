//! Mutants of the checks in `acp_agent/session/options.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CFG-03" => [
        "returns the old value" => { let mut old = Value::Null; faults::each_response(move |m| if m["result"]["configOptions"].is_array() {
            if old.is_null() { old = m["result"]["configOptions"].clone() } else { m["result"]["configOptions"] = old.clone() }
        }) },
    ],
    "CFG-09" => [
        "forgets one of them" => faults::each_message(|m| for place in ["/result/configOptions", "/params/update/configOptions"] {
            if let Some(options) = m.pointer_mut(place).and_then(Value::as_array_mut) {
                for option in options.iter_mut().filter(|option| option["category"] == "mode") { option["currentValue"] = json!("ask") }
            }
        }),
    ],
];
