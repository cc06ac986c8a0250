//! Many calls at once, through a proxy that cuts every connection somewhere.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, Notification, RawJson, Request, Response};
use agentwire_transport::Packet;
use agentwire_transport_http::client;
use agentwire_transport_http::server::{self, serve};
use futures::stream::FuturesUnordered;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::mock::{Chance, Client, open};

use crate::connections::{Connection, Connections, endpoint};

const CALLS: u64 = 200;
const EVENTS_A_CALL: u64 = 50;

#[tokio::test]
async fn nothing_is_lost_under_fire() {
    stand_fire(1..=3).await;
}

/// More runs, so that two cores share them.
#[tokio::test]
async fn nothing_is_lost_under_more_fire() {
    stand_fire(4..=6).await;
}

mod long {
    use super::*;

    #[tokio::test]
    #[ignore = "takes minutes: cargo xtask ci long"]
    async fn nothing_is_lost_under_long_fire() {
        stand_fire(1..=60).await;
    }
}

/// Every event arrives exactly once and in order, although no connection lives long.
async fn stand_fire(seeds: RangeInclusive<u64>) {
    for seed in seeds {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (endpoint, connections) = endpoint(server::EndpointConfig::new().retry(Duration::from_millis(1)));
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", proxy.local_addr().unwrap());
        let config = client::Config::new(&url).unwrap().retry_delay(Duration::from_millis(1)).retries(20);
        let cuts = Rc::new(Cell::new(0));
        tokio::select! {
            () = async { serve(listener, endpoint).await } => unreachable!("it serves for ever"),
            () = answer(connections) => unreachable!("it answers for ever"),
            () = cut_all(proxy, port, Chance(seed), &cuts) => unreachable!("it cuts for ever"),
            () = hear_all(Client::new(open(config))) => {}
        }
        assert!(cuts.get() > 2 * CALLS, "{} connections were cut", cuts.get());
    }
}

async fn hear_all(mut client: Client) {
    client.say(request(0, "initialize", json!({"protocolVersion": "2025-11-25"})));
    client.frame().await;
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    (1..=CALLS).for_each(|id| client.say(request(id, "count", json!({}))));
    let mut heard = HashMap::new();
    for _ in 0..CALLS * (EVENTS_A_CALL + 1) {
        let message = client.frame().await;
        match message["id"].as_u64() {
            Some(id) => {
                assert_eq!(heard.insert(id, u64::MAX), Some(EVENTS_A_CALL), "{id} is answered at last")
            }
            None => {
                let last = heard.entry(message["params"]["call"].as_u64().unwrap()).or_default();
                *last += 1;
                assert_eq!(message["params"]["at"], *last, "{message}");
            }
        }
    }
    assert_eq!(heard.len() as u64, CALLS);
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

async fn answer(mut connections: Connections) {
    let mut sessions = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(connection) = connections.next() => sessions.push(count(connection)),
            Some(()) = sessions.next() => {}
        }
    }
}

/// Answers every call after so many events, and all calls side by side.
async fn count(mut connection: Connection) {
    let mut calls = Vec::new();
    loop {
        tokio::select! {
            packet = connection.next() => {
                let Some(Ok(packet)) = packet else { return };
                if let Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } = packet {
                    calls.push((request, 0));
                }
            }
            () = tokio::task::yield_now(), if !calls.is_empty() => {
                for (request, at) in &mut calls {
                    *at += 1;
                    if &*request.method == "initialize" {
                        *at = EVENTS_A_CALL + 1;
                    }
                    connection.send(event(request, *at)).await.unwrap();
                }
                calls.retain(|(_, at)| *at <= EVENTS_A_CALL);
            }
        }
    }
}

fn event(call: &Request, at: u64) -> Packet {
    let json = |value| Some(RawJson::encode(&value).unwrap());
    if at > EVENTS_A_CALL {
        let result = json(json!({"protocolVersion": "2025-11-25"})).unwrap();
        return Message::from(Response::new(call.id.clone(), Ok(result))).into();
    }
    let note = Notification::new("notifications/message", json(json!({"call": call.id, "at": at})));
    Packet::Frame { frame: Message::from(note).into(), in_reply_to: Some(call.id.clone()), source: None }
}

async fn cut_all(proxy: TcpListener, port: u16, mut chance: Chance, cuts: &Cell<u64>) {
    let mut connections = FuturesUnordered::new();
    loop {
        tokio::select! {
            near = proxy.accept() => connections.push(cut(near.unwrap().0, port, chance.below(4000), cuts)),
            Some(()) = connections.next() => {}
        }
    }
}

/// Passes one request on, and its response up to some byte. Of what answers a POST the first event arrives, because
/// without an id there would be nothing to go on from; what answers a GET may be cut anywhere.
async fn cut(mut near: TcpStream, port: u16, left: usize, cuts: &Cell<u64>) {
    let mut far = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (mut request, mut response, mut passed) = (Vec::new(), Vec::new(), 0);
    let mut ends_at = None;
    loop {
        tokio::select! {
            read = near.read_buf(&mut request) => {
                let Ok(1..) = read else { return };
                if request.starts_with(b"GET") {
                    ends_at = Some(left);
                }
                far.write_all(&std::mem::take(&mut request)).await.unwrap();
            }
            read = far.read_buf(&mut response) => {
                let Ok(1..) = read else { return };
                if passed == 0 {
                    // So that no request is cut by what came before it.
                    let line_ends = response.windows(2).position(|end| end == b"\r\n").unwrap() + 2;
                    response.splice(line_ends..line_ends, *b"Connection: close\r\n");
                }
                if ends_at.is_none() {
                    ends_at = response.windows(2).position(|end| end == b"\n\n").map(|at| at + 2 + left);
                }
                let until = response.len().min(ends_at.unwrap_or(usize::MAX));
                let written = near.write_all(&response[passed..until]).await;
                passed = until;
                if written.is_err() || ends_at == Some(passed) {
                    return cuts.set(cuts.get() + 1);
                }
            }
        }
    }
}
