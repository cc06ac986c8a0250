//! The questions of `agentwire server` to its client.

use serde_json::{Value, json};

use crate::conversation::Conversation;

/// Our server, with a client of these capabilities.
fn with(capabilities: Value) -> Conversation {
    let mut server = Conversation::with(&["server"]);
    let client = json!({ "name": "test", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
    assert!(server.ask("initialize", hello)["result"].is_object());
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    server
}

fn end(mut server: Conversation) {
    server.program.close_stdin();
    server.program.end(crate::program::SOON).exits(0);
}

#[test]
fn a_client_is_asked_for_its_folders() {
    let mut server = with(json!({ "roots": {} }));
    let call = server.request("tools/call", json!({ "name": "roots" }));
    let question = server.receive("a question", |message| message["method"] == "roots/list");
    let roots = json!([{ "uri": "file:///work", "name": "Work" }, { "uri": "file:///other" }]);
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": roots } }));
    let result = &server.answer(call)["result"];
    assert_eq!(result["structuredContent"], json!({ "roots": roots }), "{result}");
    assert!(
        result["content"][0]["text"].as_str().is_some_and(|text| text.contains("file:///work")),
        "{result}"
    );
    end(server);
}

#[test]
fn a_client_that_cannot_be_asked_is_not_asked() {
    let mut server = with(json!({}));
    let result = &server.ask("tools/call", json!({ "name": "roots" }))["result"];
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str();
    assert!(text.is_some_and(|text| text.starts_with("cannot ask for the folders: ")), "{result}");
    let said = server.program.stdout.text();
    assert!(!said.contains("\"method\":\"roots/list\""), "{said}");
    let modern = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    // Without a session the question is the answer.
    let result = &server.ask("tools/call", json!({ "name": "roots", "_meta": modern }))["result"];
    assert_eq!(result["inputRequests"]["roots"]["method"], "roots/list", "{result}");
    end(server);
}
