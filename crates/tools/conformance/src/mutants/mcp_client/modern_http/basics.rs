//! Mutants of the checks in `mcp_client/modern_http/mod.rs`.

use crate::mcp_client::modern_http::{CAPABILITIES, INFO, VERSION};
use crate::mutants::faults;
use crate::mutants::mcp_client::http_sse::fallback::listening;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-05" => [
        "leaves out the version" => without(VERSION),
        "leaves out the capabilities" => without(CAPABILITIES),
    ],
    "ST-07" => [
        "leaves out its name" => without(INFO),
    ],
    "ST-12" => [
        "writes the method in capital letters" => faults::each_verb("POST", |request| {
            let method = request.header("mcp-method").unwrap_or_default().to_uppercase();
            request.set("mcp-method", &method);
        }),
    ],
    "ST-25" => [
        "sends a batch" => faults::each_verb("POST", |request| {
            request.body = [b"[", request.body.as_slice(), b"]"].concat();
        }),
        "posts a response" => faults::adds_request(|request| {
            let mut post = request.clone();
            post.body = json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string().into_bytes();
            (request.method == "POST").then_some(post)
        }),
    ],
    "ST-36" => [
        "opens a GET stream" => faults::adds_request(|request| (request.method == "POST").then(|| listening(request))),
    ],
    "ST-44" => [
        "names an extension without a prefix" => faults::each_message(|message| {
            if let Some(Value::Object(capabilities)) = message.pointer_mut(CAPABILITIES) {
                capabilities.insert("extensions".into(), json!({"tasks": {}}));
            }
        }),
    ],
];

/// Removes something from each message.
pub(crate) fn without(pointer: &'static str) -> Box<dyn crate::fault::Fault> {
    faults::each_message(move |message| {
        if let Some((parent, name)) = pointer.rsplit_once('/')
            && let Some(Value::Object(members)) = message.pointer_mut(parent)
        {
            members.remove(&name.replace("~1", "/"));
        }
    })
}
