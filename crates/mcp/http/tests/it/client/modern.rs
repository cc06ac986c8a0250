//! The revisions without sessions.

use agentwire_transport::Packet;
use serde_json::{Value, json};

use super::mock::{ACCEPTED, EVENTS, Mock, Received, closed, event, ok, result};

fn request(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn headers(request: &Received) -> [Option<&str>; 4] {
    ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"].map(|name| request.header(name))
}

/// ST-01, ST-12, ST-13, ST-18, ST-36: the headers repeat the body, and nothing is remembered.
#[tokio::test]
async fn the_headers_repeat_the_body() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let version = Some("2026-07-28");
    for (method, params, name) in [
        ("server/discover", json!({}), None),
        ("tools/list", json!({"name": "x"}), None),
        ("tools/call", json!({"name": "add", "uri": "no"}), Some("add")),
        ("tools/call", json!({"name": "日本"}), Some("=?base64?5pel5pys?=")),
        ("prompts/get", json!({"name": "=?base64?abc?="}), Some("=?base64?PT9iYXNlNjQ/YWJjPz0=?=")),
        ("resources/read", json!({"uri": "file:///a b"}), Some("file:///a b")),
        ("tasks/get", json!({"taskId": "t-1", "name": "no"}), Some("t-1")),
        ("tasks/update", json!({"taskId": "t-1"}), Some("t-1")),
        ("tasks/cancel", json!({"taskId": "t-1"}), Some("t-1")),
    ] {
        client.say(request(1, method, params));
        let request = mock.next().await;
        assert_eq!(headers(&request), [version, Some(method), name, None]);
        assert_eq!(request.header("accept"), Some("application/json, text/event-stream"));
        request.finish(&ok("Mcp-Session-Id: never\r\n", &result(1))).await;
        client.frame().await;
    }
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    let notification = mock.next().await;
    assert_eq!(headers(&notification), [version, Some("notifications/roots/list_changed"), None, None]);
    notification.finish(ACCEPTED).await;
    client.close().await;
    assert!(mock.is_quiet().await, "neither a GET nor a DELETE");
}

/// ST-33: to cancel is to close the stream, and to say nothing.
#[tokio::test]
async fn a_call_is_cancelled_by_closing_its_stream() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    for id in [1_u64, 2] {
        client.say(request(id, "tools/call", json!({"name": "t"})));
        let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
        let call = mock.next().await.open(&(EVENTS.to_owned() + &event("id: 1\n", &note))).await;
        assert_eq!(client.frame().await, note);
        if id == 1 {
            client.packet(Packet::CallerLeft(id.into()));
        } else {
            client.say(
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
            );
        }
        closed(call).await;
        assert!(mock.is_quiet().await && client.hears_nothing().await);
    }
}

/// ST-17: the marked arguments of a tool whose list has passed by; unmarked ones and other tools stay as they are.
#[tokio::test]
async fn marked_arguments_are_repeated() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}
    }});
    let call =
        |name| request(2, "tools/call", json!({"name": name, "arguments": {"region": "日", "query": "q"}}));
    for known in [false, true] {
        client.say(call("t"));
        let request = mock.next().await;
        assert_eq!(request.header("mcp-param-region"), known.then_some("=?base64?5pel?="));
        request.finish(&ok("", &result(2))).await;
        client.frame().await;
        client.say(self::request(1, "tools/list", json!({})));
        let list =
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t", "inputSchema": schema}]}});
        mock.next().await.finish(&ok("", &list)).await;
        assert_eq!(client.frame().await, list);
    }
    client.say(call("other"));
    let request = mock.next().await;
    assert_eq!(request.header("mcp-param-region"), None);
    request.finish(&ok("", &result(2))).await;
}

/// A response that breaks off is not resumed, although it has ids; and no answer is ever sent.
#[tokio::test]
async fn nothing_is_resumed_and_nothing_answered() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.say(request(1, "tools/call", json!({"name": "t"})));
    let ask = json!({"jsonrpc": "2.0", "id": 9, "method": "roots/list"});
    mock.next().await.finish(&(EVENTS.to_owned() + &event("id: 1\nretry: 10\n", &ask))).await;
    assert_eq!(client.frame().await, ask);
    client.say(json!({"jsonrpc": "2.0", "id": 9, "error": {"code": -32601, "message": "no"}}));
    client.failed(1, |_| ()).await;
    assert!(mock.is_quiet().await);
}

/// A probe of the modern revisions, a refusal, and a session on the same transport: the session's id is the one
/// of its own handshake.
#[tokio::test]
async fn a_session_may_follow_a_probe() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.say(request(7, "server/discover", json!({})));
    let refused = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": "no"}});
    mock.next().await.finish(&ok("Mcp-Session-Id: probe\r\n", &refused)).await;
    assert_eq!(client.frame().await, refused);
    mock.session(&mut client).await;
    client.call(1);
    let request = mock.next().await;
    assert_eq!(headers(&request), [Some("2025-11-25"), None, None, Some("s-1")]);
    request.answer().await;
    assert_eq!(client.frame().await, result(1));
}
