//! Many clients that ask for, answer and cancel the same tasks at once.

use std::time::Duration;

use agentwire_mcp_server::Server;
use agentwire_test_support::net::Chance;
use futures::future::join_all;
use serde_json::{Value, json};

use super::subject::{alone_at, answer, cancel, started, state, subject, text, update};
use crate::raw::Raw;

const CLIENTS: u64 = 8;
const TASKS: usize = 12;

/// Whether a task that stood so may stand so.
fn may_follow(before: &str, after: &str) -> bool {
    match before {
        "working" | "input_required" => true,
        _ => before == after,
    }
}

async fn act(raw: &mut Raw, id: &str, chance: &mut Chance) -> Value {
    let asked = state(raw, id).await;
    match chance.below(8) {
        0 => cancel(raw, id).await,
        1 => update(raw, id, json!({ "nobody": { "action": "cancel" } })).await,
        2 | 3 => {}
        _ => {
            for (key, request) in asked["inputRequests"].as_object().into_iter().flatten() {
                update(raw, id, json!({ key: answer(request["method"].as_str().expect("a method")) })).await;
            }
        }
    }
    asked
}

async fn client(server: &Server, ids: &[String], seed: u64) {
    alone_at(server, async |raw| {
        let mut chance = Chance(seed);
        let mut before = vec!["working".to_owned(); ids.len()];
        for _ in 0..40 * ids.len() {
            let index = chance.below(ids.len());
            let seen = act(raw, &ids[index], &mut chance).await;
            let after = seen["status"].as_str().expect("a status");
            assert!(may_follow(&before[index], after), "{} after {}: {seen}", after, before[index]);
            assert_eq!(after == "input_required", seen.get("inputRequests").is_some(), "{seen}");
            assert_eq!(after == "completed", seen.get("result").is_some(), "{seen}");
            before[index] = after.to_owned();
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_happens_at_once_each_task_ends_once_and_as_it_should() {
    let server = subject();
    let ids = alone_at(&server, async |raw| {
        let mut ids = Vec::new();
        for _ in 0..TASKS {
            ids.push(started(raw, "ask_two", json!({})).await);
        }
        ids
    })
    .await;
    let all = join_all((0..CLIENTS).map(|seed| client(&server, &ids, seed)));
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("nobody waits for ever");
    alone_at(&server, async |raw| {
        let mut completed = 0;
        for id in &ids {
            // Those that are not cancelled are answered now.
            let mut seen = state(raw, id).await;
            while seen["status"] == "working" || seen["status"] == "input_required" {
                act(raw, id, &mut Chance(7)).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                seen = state(raw, id).await;
            }
            match seen["status"].as_str().expect("a status") {
                "completed" => {
                    assert_eq!(text(&seen["result"]), "Hi Ada");
                    completed += 1;
                }
                status => assert_eq!(status, "cancelled", "{seen}"),
            }
        }
        assert!((1..TASKS).contains(&completed), "{completed} completed, so that only one way was seen");
    })
    .await;
}
