//! The client and the server against each other.

mod fire;
mod moved;

use agentwire_transport::Packet;
use agentwire_transport_http::{client, server};
use serde_json::{Value, json};

use crate::client::mock::{Client, open};
use crate::server::script::{Heard, Server};

fn call(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn result(id: u64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn progress(at: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "progress", "params": {"at": at}})
}

async fn session(client: &mut Client, version: &str) {
    client.say(call(0, "initialize", json!({"protocolVersion": version})));
    assert_eq!(client.frame().await, result(0, json!({"protocolVersion": version})));
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
}

fn connect(server: &Server) -> Client {
    Client::new(open(client::Config::new(&format!("http://127.0.0.1:{}/mcp", server.port)).unwrap()))
}

#[tokio::test]
async fn a_session_carries_everything() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = Server::start(server::EndpointConfig::new()).await;
        let mut client = connect(&server);
        session(&mut client, version).await;
        server.hears(&Heard::Message("notifications/initialized".into())).await;

        client.say(call(1, "count", json!({"n": 3})));
        for at in 1..=3 {
            assert_eq!(client.frame().await, progress(at));
        }
        assert_eq!(client.frame().await, result(1, json!("counted")));

        client.say(call(2, "announce", json!({"to": "all"})));
        let mut heard = [client.frame().await, client.frame().await];
        heard.sort_by_key(|message| message["id"].as_u64());
        let changed = json!({"jsonrpc": "2.0", "method": "changed", "params": {"to": "all"}});
        assert_eq!(heard, [changed, result(2, json!("announced"))], "on two streams, so in any order");

        client.say(call(3, "ask", json!({})));
        assert_eq!(client.frame().await["method"], "roots/list");
        client.say(json!({"jsonrpc": "2.0", "id": "s-1", "result": {"roots": []}}));
        assert_eq!(client.frame().await, result(3, json!("asked")));

        client.say(call(4, "large", json!({"n": 3_000_000})));
        assert_eq!(client.frame().await["result"].as_str().unwrap().len(), 3_000_000);

        client.close().await;
        server.hears(&Heard::Ended).await;
    }
}

#[tokio::test]
async fn each_modern_request_is_independent() {
    let mut server = Server::start(server::EndpointConfig::new()).await;
    let mut client = connect(&server);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "日本", "arguments": {}, "_meta": meta});
    client.say(call(1, "tools/call", params.clone()));
    assert_eq!(client.frame().await, result(1, params));
    server.hears(&Heard::Ended).await;

    client.say(call(2, "nothing/known", json!({"_meta": meta})));
    assert_eq!(client.frame().await["error"]["code"], -32601);

    client.say(call(3, "wait", json!({"_meta": meta})));
    server.hears(&Heard::Message("wait".into())).await;
    client.packet(Packet::CallerLeft(3_u64.into()));
    server.hears(&Heard::Cancelled(3_u64.into())).await;
    client.close().await;
}
