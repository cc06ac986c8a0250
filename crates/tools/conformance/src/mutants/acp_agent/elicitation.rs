//! Mutants of the checks in `acp_agent/client_methods/elicitation.rs`.

use crate::acp_agent::client_methods::elicitation::ENTERED;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "EL-09" => [
        "waits for another answer" => later_ends(|m| *m = Value::Null),
    ],
    "EL-10" => [
        "fails" => later_ends(fails),
    ],
    "EL-11" => [
        "uses one id for all" => faults::says_before_response_to("session/prompt", |_| {
            let visit = |id| json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {"mode": "url", "elicitationId": "a"}});
            vec![visit("one"), visit("two")]
        }),
    ],
    "EL-17" => [
        "fails" => later_ends(fails),
    ],
    "EL-19" => [
        "accepts" => takes_for("accept"),
    ],
];

/// Changes the end of each prompt after the first one: the response in version 1, the last update in version 2.
pub(crate) fn later_ends(edit: fn(&mut Value)) -> Box<dyn crate::fault::Fault> {
    let mut count = 0;
    faults::each_message(move |m| {
        if ["/result/stopReason", "/params/update/stopReason"].iter().any(|at| m.pointer(at).is_some()) {
            count += 1;
            if count > 1 {
                edit(m);
            }
        }
    })
}

pub(crate) fn fails(end: &mut Value) {
    match end.pointer_mut("/params/update/stopReason") {
        Some(reason) => *reason = json!("error"),
        None => faults::refuse(end, -32603),
    }
}

/// An agent that answers an unknown action like an accepted form.
pub(crate) fn takes_for(_: &str) -> Box<dyn crate::fault::Fault> {
    faults::each_call("session/update", |m| {
        // The content of a tool call is a list.
        if let Some(text) = m.pointer_mut("/params/update/content/text").filter(|text| text.is_string()) {
            *text = json!(format!("accept {ENTERED}"));
        }
    })
}
