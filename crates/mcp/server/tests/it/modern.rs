//! Modern requests: each describes its client.

use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_mcp_server::schema::code::MissingCapabilities;
use agentwire_mcp_server::schema::{CacheScope, ClientCapabilities, ElicitationCapability, LoggingLevel};
use agentwire_mcp_server::{Context, NoArguments, Server, ServerResource, ToolError};
use serde_json::{Value, json};

use crate::raw::{MODERN, NEWEST, Raw, alone, alone_with, code_of, with_both_eras, with_raw};
use crate::subject::{LEAKED, Stopped, stoppable, subject};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A request of everything that both eras have, and that the subject can answer.
fn requests() -> Vec<(&'static str, Value)> {
    vec![
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "echo", "arguments": { "text": "hi" } })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "memo:///motto" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } })),
        ("server/discover", json!({})),
    ]
}

#[tokio::test(start_paused = true)]
async fn dis_01_to_03_discovery_needs_nothing_before_it_and_names_what_there_is() {
    let list_changed = json!({ "listChanged": true });
    let expected = json!({
        "supportedVersions": [MODERN],
        "capabilities": {
            "tools": list_changed, "resources": list_changed, "prompts": list_changed, "logging": {},
        },
        "instructions": "Call add.",
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "subject", "version": "1.0.0" } },
    });
    with_raw(&subject(), async |raw| {
        assert_eq!(raw.result_of("server/discover", alone(json!({}))).await, expected);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_08_and_rpc_28_every_result_has_the_server_info_and_its_type() {
    with_raw(&subject(), async |raw| {
        for (method, params) in requests() {
            let result = raw.result_of(method, alone(params)).await;
            let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(*server, json!({ "name": "subject", "version": "1.0.0" }), "{method}: {result}");
            assert_eq!(result["resultType"], "complete", "{method}: {result}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_04_an_unsupported_version_is_refused_with_those_that_are() {
    with_raw(&subject(), async |raw| {
        for version in ["v999.0.0", "1900-01-01", "2099-01-01", NEWEST, ""] {
            for more in [json!({}), json!({ CAPABILITIES: null })] {
                let mut more = more;
                more[VERSION] = json!(version);
                let answer = raw.ask("tools/list", alone_with(json!({}), more)).await;
                assert_eq!(code_of(&answer), -32022, "{answer}");
                let data = json!({ "supported": [MODERN], "requested": version });
                assert_eq!(answer["error"]["data"], data);
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_06_what_a_request_must_say_is_asked_for() {
    with_raw(&subject(), async |raw| {
        for wrong in [
            json!({ CAPABILITIES: null }),
            json!({ VERSION: null }),
            json!({ VERSION: 2026 }),
            json!({ CAPABILITIES: [1] }),
            json!({ CAPABILITIES: "all" }),
            json!({ LOG_LEVEL: 3 }),
            json!({ "progressToken": [] }),
        ] {
            for (method, params) in requests() {
                let code = raw.refusal_of(method, alone_with(params, wrong.clone())).await;
                assert_eq!(code, -32602, "{method} {wrong}");
            }
        }
        for meta in [json!(null), json!({}), json!(5)] {
            assert_eq!(raw.refusal_of("tools/list", json!({ "_meta": meta })).await, -32602, "{meta}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_escaped_key_is_the_same_key() {
    with_raw(&subject(), async |raw| {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{
            "io.modelcontextprotocol\/protocol\u0056ersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        raw.send_text(text).await;
        assert_eq!(code_of(&raw.next().await), -32601, "a ping of 2026-07-28, not one of a session");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_07_a_client_need_not_say_who_it_is() {
    let server = Server::new("nosy", "1").tool("who", "Who asks", async |_: NoArguments, cx: Context| {
        let client = cx.client();
        let name = client.info().map_or("nobody", |info| &*info.name).to_owned();
        format!("{name} {} {}", client.revision(), client.capabilities().has("roots"))
    });
    with_raw(&server, async |raw| {
        for (more, expected) in [
            (json!({}), "raw 2026-07-28 false"),
            (json!({ INFO: null }), "nobody 2026-07-28 false"),
            (json!({ CAPABILITIES: { "roots": {} } }), "raw 2026-07-28 true"),
        ] {
            let result = raw.result_of("tools/call", alone_with(json!({ "name": "who" }), more)).await;
            assert_eq!(result["content"][0]["text"], expected);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_10_and_png_03_what_only_sessions_have_is_not_found() {
    with_raw(&subject(), async |raw| {
        for (method, params) in [
            ("initialize", json!({ "protocolVersion": MODERN, "capabilities": {} })),
            ("ping", json!({})),
            ("logging/setLevel", json!({ "level": "info" })),
            ("resources/subscribe", json!({ "uri": "memo:///motto" })),
            ("resources/unsubscribe", json!({ "uri": "memo:///motto" })),
            ("unknown/method", json!({})),
        ] {
            assert_eq!(raw.refusal_of(method, alone(params)).await, -32601, "{method}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_39_one_connection_carries_both_eras() {
    with_both_eras(&subject(), async |raw| {
        let call = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
        assert_eq!(raw.result_of("tools/call", alone(call.clone())).await["resultType"], "complete");
        assert_eq!(raw.initialize("2025-03-26").await["result"]["protocolVersion"], "2025-03-26");
        // The negotiated version holds for requests that name none, and for no others.
        let result = raw.result_of("tools/call", call.clone()).await;
        assert_eq!(result, json!({ "content": [{ "type": "text", "text": "{\"sum\":5}" }] }));
        let result = raw.result_of("tools/call", alone(call.clone())).await;
        assert_eq!(
            (&result["resultType"], &result["structuredContent"]["sum"]),
            (&json!("complete"), &json!(5))
        );
        assert_eq!(raw.refusal_of("ping", alone(json!({}))).await, -32601);
        raw.ping().await;
        // A request of the session that repeats its version is one of the session.
        let repeated = alone_with(call.clone(), json!({ VERSION: "2025-03-26" }));
        assert!(raw.result_of("tools/call", repeated).await.get("resultType").is_none());
        // A batch is something that a session agreed on.
        let request =
            |id, params| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        raw.send(json!([request(1, call.clone()), request(2, alone(call))])).await;
        let answers = raw.next().await;
        let answer = |id| answers.as_array().unwrap().iter().find(|answer| answer["id"] == id).unwrap();
        assert!(answer(1)["result"].is_object());
        assert_eq!(answer(2)["error"]["code"], -32600);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn st_45_a_used_connection_answers_like_a_fresh_one() {
    let server = subject();
    let mut used = Vec::new();
    with_raw(&server, async |raw| {
        for (method, params) in requests() {
            used.push(raw.result_of(method, alone(params)).await);
        }
    })
    .await;
    for ((method, params), used) in requests().into_iter().zip(used) {
        let fresh = with_raw(&server, async |raw| raw.result_of(method, alone(params)).await).await;
        assert_eq!(fresh, used, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn rpc_31_a_missing_resource_is_invalid_params() {
    with_raw(&subject(), async |raw| {
        let answer = raw.ask("resources/read", alone(json!({ "uri": "memo:///none" }))).await;
        assert_eq!((code_of(&answer), &answer["error"]["data"]["uri"]), (-32602, &json!("memo:///none")));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rpc_34_a_tool_cannot_send_a_request() {
    with_raw(&subject(), async |raw| {
        let able = json!({ CAPABILITIES: { "roots": {} } });
        let result = raw.result_of("tools/call", alone_with(json!({ "name": "ask_roots" }), able)).await;
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("roots/list") && text.contains("is modern"), "{text}");
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn can_03_and_st_32_a_cancelled_request_stops_and_is_not_answered() {
    let stopped = Stopped::default();
    with_raw(&stoppable(&stopped), async |raw| {
        raw.request(1, "tools/call", alone(json!({ "name": "deaf" }))).await;
        raw.request("1", "tools/call", alone(json!({ "name": "deaf" }))).await;
        raw.request(2, "tools/call", alone(json!({ "name": "polite" }))).await;
        raw.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
        raw.result_of("tools/list", alone(json!({}))).await;
        assert_eq!((stopped.dropped.load(Ordering::Relaxed), stopped.told.load(Ordering::Relaxed)), (1, 0));
        // Over HTTP the response is closed, and nothing can be said.
        raw.abandon("1").await;
        raw.abandon(2).await;
        raw.hears_nothing().await;
        assert_eq!((stopped.dropped.load(Ordering::Relaxed), stopped.told.load(Ordering::Relaxed)), (2, 1));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn prg_02_progress_bears_the_token() {
    with_raw(&subject(), async |raw| {
        for token in [json!(5), json!("5")] {
            let params = json!({ "name": "count", "arguments": { "n": 1 } });
            raw.request(1, "tools/call", alone_with(params, json!({ "progressToken": token }))).await;
            let progress = raw.next().await;
            assert_eq!(
                (&progress["params"]["progressToken"], &progress["params"]["progress"]),
                (&token, &json!(1))
            );
            assert_eq!(raw.next().await["id"], 1);
        }
    })
    .await;
}

/// The levels of what a tool logs until it is answered.
async fn logged(raw: &mut Raw, more: Value) -> Vec<String> {
    raw.request(1, "tools/call", alone_with(json!({ "name": "chat" }), more)).await;
    let mut levels = Vec::new();
    loop {
        let message = raw.next().await;
        match message["method"].as_str() {
            Some("notifications/message") => {
                levels.push(message["params"]["level"].as_str().expect("a level").to_owned());
            }
            _ => {
                assert!(message["result"].is_object(), "{message}");
                return levels;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn log_04_06_and_07_a_request_sets_its_own_level() {
    with_raw(&subject(), async |raw| {
        assert_eq!(logged(raw, json!({})).await, [""; 0]);
        assert_eq!(logged(raw, json!({ LOG_LEVEL: "debug" })).await, ["debug", "info", "error"]);
        assert_eq!(logged(raw, json!({ LOG_LEVEL: "warning" })).await, ["error"]);
        assert_eq!(logged(raw, json!({})).await, [""; 0], "the last request's level is not this one's");
        let loud = alone_with(json!({ "name": "chat" }), json!({ LOG_LEVEL: "loud" }));
        assert_eq!(raw.refusal_of("tools/call", loud).await, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn log_01_and_05_a_server_that_does_not_log_and_a_request_that_is_over_say_nothing() {
    let quiet = Server::new("quiet", "1").tool("chat", "Log", async |_: NoArguments, cx: Context| {
        cx.log(LoggingLevel::Error, None, "unheard").await
    });
    with_raw(&quiet, async |raw| assert_eq!(logged(raw, json!({ LOG_LEVEL: "debug" })).await, [""; 0])).await;
    with_raw(&subject(), async |raw| {
        let params = alone_with(json!({ "name": "leak" }), json!({ LOG_LEVEL: "debug", "progressToken": 1 }));
        raw.result_of("tools/call", params).await;
        let context = LEAKED.lock().unwrap().take().expect("the tool ran");
        assert_eq!(context.meta().expect("it has one").decode_member("progressToken").unwrap(), Some(1));
        context.log(LoggingLevel::Error, None, "late").await.unwrap();
        context.progress(1.0, None, None).await.unwrap();
        raw.hears_nothing().await;
    })
    .await;
}

/// Only a tool knows which capability it needs.
#[tokio::test(start_paused = true)]
async fn st_09_a_tool_names_the_capability_that_it_lacks() {
    let server = Server::new("curious", "1").tool("ask", "Ask", async |_: NoArguments, cx: Context| {
        let wanted = ClientCapabilities::default().elicitation(ElicitationCapability::default());
        match cx.client().capabilities().has("elicitation") {
            true => Ok("asked"),
            false => Err(ToolError::protocol(MissingCapabilities::new(wanted).into())),
        }
    });
    with_raw(&server, async |raw| {
        let call = |capabilities| alone_with(json!({ "name": "ask" }), json!({ CAPABILITIES: capabilities }));
        let refused = raw.ask("tools/call", call(json!({}))).await;
        assert_eq!(code_of(&refused), -32021);
        assert_eq!(refused["error"]["data"], json!({ "requiredCapabilities": { "elicitation": {} } }));
        raw.result_of("tools/call", call(json!({ "elicitation": {} }))).await;
    })
    .await;
}

/// Also where somebody waited for room to log when the answer came.
#[tokio::test(start_paused = true)]
async fn log_05_nothing_is_logged_after_the_answer() {
    let server = Server::new("chatty", "1")
        .logging(LoggingLevel::Debug)
        .connection(|config| config.high_water(1))
        .tool("chat", "Log on and on", async |_: NoArguments, cx: Context| {
            tokio::spawn(async move {
                for _ in 0..100 {
                    cx.log(LoggingLevel::Info, None, "still here").await.unwrap();
                }
            });
            tokio::time::sleep(Duration::from_millis(1)).await;
        });
    with_raw(&server, async |raw| {
        raw.request(1, "tools/call", alone_with(json!({ "name": "chat" }), json!({ LOG_LEVEL: "debug" })))
            .await;
        tokio::time::sleep(Duration::from_millis(2)).await;
        let mut logged = 0;
        while raw.next().await["method"] == "notifications/message" {
            logged += 1;
        }
        assert!((1..100).contains(&logged), "there was room for {logged}");
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cac_01_and_02_cacheable_results_have_a_time_and_a_scope() {
    let motto = ServerResource::new("memo:///motto", "motto", async || "Simple.")
        .caching(Duration::from_millis(1500), CacheScope::Private);
    let server = (0..3)
        .fold(Server::new("kept", "1"), |server, number| {
            server.tool(format!("tool-{number}"), "", async |_: NoArguments, _cx| ())
        })
        .with_resource(motto)
        .resource("memo:///now", "now", async || "12:00")
        .prompt("greet", "", async |_: NoArguments, _cx| "Hello")
        .page_size(2)
        .caching(Duration::from_secs(60), CacheScope::Public);
    let hints = |result: Value| (result["ttlMs"].clone(), result["cacheScope"].clone());
    let listed = (json!(60_000), json!("public"));
    with_raw(&server, async |raw| {
        for method in
            ["server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"]
        {
            assert_eq!(hints(raw.result_of(method, alone(json!({}))).await), listed, "{method}");
        }
        let cursor = raw.result_of("tools/list", alone(json!({}))).await["nextCursor"].take();
        let second = raw.result_of("tools/list", alone(json!({ "cursor": cursor }))).await;
        assert_eq!(second["tools"].as_array().unwrap().len(), 1);
        assert_eq!(hints(second), listed, "the second page");
        let read =
            async |raw: &mut Raw, uri| raw.result_of("resources/read", alone(json!({ "uri": uri }))).await;
        assert_eq!(hints(read(raw, "memo:///motto").await), (json!(1500), json!("private")));
        assert_eq!(hints(read(raw, "memo:///now").await), (json!(0), json!("private")));
        let called = raw.result_of("tools/call", alone(json!({ "name": "tool-0" }))).await;
        assert_eq!(hints(called), (Value::Null, Value::Null), "what a tool did cannot be kept");
    })
    .await;
}
