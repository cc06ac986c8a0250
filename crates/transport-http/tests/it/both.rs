//! The client and the server against each other.

use std::cell::Cell;
use std::time::Duration;

use agentwire_transport::Packet;
use agentwire_transport_http::client::{self, Reqwest};
use agentwire_transport_http::server;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::mock::Client;
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

#[tokio::test]
async fn a_session_carries_everything() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = Server::start(server::Config::new()).await;
        let mut client =
            Client::new(client::Http::new(&format!("http://127.0.0.1:{}/mcp", server.port)).unwrap());
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
async fn each_stateless_request_stands_alone() {
    let mut server = Server::start(server::Config::new()).await;
    let mut client =
        Client::new(client::Http::new(&format!("http://127.0.0.1:{}/mcp", server.port)).unwrap());
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
    client.packet(Packet::Abandon(3_u64.into()));
    server.hears(&Heard::Abandon(3_u64.into())).await;
    client.close().await;
}

const CALLS: u64 = 40;
const EVENTS_A_CALL: u64 = 50;

/// Stands between the two and cuts every connection at some byte of what the server says. The first event arrives,
/// because without an id there is nothing to go on from.
async fn cut(mut near: TcpStream, port: u16, mut left: usize) {
    let mut far = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (mut from_client, mut from_server) = (vec![0; 4096], vec![0; 4096]);
    while left > 0 {
        tokio::select! {
            read = near.read(&mut from_client) => match read {
                Ok(count) if count > 0 && far.write_all(&from_client[..count]).await.is_ok() => {}
                _ => return,
            },
            read = far.read(&mut from_server) => match read {
                Ok(count) if count > 0 && near.write_all(&from_server[..count.min(left)]).await.is_ok() => {
                    left = left.saturating_sub(count);
                }
                _ => return,
            },
        }
    }
}

/// Every event arrives exactly once and in order, although no connection lives long.
#[tokio::test]
async fn nothing_is_lost_under_fire() {
    for seed in 1..4_u64 {
        let server = Server::start(server::Config::new().retry(Duration::from_millis(1))).await;
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", proxy.local_addr().unwrap());
        // One request a connection, so that no request is cut by what came before it.
        let http = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
        let config = client::Config::new(&url).unwrap().retry_delay(Duration::from_millis(1));
        let mut client = Client::new(config.open_with(Reqwest::from(http)));
        let connections = Cell::new(0);
        let cutting = async {
            let mut state = seed;
            loop {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let near = proxy.accept().await.unwrap().0;
                tokio::spawn(cut(near, server.port, 800 + (state >> 33) as usize % 4000));
                connections.set(connections.get() + 1);
            }
        };
        let hearing = async {
            session(&mut client, "2025-11-25").await;
            for id in 1..=CALLS {
                client.say(call(id, "count", json!({"n": EVENTS_A_CALL, "call": id})));
            }
            let mut answered = 0;
            let mut events = vec![0; EVENTS_A_CALL as usize + 1];
            while answered < CALLS {
                let message = client.frame().await;
                match message["id"].as_u64() {
                    Some(_) => answered += 1,
                    None => events[message["params"]["at"].as_u64().unwrap() as usize] += 1,
                }
            }
            assert!(events[1..].iter().all(|count| *count == CALLS), "{events:?}");
        };
        tokio::select! {
            () = cutting => unreachable!("it cuts for ever"),
            () = hearing => {}
        }
        assert!(connections.get() > 2 * CALLS, "{} connections", connections.get());
        server.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
