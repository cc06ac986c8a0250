//! The content of prompts.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[check!(content_is_encoded, ANY)];

async fn content_is_encoded(client: AcpClient) -> Outcome {
    if !client.has_step("driver") {
        return Err(Stop::not_applicable("the client cannot be made to send other content than text"));
    }
    let blocks = json!([
        {"type": "text", "text": "hello"},
        {"type": "image", "data": "AAEC", "mimeType": "image/png"},
        {"type": "audio", "data": "AAEC", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "a"}},
        {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAEC"}},
    ]);
    let turn = client.prompted_with(json!({"text": "hello", "blocks": blocks}), client.script()).await?;
    for block in turn.prompt["params"]["prompt"].as_array().into_iter().flatten() {
        match block["type"].as_str().unwrap_or_default() {
            "image" | "audio" => {
                let is_right = is_base64(&block["data"]) && block["mimeType"].is_string();
                ensure!(is_right, "data in base64 with a MIME type", "`{block}`");
            }
            "resource" => {
                let resource = &block["resource"];
                let is_right = resource["text"].is_string() != is_base64(&resource["blob"]);
                ensure!(is_right, "either a text or a blob in base64", "`{block}`");
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_base64(data: &Value) -> bool {
    data.as_str().is_some_and(|data| BASE64_STANDARD.decode(data).is_ok())
}
