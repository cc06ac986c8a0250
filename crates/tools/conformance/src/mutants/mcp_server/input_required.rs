//! Mutants of the checks in `mcp_server/features/input_required.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "MRT-04" => [
        "asks by another method" => edit_requests(|request| request["method"] = json!("ping")),
        "leaves out what it asks" => edit_requests(|request| {
            request.as_object_mut().map(|request| request.remove("params"));
        }),
    ],
    "MRT-04b" => [
        "puts whole messages into its question" => edit_requests(|request| {
            request["jsonrpc"] = json!("2.0");
            request["id"] = json!(1);
        }),
    ],
];

pub(crate) fn edit_requests(
    mut edit: impl FnMut(&mut Value) + Send + 'static,
) -> Box<dyn crate::fault::Fault> {
    faults::result_of("tools/call", move |result| {
        let requests = result["inputRequests"].as_object_mut();
        requests.into_iter().flatten().for_each(|(_, request)| edit(request));
    })
}
