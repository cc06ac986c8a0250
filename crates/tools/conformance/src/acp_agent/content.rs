//! Checks of agents: content.

use base64::Engine as _;
use serde_json::{Value, json};

use super::Agent;
use super::messages::each_content;
use crate::check::{ANY, Check, audit};
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[audit!("CON-01", content_is_sound, ANY, [
    "sends data that is no base64" => sends(json!({"type": "image", "mimeType": "image/png", "data": "no base64!"})),
    "sends a blob that is no base64" => sends(json!({"type": "resource", "resource": {"uri": "a:b", "blob": "no base64!"}})),
])];

fn sends(block: Value) -> Box<dyn crate::fault::Fault> {
    faults::each_call("session/update", move |m| {
        let update = &mut m["params"]["update"];
        if update["content"].is_object() {
            update["content"] = block.clone();
        }
    })
}

/// Whether a text is base64, padded or not.
pub(super) fn is_base64(text: &str) -> bool {
    let engines =
        [&base64::engine::general_purpose::STANDARD, &base64::engine::general_purpose::STANDARD_NO_PAD];
    engines.into_iter().any(|engine| engine.decode(text).is_ok())
}

/// PR-06 is about missing fields, and RPC-08 about a resource with both a text and a blob.
fn content_is_sound(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        each_content(&message, &mut |block| {
            let data = match block["type"].as_str() {
                Some("image" | "audio") => &block["data"],
                Some("resource") => &block["resource"]["blob"],
                _ => &Value::Null,
            };
            ensure!(data.as_str().is_none_or(is_base64), "data that is base64", "`{message}`");
            Ok(())
        })?;
    }
    Ok(())
}
