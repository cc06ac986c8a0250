//! A client of ours whose session goes on at another node, which shares keys alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use agentwire_seal::SealingKeys;
use agentwire_transport::Packet;
use agentwire_transport_http::client;
use agentwire_transport_http::server::{EndpointConfig, SealedSessions};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::{call, result, session};
use crate::client::mock::{Client, open};
use crate::server::script::{Heard, Server};

/// Passes each connection on to the port that is named then. Returns its own.
async fn forwarder(target: Arc<AtomicU16>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let target = target.load(Ordering::SeqCst);
            tokio::spawn(async move {
                let Ok(mut server) = TcpStream::connect(("127.0.0.1", target)).await else { return };
                let _ended = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    port
}

/// The next message. Counts the gaps before it.
async fn frame(client: &mut Client, gaps: &mut usize) -> Value {
    loop {
        match client.heard().await.unwrap().unwrap() {
            Packet::Gap { end: None } => *gaps += 1,
            packet => return serde_json::from_str(&packet.into_json().unwrap()).unwrap(),
        }
    }
}

#[tokio::test]
async fn a_session_goes_on_at_a_server_that_takes_the_place_of_another() {
    let sealed = || SealedSessions::new(SealingKeys::new([7; 32]));
    let start = || Server::inline(EndpointConfig::new().sealed_sessions(sealed()));
    let (one, mut two) = (start().await, start().await);
    let target = Arc::new(AtomicU16::new(one.port));
    let port = forwarder(target.clone()).await;
    let config = client::Config::new(&format!("http://127.0.0.1:{port}/mcp")).unwrap();
    let mut client = Client::new(open(config));
    session(&mut client, "2025-11-25").await;
    client.say(call(1, "announce", json!({"at": "one"})));
    let mut heard = [client.frame().await, client.frame().await];
    heard.sort_by_key(|message| message["id"].as_u64());
    assert_eq!(heard[0]["method"], "changed");
    assert_eq!(heard[1], result(1, json!("announced")));

    target.store(two.port, Ordering::SeqCst);
    one.tasks.into_iter().for_each(|task| task.abort());
    // Calls on connections that break fail, and are not repeated by the transport.
    let (mut id, mut gaps) = (2, 0);
    loop {
        client.say(call(id, "echo", json!({"at": "two"})));
        match client.heard().await.unwrap().unwrap() {
            Packet::RequestFailed { .. } if id < 12 => id += 1,
            Packet::Gap { end: None } => gaps += 1,
            packet => {
                let answer: Value = serde_json::from_str(&packet.into_json().unwrap()).unwrap();
                assert_eq!(answer, result(id, json!({"at": "two"})));
                break;
            }
        }
    }
    two.hears(&Heard::Message("initialize".into())).await;
    two.hears(&Heard::Message("notifications/initialized".into())).await;
    two.hears(&Heard::Message("echo".into())).await;
    client.say(call(20, "ask", json!({})));
    let asked = frame(&mut client, &mut gaps).await;
    assert_eq!(asked["method"], "roots/list");
    client.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}));
    assert_eq!(frame(&mut client, &mut gaps).await, result(20, json!("asked")));

    // The client has lost its stream for what belongs to no request, and opens another, which continues nothing.
    client.say(call(21, "announce", json!({"at": "two"})));
    let mut heard = [frame(&mut client, &mut gaps).await, frame(&mut client, &mut gaps).await];
    heard.sort_by_key(|message| message["id"].as_u64());
    let changed = json!({"jsonrpc": "2.0", "method": "changed", "params": {"at": "two"}});
    assert_eq!(heard, [changed, result(21, json!("announced"))]);
    assert_eq!(gaps, 1);
}
