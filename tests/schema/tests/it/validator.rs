//! The validator of whole messages can say no.

use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Packet, duplex};
use futures::SinkExt;
use serde_json::{Value, json};

fn greeted(revision: &str) -> Conversation {
    let mut conversation = Conversation::mcp();
    let info = json!({ "name": "x", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    let result = json!({ "protocolVersion": revision, "capabilities": {}, "serverInfo": info });
    let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    conversation.check(Side::Client, &request).unwrap();
    conversation.check(Side::Server, &json!({ "jsonrpc": "2.0", "id": 0, "result": result })).unwrap();
    conversation
}

/// The fault that the server's answer to a call has.
fn answer(revision: &str, result: Value) -> Result<(), String> {
    let mut conversation = greeted(revision);
    let call = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": { "name": "add" } });
    conversation.check(Side::Client, &call).unwrap();
    conversation.check(Side::Server, &json!({ "jsonrpc": "2.0", "id": "a", "result": result }))
}

#[test]
fn the_agreed_revision_decides() {
    let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
    assert_eq!(answer("2025-06-18", json!({ "content": [link] })), Ok(()));
    assert!(answer("2025-03-26", json!({ "content": [link] })).is_err(), "no links yet");
    assert!(
        answer("2025-03-26", json!({ "content": [], "structuredContent": {} })).is_err(),
        "no such member yet"
    );
    assert!(answer("2025-06-18", json!({ "content": [], "isError": "no" })).is_err());
    assert!(answer("2025-06-18", json!({})).is_err(), "a required member");
    assert_eq!(answer("2025-06-18", json!({ "content": [], "_meta": { "a": 1 } })), Ok(()));
}

#[test]
fn a_side_may_send_only_its_own_messages() {
    let mut acp = Conversation::acp();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {} });
    assert_eq!(acp.check(Side::Client, &list), Ok(()));
    assert!(acp.check(Side::Server, &list).is_err(), "an agent lists no sessions");
    let own = json!({ "jsonrpc": "2.0", "method": "_example.test/own", "params": [1] });
    assert_eq!(acp.check(Side::Server, &own), Ok(()));
    let refusal = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "no" } });
    assert_eq!(acp.check(Side::Server, &refusal), Ok(()));
    assert!(
        acp.check(Side::Server, &json!({ "jsonrpc": "2.0", "id": 7, "result": {} })).is_err(),
        "nobody asked"
    );
    assert!(acp.check(Side::Client, &json!({ "id": 2, "method": "session/list" })).is_err(), "no version");
}

#[test]
#[should_panic(expected = "we sent what the schema does not allow")]
fn a_checked_transport_stops_us() {
    let (near, _far) = duplex(4);
    let mut near = checked(near, greeted("2025-11-25"), Side::Server);
    let bad = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud","data":1}}"#;
    futures::executor::block_on(near.send(Packet::from_json(bad))).unwrap();
}
