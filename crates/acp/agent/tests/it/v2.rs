use agentwire_acp_agent::{Config, Router, v2};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

use crate::scripted::Scripted;
use crate::scripted_v2::ScriptedV2;
use crate::scripts::{check_all, in_schema};

#[test]
fn scripts() {
    check_all("acp-agent-v2", async |wire| v2::serve(ScriptedV2::default(), in_schema(wire)).await);
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"e","version":"1"}}}"#;

fn prompt(id: u32, text: &str) -> String {
    let prompt = json!([{ "type": "text", "text": text }]);
    let params = json!({ "sessionId": "s", "prompt": prompt });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params }).to_string()
}

async fn send(wire: &mut Duplex, text: &str) {
    wire.send(Packet::from_json(text)).await.unwrap();
}

async fn next(wire: &mut Duplex) -> Value {
    serde_json::from_str(&wire.next().await.unwrap().unwrap().into_json().unwrap()).unwrap()
}

/// Accepted prompts have been answered, and still count while they run.
#[tokio::test(start_paused = true)]
async fn configured_limit_of_prompts_is_applied() {
    let (near, mut far) = duplex(8);
    let client = async {
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        send(&mut far, &prompt(1, "wait")).await;
        for _ in 0..3 {
            next(&mut far).await;
        }
        send(&mut far, &prompt(2, "say a")).await;
        let refused = next(&mut far).await;
        assert_eq!(refused["error"]["data"], json!({ "limit": 1 }), "{refused}");
        send(&mut far, r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#).await;
        assert_eq!(next(&mut far).await["params"]["update"]["stopReason"], "cancelled");
        send(&mut far, &prompt(3, "say a")).await;
        assert_eq!(next(&mut far).await["params"]["update"]["sessionUpdate"], "user_message");
        drop(far);
    };
    let serving = v2::serve_with(ScriptedV2::default(), in_schema(near), Config::new().request_limit(1));
    let (served, ()) = futures::join!(serving, client);
    assert!(served.is_ok());
}

/// Work that a close has dropped does not count any more, even if the agent still holds its handle.
#[tokio::test(start_paused = true)]
async fn dropped_work_does_not_delay_a_later_close() {
    let (near, mut far) = duplex(8);
    let client = async {
        let until = async |far: &mut Duplex, id: u32| while next(far).await["id"] != id {};
        let close = |id| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/close","params":{{"sessionId":"s"}}}}"#)
        };
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        send(&mut far, r#"{"jsonrpc":"2.0","id":1,"method":"_work","params":{"sessionId":"s","hang":true}}"#)
            .await;
        next(&mut far).await;
        send(&mut far, &close(2)).await;
        until(&mut far, 2).await;
        let resume =
            r#"{"jsonrpc":"2.0","id":3,"method":"session/resume","params":{"sessionId":"s","cwd":"/repo"}}"#;
        send(&mut far, resume).await;
        until(&mut far, 3).await;
        let begun = tokio::time::Instant::now();
        send(&mut far, &prompt(4, "wait")).await;
        until(&mut far, 4).await;
        // Once with a prompt that ends in time, once without a prompt.
        for id in [5, 6] {
            send(&mut far, &close(id)).await;
            until(&mut far, id).await;
        }
        assert_eq!(begun.elapsed(), std::time::Duration::ZERO);
        drop(far);
    };
    let (served, ()) = futures::join!(v2::serve(ScriptedV2::default(), in_schema(near)), client);
    assert!(served.is_ok());
}

/// An accepted prompt continues after the client has closed its side, until the drain time is over.
#[tokio::test(start_paused = true)]
async fn accepted_work_continues_after_the_client_has_closed() {
    let (near, mut far) = duplex(8);
    let client = async {
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        send(&mut far, &prompt(1, "say a\nwait")).await;
        far.close().await.unwrap();
        let mut heard = Vec::new();
        while let Some(packet) = far.next().await {
            heard.push(serde_json::from_str::<Value>(&packet.unwrap().into_json().unwrap()).unwrap());
        }
        heard
    };
    let serving = v2::serve(ScriptedV2::default(), in_schema(near));
    let (served, heard) = futures::join!(serving, client);
    assert!(served.is_ok());
    let last = heard.last().unwrap();
    assert_eq!(last["params"]["update"]["state"], "idle", "{heard:?}");
    assert_eq!(last["params"]["update"]["stopReason"], "error", "the work was dropped");
    assert_eq!(heard.len(), 5, "the message, its answer, running, what it says, idle: {heard:?}");
}

/// A queued update for a client that reads slowly is not sent if the session has been closed since.
#[tokio::test(start_paused = true)]
async fn queued_update_is_not_sent_after_the_session_is_closed() {
    let (near, mut far) = duplex(1);
    let client = async {
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        for id in 1..=8 {
            let params = json!({ "sessionId": "s", "update": { "sessionUpdate": "notice", "severity": "info", "title": "t" } });
            let update = json!({ "jsonrpc": "2.0", "id": id, "method": "_update", "params": params });
            send(&mut far, &update.to_string()).await;
        }
        send(&mut far, r#"{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s"}}"#)
            .await;
        // The clock is paused, so this completes when all other futures wait: nothing of the peer was read until here.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let mut heard = Vec::new();
        while heard.iter().filter(|said: &&Value| said.get("id").is_some()).count() < 9 {
            heard.push(next(&mut far).await);
        }
        drop(far);
        heard
    };
    let serving = v2::serve_with(ScriptedV2::default(), in_schema(near), Config::new().high_water(1));
    let (served, heard) = futures::join!(serving, client);
    assert!(served.is_ok());
    let is_closed = heard.iter().position(|said| said["id"] == 9).unwrap();
    let (before, after) = heard.split_at(is_closed);
    assert!(before.iter().any(|said| said["method"] == "session/update"), "{heard:?}");
    assert!(after.iter().all(|said| said["method"] != "session/update"), "{heard:?}");
    assert!(after.iter().any(|said| said["error"]["code"] == -32603), "some had to wait: {heard:?}");
}

/// A session that is closed many times takes one entry in the list of closed sessions.
#[tokio::test(start_paused = true)]
async fn session_closed_repeatedly_stays_closed() {
    let (near, mut far) = duplex(8);
    let client = async {
        send(&mut far, INITIALIZE).await;
        next(&mut far).await;
        for id in 0..=1024 {
            let params = json!({ "sessionId": "s" });
            let close = json!({ "jsonrpc": "2.0", "id": id, "method": "session/close", "params": params });
            send(&mut far, &close.to_string()).await;
            assert_eq!(next(&mut far).await["result"], json!({}));
        }
        send(&mut far, &prompt(2000, "say no")).await;
        assert_eq!(next(&mut far).await["error"]["code"], -32002);
        drop(far);
    };
    let (served, ()) = futures::join!(v2::serve(ScriptedV2::default(), in_schema(near)), client);
    assert!(served.is_ok());
}

/// Serving an agent or a router is `Send` if the agents' futures are.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn serving_can_be_spawned() {
    for is_routed in [false, true] {
        let (near, mut far) = duplex(8);
        let near = in_schema(near);
        let serving = if is_routed {
            tokio::spawn(Router::both(Scripted::default(), ScriptedV2::default()).serve(near))
        } else {
            tokio::spawn(v2::serve(ScriptedV2::default(), near))
        };
        send(&mut far, INITIALIZE).await;
        assert_eq!(next(&mut far).await["result"]["protocolVersion"], 2);
        drop(far);
        serving.await.unwrap().unwrap();
    }
}
