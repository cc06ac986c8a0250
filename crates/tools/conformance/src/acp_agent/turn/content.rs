//! Checks of agents: content.

use base64::Engine as _;
use serde_json::Value;

use crate::acp_agent::Agent;
use crate::acp_agent::messages::each_content;
use crate::check::{ANY, Check, audit};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[audit!(content_is_sound, ANY)];

/// Whether a text is base64, padded or not.
pub(in crate::acp_agent) fn is_base64(text: &str) -> bool {
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
