//! The base protocol: JSON-RPC requests, responses and errors.

use agentwire_mcp_server::Server;
use serde_json::{Value, json};

use crate::raw::{NEWEST, REVISIONS, code_of, with_session};
use crate::subject::{Stopped, stoppable, subject};

#[tokio::test(start_paused = true)]
async fn rpc_03_a_null_id_is_refused_and_nothing_runs() {
    let stopped = Stopped::default();
    with_session(&stoppable(&stopped), NEWEST, async |raw| {
        raw.request(Value::Null, "tools/call", json!({ "name": "deaf" })).await;
        let answer = raw.next().await;
        assert_eq!((answer["id"].clone(), code_of(&answer)), (Value::Null, -32600));
        raw.ping().await;
    })
    .await;
    assert_eq!(stopped.dropped.load(std::sync::atomic::Ordering::Relaxed), 0, "the tool never ran");
}

#[tokio::test(start_paused = true)]
async fn rpc_06_an_id_goes_back_with_its_type() {
    with_session(&subject(), NEWEST, async |raw| {
        for id in [json!(0), json!(-1), json!(""), json!("7"), json!(7), json!(9_007_199_254_740_991_i64)] {
            raw.request(id.clone(), "ping", json!({})).await;
            assert_eq!(raw.next().await["id"], id);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rpc_11_notifications_are_never_answered() {
    with_session(&subject(), NEWEST, async |raw| {
        raw.notify("notifications/unheard-of", json!({ "x": 1 })).await;
        raw.notify("tools/call", json!({ "name": "echo", "arguments": {} })).await;
        raw.send(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": [] })).await;
        raw.ping().await;
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rpc_12_an_unknown_method_is_not_found_in_every_revision() {
    for revision in REVISIONS {
        let code = async |raw: &mut crate::raw::Raw| raw.refusal_of("tools/dance", json!({})).await;
        assert_eq!(with_session(&subject(), revision, code).await, -32601);
    }
}

#[tokio::test(start_paused = true)]
async fn rpc_13_and_14_what_is_no_message_is_answered_and_survived() {
    with_session(&subject(), NEWEST, async |raw| {
        let cases = [
            ("{", -32700),
            ("1", -32600),
            ("\"x\"", -32600),
            ("{}", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        ];
        for (text, code) in cases {
            raw.send_text(text).await;
            assert_eq!(code_of(&raw.next().await), code, "{text}");
            raw.ping().await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rpc_16_wrong_params_are_refused() {
    with_session(&subject(), NEWEST, async |raw| {
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({ "name": 1 })),
            ("tools/call", json!({ "name": "echo", "arguments": [1] })),
            ("tools/call", json!({ "name": "nobody" })),
            ("resources/read", json!({})),
            ("prompts/get", json!({ "arguments": {} })),
            ("prompts/get", json!({ "name": "nobody" })),
            ("prompts/get", json!({ "name": "greet" })),
            ("logging/setLevel", json!({})),
        ] {
            assert_eq!(raw.refusal_of(method, params.clone()).await, -32602, "{method} {params}");
        }
    })
    .await;
}

/// PHP writes an empty map so.
#[tokio::test(start_paused = true)]
async fn empty_array_in_a_request_reads_as_an_empty_object() {
    with_session(&subject(), NEWEST, async |raw| {
        for method in ["ping", "tools/list", "prompts/list"] {
            raw.result_of(method, json!([])).await;
        }
        raw.result_of("tools/list", json!({ "_meta": [] })).await;
        let params = json!({ "name": "add", "arguments": [], "_meta": [] });
        let result = raw.result_of("tools/call", params).await;
        assert!(result["content"][0]["text"].as_str().unwrap().contains("`a` is missing"), "{result}");
        let refused = raw.ask("prompts/get", json!({ "name": "greet", "arguments": [] })).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("`name` is missing"), "{refused}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn wrong_arguments_name_the_member_and_are_for_the_model_since_2025_11_25() {
    let params = json!({ "name": "add", "arguments": { "a": 1, "b": "two" } });
    let newest = async |raw: &mut crate::raw::Raw| raw.result_of("tools/call", params.clone()).await;
    let result = with_session(&subject(), NEWEST, newest).await;
    assert_eq!(result["isError"], true);
    assert!(names_b(&result["content"][0]["text"]), "{result}");

    let older = async |raw: &mut crate::raw::Raw| raw.ask("tools/call", params.clone()).await;
    let answer = with_session(&subject(), "2025-06-18", older).await;
    assert_eq!(code_of(&answer), -32602);
    assert!(names_b(&answer["error"]["message"]), "{answer}");
}

fn names_b(text: &Value) -> bool {
    text.as_str().is_some_and(|text| text.contains("`b`: expected i64"))
}

#[tokio::test(start_paused = true)]
async fn rpc_17_unknown_members_and_foreign_meta_are_ignored() {
    with_session(&subject(), NEWEST, async |raw| {
        raw.send(json!({
            "jsonrpc": "2.0", "x": 1, "id": 1, "method": "tools/call",
            "params": {
                "name": "echo", "x": 1,
                "arguments": { "text": "hi", "x": 1 },
                "_meta": { "example.com/trace": [1, 2] },
            },
        }))
        .await;
        assert_eq!(raw.next().await["result"]["content"][0]["text"], "hi");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rpc_21_a_batch_is_answered_as_one_at_2025_03_26() {
    with_session(&subject(), "2025-03-26", async |raw| {
        let call = |id: u64| {
            let params = json!({ "name": "echo", "arguments": { "text": id.to_string() } });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        raw.send(json!([call(1), call(2), call(3)])).await;
        let answers = raw.next().await;
        let mut texts: Vec<_> = answers.as_array().expect("an array").iter().collect();
        texts.sort_by_key(|answer| answer["id"].as_u64());
        for (answer, id) in texts.into_iter().zip(["1", "2", "3"]) {
            assert_eq!(answer["result"]["content"][0]["text"], id);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rpc_23_24_and_25_odd_batches() {
    with_session(&subject(), "2025-03-26", async |raw| {
        raw.send(json!([])).await;
        assert_eq!(code_of(&raw.next().await), -32600);

        raw.send(json!([{ "jsonrpc": "2.0", "method": "notifications/x" }])).await;
        raw.ping().await;

        raw.send(json!([1, { "jsonrpc": "2.0", "id": 5, "method": "ping" }])).await;
        let answers = raw.next().await;
        let answers = answers.as_array().expect("an array");
        assert_eq!(answers.len(), 2, "{answers:?}");
        assert!(answers.iter().any(|answer| answer["id"] == 5 && answer["result"] == json!({})));
        assert!(answers.iter().any(|answer| answer["error"]["code"] == -32600));

        raw.send(json!([{ "jsonrpc": "2.0", "id": 6, "method": "initialize", "params": {} }])).await;
        assert_eq!(raw.next().await[0]["error"]["code"], -32600);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rpc_26_elsewhere_an_array_is_refused_and_nothing_runs() {
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let stopped = Stopped::default();
        let server: Server = stoppable(&stopped);
        with_session(&server, revision, async |raw| {
            let params = json!({ "name": "deaf" });
            raw.send(json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }])).await;
            assert_eq!(code_of(&raw.next().await), -32600);
            raw.hears_nothing().await;
        })
        .await;
        assert_eq!(stopped.dropped.load(std::sync::atomic::Ordering::Relaxed), 0, "the tool never ran");
    }
}
