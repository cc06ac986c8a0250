//! Mutants of the checks in `acp_agent/turn/prompt.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "PR-07" => [
        "uses a new id for each chunk" => { let mut count = 0; faults::each_call("session/update", move |m| {
            count += 1;
            m["params"]["update"]["messageId"] = json!(count.to_string());
        }) },
    ],
    "PLAN-01" => [
        "reports no plan" => drops("plan"),
        "reports no progress" => first_only(),
    ],
];

pub(crate) fn drops(kind: &'static str) -> Box<dyn crate::fault::Fault> {
    faults::each_call("session/update", move |m| {
        let known = m["params"]["update"]["sessionUpdate"].as_str().unwrap_or_default();
        if known.starts_with(kind) {
            *m = Value::Null;
        }
    })
}

/// Keeps the first plan only.
pub(crate) fn first_only() -> Box<dyn crate::fault::Fault> {
    let mut count = 0;
    faults::each_call("session/update", move |m| {
        let known = m["params"]["update"]["sessionUpdate"].as_str().unwrap_or_default();
        if known.starts_with("plan") {
            count += 1;
            if count > 1 {
                *m = Value::Null;
            }
        }
    })
}
