//! Mutants of the checks in `acp_client/turn/content.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "CON-01" => [
        "sends data that is no base64" => edits_block("image", |block| block["data"] = json!("data:image/png;base64,AA==")),
        "leaves out the type of an image" => edits_block("image", |block| block["mimeType"] = Value::Null),
        "embeds both a text and a blob" => edits_block("resource", |block| block["resource"]["blob"] = json!("AA==")),
    ],
];

pub(crate) fn edits_block(kind: &'static str, edit: fn(&mut Value)) -> Box<dyn crate::fault::Fault> {
    faults::each_call("session/prompt", move |message| {
        let blocks = message["params"]["prompt"].as_array_mut().into_iter().flatten();
        blocks.filter(|block| block["type"] == kind).for_each(edit);
    })
}
