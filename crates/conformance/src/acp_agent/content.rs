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
    "sends no media type" => sends(json!({"type": "audio", "data": "AAAA"})),
    "sends text and data at once" => sends(json!({"type": "resource", "resource": {"uri": "a:b", "text": "a", "blob": "AAAA"}})),
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

fn content_is_sound(_: &Agent, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        each_content(&message, &mut |block| {
            match block["type"].as_str() {
                Some("image" | "audio") => {
                    let is_data = block["data"].as_str().is_some_and(is_base64);
                    ensure!(
                        is_data && block["mimeType"].is_string(),
                        "base64 data with a media type",
                        "`{message}`"
                    );
                }
                Some("resource") => {
                    let resource = &block["resource"];
                    let (text, blob) = (resource["text"].is_string(), resource["blob"].as_str());
                    let is_one = text != blob.is_some() && blob.is_none_or(is_base64);
                    ensure!(is_one, "a text or base64 data in an embedded resource", "`{message}`");
                }
                _ => {}
            }
            Ok(())
        })?;
    }
    Ok(())
}
