//! Mutants of the checks in `acp_agent/turn/tool_calls.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TC-04" => [
        "goes back" => { let mut count = 0; faults::each_call("session/update", move |m| if m["params"]["update"]["sessionUpdate"] == "tool_call_update" {
            count += 1;
            m["params"]["update"]["status"] = json!(if count % 2 == 1 { "completed" } else { "in_progress" });
        }) },
    ],
    "TC-11" => [
        "offers one option twice" => twice(),
    ],
];

/// Offers the first option twice.
pub(crate) fn twice() -> Box<dyn crate::fault::Fault> {
    faults::each_call("session/request_permission", |m| {
        if let Some(options) = m["params"]["options"].as_array_mut() {
            let again = options.first().cloned();
            options.extend(again);
        }
    })
}
