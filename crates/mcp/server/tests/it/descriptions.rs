//! Clients whose description of themselves is malformed in part.

use std::sync::{Arc, Mutex};

use agentwire_mcp_server::{Context, NoArguments, Server, ServerWarning};
use serde_json::{Value, json};

use crate::raw::{NEWEST, alone_with, with_raw};
use crate::subject::subject;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";

/// Malformed descriptions of a client, which are read without their malformed parts: the capabilities, the client's info, and
/// the text that `describe` returns for them.
fn malformed_descriptions() -> Vec<(Value, Value, &'static str)> {
    let named = |more: Value| {
        let mut info = json!({ "name": "raw", "version": "1" });
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        info
    };
    let raw = || named(json!({}));
    vec![
        (json!({ "experimental": [] }), raw(), "raw 1: experimental"),
        (json!({ "extensions": [] }), raw(), "raw 1:"),
        (json!({ "elicitation": { "form": [] } }), raw(), "raw 1: elicitation elicitation.form"),
        (
            json!({ "elicitation": true, "roots": 5, "sampling": "x" }),
            raw(),
            "raw 1: roots sampling elicitation elicitation.form",
        ),
        (json!({ "elicitation": false, "roots": null }), raw(), "raw 1:"),
        (json!({ "roots": { "listChanged": "yes" } }), raw(), "raw 1: roots"),
        (json!([]), raw(), "raw 1:"),
        (json!({}), named(json!({ "title": 5, "icons": [{ "url": "x" }] })), "raw 1:"),
        (json!({}), json!({ "name": "raw" }), "raw :"),
        (json!({}), json!([]), " :"),
    ]
}

fn describes() -> (Server, Arc<Mutex<Vec<ServerWarning>>>) {
    let given = Arc::new(Mutex::new(Vec::new()));
    let receiver = given.clone();
    let server = Server::new("subject", "1").tool("describe", "", async |_: NoArguments, cx: Context| {
        let client = cx.client();
        let who = client.info().map(|info| format!("{} {}", info.name, info.version)).unwrap_or_default();
        let all =
            ["roots", "roots.listChanged", "sampling", "elicitation", "elicitation.form", "experimental"];
        let has = all.into_iter().filter(|path| client.capabilities().has(path));
        has.fold(format!("{who}:"), |text, path| format!("{text} {path}"))
    });
    (server.on_warning(move |warning| receiver.lock().unwrap().push(warning)), given)
}

#[tokio::test(start_paused = true)]
async fn malformed_description_of_a_client_costs_no_session() {
    for (capabilities, info, expected) in malformed_descriptions() {
        let (server, given) = describes();
        with_raw(&server, async |raw| {
            let params = json!({ "protocolVersion": NEWEST, "capabilities": capabilities, "clientInfo": info, "_meta": 5 });
            raw.result_of("initialize", params).await;
            raw.notify("notifications/initialized", json!({})).await;
            let call = json!({ "name": "describe", "_meta": 5 });
            let result = raw.result_of("tools/call", call).await;
            assert_eq!(result["content"][0]["text"], expected, "{capabilities} {info}");
        })
        .await;
        let given = given.lock().unwrap();
        assert!(matches!(&given[..], [ServerWarning::ClientDescription(_)]), "{given:?}");
        assert!(given[0].to_string().contains("_meta: "), "{}", given[0]);
    }
    with_raw(&subject(), async |raw| {
        for missing in [json!({ "protocolVersion": NEWEST, "capabilities": null, "clientInfo": null })] {
            raw.result_of("initialize", missing).await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn malformed_description_of_a_client_costs_no_modern_request() {
    for (capabilities, info, expected) in malformed_descriptions() {
        let (server, given) = describes();
        with_raw(&server, async |raw| {
            for _ in 0..2 {
                let more = json!({ CAPABILITIES: capabilities, INFO: info });
                let result =
                    raw.result_of("tools/call", alone_with(json!({ "name": "describe" }), more)).await;
                assert_eq!(result["content"][0]["text"], expected, "{capabilities} {info}");
            }
        })
        .await;
        assert!(given.lock().unwrap().len() <= 1, "once for each kind");
    }
    let (server, given) = describes();
    with_raw(&server, async |raw| {
        let more = json!({ CAPABILITIES: { "roots": "\u{1b}[2J" }, INFO: "raw" });
        raw.result_of("tools/call", alone_with(json!({ "name": "describe" }), more)).await;
    })
    .await;
    let given = given.lock().unwrap();
    let text = given[0].to_string();
    assert!(text.contains("clientCapabilities.roots: ") && text.contains("clientInfo: "), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
