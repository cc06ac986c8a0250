//! Mutants of the checks in `mcp_client/subscriptions.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SUB-04" => [
        "gives all notifications to one subscription" => mixes_up(),
    ],
    "STD-12" => [
        "gives all notifications to one subscription" => mixes_up(),
    ],
    "SUB-08" => [
        "reports what it asked for" => faults::each_outcome(|o| for change in o["result"].as_array_mut().into_iter().flatten() {
            if change.get("acknowledged").is_some() {
                change["acknowledged"]["promptsListChanged"] = json!(true);
            }
        }),
    ],
];

pub(crate) fn mixes_up() -> Box<dyn crate::fault::Fault> {
    faults::each_outcome(|outcome| {
        for change in outcome["result"].as_array_mut().into_iter().flatten() {
            if change["method"] == "notifications/resources/updated" {
                change["of"] = json!(0);
            }
        }
    })
}
