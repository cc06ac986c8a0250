//! The client and the server against each other.

use std::time::Duration;

use agentwire_transport_http::client::DefaultClient;
use agentwire_transport_sse::client::{self, SseError};
use agentwire_transport_sse::server::EndpointConfig;
use serde_json::{Value, json};

use crate::client::mock::{Chance, Client};
use crate::server::raw::result;
use crate::server::script::{Server, WAYS, Way};

fn call(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn config(server: &Server) -> client::Config {
    client::Config::new(&format!("http://127.0.0.1:{}/sse", server.port)).unwrap()
}

fn connect(server: &Server) -> Client {
    Client::new(config(server).open().unwrap())
}

#[tokio::test]
async fn sse_15_a_session_carries_everything() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let mut client = connect(&server);
        client.say(call(0, "initialize", json!({"protocolVersion": "2024-11-05"})));
        assert_eq!(client.frame().await, result(0, json!({"protocolVersion": "2024-11-05"})));
        client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server.state.has_received(2).await;

        client.say(call(1, "count", json!({"n": 3})));
        for at in 0..3 {
            assert_eq!(client.frame().await["params"]["at"], at);
        }
        assert_eq!(client.frame().await, result(1, json!("counted")));

        client.say(call(2, "ask", json!({})));
        assert_eq!(client.frame().await["method"], "roots/list");
        client.say(json!({"jsonrpc": "2.0", "id": "s-1", "result": {"roots": []}}));
        assert_eq!(client.frame().await, result(2, json!({"roots": []})));

        client.say(call(3, "large", json!({"n": 1_000_000})));
        assert_eq!(client.frame().await["result"].as_str().unwrap().len(), 1_000_000);
        client.say(call(4, "echo", json!(["y".repeat(1_000_000)])));
        assert_eq!(client.frame().await["result"][0].as_str().unwrap().len(), 1_000_000);

        client.close().await;
        server.state.attends(0).await;
    }
}

/// A conversation of 1000 messages, of which neither side knows what comes next: nothing is lost, comes twice or
/// changes places.
#[tokio::test]
async fn sse_15_a_long_conversation_loses_nothing() {
    for seed in 0..6 {
        let way = if seed % 2 == 0 { Way::Inline } else { Way::Spawned };
        let mut chance = Chance(seed);
        let high_water = 1 + chance.below(5000);
        let server =
            Server::start(EndpointConfig::new().with_http(|http| http.high_water(high_water)), way).await;
        let mut client = connect(&server);
        let (mut id, mut messages) = (0, 0);
        while messages < 1000 {
            // What the script answers one after the other can be asked all at once, but may arrive in any order.
            let calls = 1 + chance.below(20) as u64;
            let mut open = Vec::new();
            for _ in 0..calls {
                let n = chance.below(8);
                let (method, params) = match chance.below(3) {
                    0 => ("count", json!({"n": n})),
                    1 => ("large", json!({"n": n * 3000})),
                    _ => ("echo", json!(["é".repeat(n * 1000)])),
                };
                client.say(call(id, method, params.clone()));
                open.push((id, method, params));
                id += 1;
                if chance.below(4) == 0 {
                    client.say(json!({"jsonrpc": "2.0", "method": "n"}));
                    messages += 1;
                }
            }
            let mut counted = 0;
            while !open.is_empty() {
                let received = client.frame().await;
                messages += 2;
                if received["method"] == "progress" {
                    assert_eq!(received["params"]["at"], counted, "seed {seed}");
                    counted += 1;
                    continue;
                }
                let at = open.iter().position(|(id, ..)| received["id"] == *id).expect("an open call");
                let (id, method, params) = open.remove(at);
                let expected = match method {
                    "count" => {
                        assert_eq!(params["n"], std::mem::take(&mut counted), "seed {seed}");
                        json!("counted")
                    }
                    "large" => json!("x".repeat(params["n"].as_u64().unwrap() as usize)),
                    _ => params,
                };
                assert_eq!(received, result(id, expected), "seed {seed}");
            }
        }
        assert!(client.hears_nothing().await, "seed {seed}");
        client.close().await;
        server.state.attends(0).await;
    }
}

#[tokio::test]
async fn sse_12_server_that_stops_ends_the_transport() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let mut client = connect(&server);
    client.say(call(1, "echo", json!([1])));
    assert_eq!(client.frame().await, result(1, json!([1])));
    server.stop().await;
    let error = client.ended().await;
    assert!(matches!(error, SseError::Ended), "{error:?}");
}

#[tokio::test]
async fn many_clients_at_once_and_again() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let http = DefaultClient::new(Duration::from_secs(10)).unwrap();
    for _ in 0..3 {
        let mut clients = Vec::new();
        for _ in 0..50 {
            clients.push(Client::new(config(&server).open_with(http.clone())));
        }
        for (at, client) in clients.iter().enumerate() {
            client.say(call(1, "echo", json!([at])));
        }
        for (at, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.frame().await, result(1, json!([at])));
        }
        for client in clients {
            client.close().await;
        }
        server.state.attends(0).await;
    }
}
