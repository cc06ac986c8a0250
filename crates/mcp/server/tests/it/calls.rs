//! Events while a tool runs: cancellation, progress, panics.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::raw::{NEWEST, Raw, code_of, with_session};
use crate::subject::{LEAKED, Stopped, stoppable, subject};

async fn cancel(raw: &mut Raw, id: impl Into<Value>) {
    raw.notify("notifications/cancelled", json!({ "requestId": id.into(), "reason": "enough" })).await;
}

#[tokio::test(start_paused = true)]
async fn can_03_a_cancelled_tool_stops_and_is_not_answered() {
    let stopped = Stopped::default();
    with_session(&stoppable(&stopped), NEWEST, async |raw| {
        raw.request(1, "tools/call", json!({ "name": "deaf" })).await;
        raw.request("1", "tools/call", json!({ "name": "polite" })).await;
        raw.ping().await;
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 0);
        cancel(raw, 1).await;
        raw.ping().await;
        assert_eq!((stopped.dropped.load(Ordering::Relaxed), stopped.told.load(Ordering::Relaxed)), (1, 0));
        cancel(raw, "1").await;
        raw.hears_nothing().await;
        assert_eq!(stopped.told.load(Ordering::Relaxed), 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn can_05_and_07_a_cancel_that_means_nothing_is_passed_over() {
    with_session(&subject(), NEWEST, async |raw| {
        cancel(raw, 99).await;
        raw.notify("notifications/cancelled", json!({})).await;
        raw.notify("notifications/cancelled", json!({ "requestId": {} })).await;
        raw.request(1, "tools/call", json!({ "name": "echo", "arguments": { "text": "done" } })).await;
        cancel(raw, 1).await;
        // The call may or may not have been over when the cancel arrived; here it was.
        assert_eq!(raw.next().await["id"], 1);
        raw.ping().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn running_calls_end_when_the_client_leaves() {
    let stopped = Stopped::default();
    with_session(&stoppable(&stopped), NEWEST, async |raw| {
        raw.request(1, "tools/call", json!({ "name": "deaf" })).await;
        raw.ping().await;
    })
    .await;
    assert_eq!(stopped.dropped.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn prg_02_and_03_progress_bears_the_token_and_grows_before_the_answer() {
    with_session(&subject(), NEWEST, async |raw| {
        for token in [json!(5), json!("5")] {
            let params =
                json!({ "name": "count", "arguments": { "n": 3 }, "_meta": { "progressToken": token } });
            raw.request(1, "tools/call", params).await;
            for step in 1..=3 {
                let expected = json!({
                    "jsonrpc": "2.0", "method": "notifications/progress",
                    "params": { "progressToken": token, "progress": step, "total": 3, "message": "counting" },
                });
                assert_eq!(raw.next().await, expected);
            }
            assert_eq!(raw.next().await["result"]["content"][0]["text"], "3");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn prg_04_progress_stops_with_the_answer() {
    with_session(&subject(), NEWEST, async |raw| {
        let params = json!({ "name": "leak", "_meta": { "progressToken": 1 } });
        assert_eq!(raw.result_of("tools/call", params).await["content"][0]["text"], "leaked");
        let context = LEAKED.lock().unwrap().take().expect("the tool ran");
        assert!(context.wants_progress());
        context.progress(1.0, None, None).await.unwrap();
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn prg_05_no_token_no_progress() {
    with_session(&subject(), NEWEST, async |raw| {
        assert_eq!(raw.call("count", json!({ "n": 3 })).await["content"][0]["text"], "3");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn prg_08_a_message_only_since_2025_03_26() {
    with_session(&subject(), "2024-11-05", async |raw| {
        let params = json!({ "name": "count", "arguments": { "n": 1 }, "_meta": { "progressToken": 1 } });
        raw.request(1, "tools/call", params).await;
        assert!(raw.next().await["params"].get("message").is_none());
        raw.next().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_internal_error_and_others_go_on() {
    with_session(&subject(), NEWEST, async |raw| {
        raw.request(1, "tools/call", json!({ "name": "polite" })).await;
        assert_eq!(raw.refusal_of("tools/call", json!({ "name": "panic" })).await, -32603);
        raw.ping().await;
        cancel(raw, 1).await;
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tools_failure_is_for_the_model_and_a_refusal_for_the_program() {
    with_session(&subject(), NEWEST, async |raw| {
        let failed = raw.call("fail", json!({})).await;
        assert_eq!(failed["isError"], true);
        assert_eq!(failed["content"][0]["text"], "invalid digit found in string");
        let refused = raw.ask("tools/call", json!({ "name": "refuse" })).await;
        assert_eq!(code_of(&refused), -32042);
    })
    .await;
}
