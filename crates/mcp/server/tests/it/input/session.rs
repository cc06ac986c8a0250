//! Questions in a session, where each is a request.

use std::time::Duration;

use agentwire_mcp_server::Server;
use serde_json::{Value, json};

use super::subject::{all, answer, asker, asker_with};
use crate::raw::{NEWEST, Raw, code_of, with_raw};

/// Runs `main` in a session of that revision with a client that can do that.
async fn with_client<R>(
    server: &Server,
    revision: &str,
    capabilities: Value,
    main: impl AsyncFnOnce(&mut Raw) -> R,
) -> R {
    with_raw(server, async |raw| {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": { "name": "raw", "version": "1" },
        });
        raw.ask("initialize", params).await;
        raw.notify("notifications/initialized", json!({})).await;
        main(raw).await
    })
    .await
}

/// Answers every question until the request has its result. Gives that, and the methods of the questions.
async fn asked(raw: &mut Raw, method: &str, params: Value) -> (Value, Vec<String>) {
    raw.request("call", method, params).await;
    let mut methods = Vec::new();
    loop {
        let message = raw.next().await;
        let Some(method) = message["method"].as_str() else {
            assert_eq!(message["id"], "call", "{message}");
            return (message["result"].clone(), methods);
        };
        raw.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer(method) })).await;
        methods.push(method.to_owned());
    }
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {} })
}

#[tokio::test(start_paused = true)]
async fn a_tool_asks_and_waits() {
    with_client(&asker(), NEWEST, all(), async |raw| {
        let (result, methods) = asked(raw, "tools/call", call("order")).await;
        assert_eq!(result["content"][0]["text"], "0: Hello, Ada (30), in file:///work");
        assert_eq!(methods, ["elicitation/create", "sampling/createMessage", "roots/list"]);
        let (result, methods) = asked(raw, "tools/call", call("both")).await;
        assert_eq!(result["content"][0]["text"], "Hello Ada");
        assert_eq!(methods.len(), 2);
        let (result, _) = asked(raw, "prompts/get", json!({ "name": "ask" })).await;
        assert_eq!(result["messages"][0]["content"]["text"], "Ada");
        let (result, _) = asked(raw, "resources/read", json!({ "uri": "memo:///ask" })).await;
        assert_eq!(result["contents"][0]["text"], "Ada");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_form_and_a_page_are_said_as_the_revision_says_them() {
    let form = json!({
        "message": "Who are you?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 2 },
                "age": { "type": "integer", "minimum": 0, "default": 30 },
            },
            "required": ["name"],
        },
    });
    with_client(&asker(), NEWEST, all(), async |raw| {
        raw.request(1, "tools/call", call("swallow")).await;
        assert_eq!(raw.next().await["params"], form);
        raw.request(2, "tools/call", call("page")).await;
        let mut question = raw.next().await;
        let page = json!({
            "mode": "url", "message": "Please sign in", "url": "https://example.com/sign-in",
            "elicitationId": "page-1",
        });
        assert_eq!(question["params"].take(), page);
        let accepted = json!({ "action": "accept" });
        raw.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted })).await;
        let complete = raw.next().await;
        assert_eq!(complete["method"], "notifications/elicitation/complete");
        assert_eq!(complete["params"], json!({ "elicitationId": "page-1" }));
        assert_eq!(raw.next().await["result"]["content"][0]["text"], "Accept(())");
    })
    .await;
    with_client(&asker(), "2025-06-18", json!({ "elicitation": {} }), async |raw| {
        raw.request(1, "tools/call", call("swallow")).await;
        let mut older = form;
        older["requestedSchema"]["properties"]["age"].as_object_mut().unwrap().remove("default");
        assert_eq!(raw.next().await["params"], older);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn decision_of_the_user_is_returned_and_an_impossible_one_is_an_error() {
    with_client(&asker(), NEWEST, all(), async |raw| {
        for (answer, text) in [
            (json!({ "action": "decline" }), "nobody"),
            (json!({ "action": "cancel", "content": {} }), "nobody"),
            (json!({ "action": "shrug" }), "`shrug` is nothing that a user can do"),
            (json!({ "action": "accept" }), "name: is missing"),
            (
                json!({ "action": "accept", "content": { "name": "A" } }),
                "name: must have 2 characters or more",
            ),
            (
                json!({ "action": "accept", "content": { "name": "Ada", "age": 300 } }),
                "`age`: expected u8, found integer `300`",
            ),
            (json!({}), "missing field `action`"),
        ] {
            raw.request(1, "tools/call", call("order")).await;
            let question = raw.next().await;
            raw.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
            let result = raw.next().await["result"].take();
            assert!(result["content"][0]["text"].as_str().unwrap().contains(text), "{text}: {result}");
            assert_eq!(result["isError"] == true, text != "nobody", "{result}");
        }
        raw.request(1, "tools/call", call("order")).await;
        let question = raw.next().await;
        let error = json!({ "code": -1, "message": "not now" });
        raw.send(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })).await;
        let result = raw.next().await["result"].take();
        assert!(result["content"][0]["text"].as_str().unwrap().contains("not now"), "{result}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lif_13_what_the_client_cannot_be_asked_is_not_sent() {
    for (revision, capabilities, tool, lacks) in [
        (NEWEST, json!({}), "order", "elicitation.form"),
        (NEWEST, json!({ "elicitation": { "url": {} } }), "order", "elicitation.form"),
        (NEWEST, json!({ "elicitation": {} }), "page", "elicitation.url"),
        (NEWEST, json!({ "elicitation": {} }), "fallback", ""),
        (NEWEST, json!({ "roots": {} }), "fallback", "sampling"),
        ("2025-06-18", all(), "page", "elicitation.url"),
        // These revisions do not have it, whatever the client sends.
        ("2025-03-26", all(), "order", "elicitation.form"),
        ("2024-11-05", all(), "order", "elicitation.form"),
    ] {
        with_client(&asker(), revision, capabilities, async |raw| {
            raw.request(1, "tools/call", call(tool)).await;
            let message = raw.next().await;
            if lacks.is_empty() {
                assert_eq!(message["method"], "elicitation/create", "{message}");
                return;
            }
            let text =
                message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
            assert!(text.contains(&format!("`{lacks}`")), "{text}");
            assert_eq!(message["result"]["isError"], true);
        })
        .await;
    }
    with_client(&asker(), NEWEST, json!({}), async |raw| {
        let answer = raw.ask("prompts/get", json!({ "name": "ask" })).await;
        assert_eq!(code_of(&answer), -32603);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn can_02_a_cancelled_call_withdraws_its_question() {
    with_client(&asker(), NEWEST, all(), async |raw| {
        raw.request("call", "tools/call", call("order")).await;
        let question = raw.next().await;
        raw.notify("notifications/cancelled", json!({ "requestId": "call" })).await;
        let withdrawn = raw.next().await;
        assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
        assert_eq!(withdrawn["params"]["requestId"], question["id"]);
        raw.ping().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn late_answer_is_not_waited_for() {
    let server = asker_with(|config| config.timeout(Duration::from_secs(60)), &Default::default());
    for (server, seconds) in [(asker(), 3600), (server, 60)] {
        with_client(&server, NEWEST, all(), async |raw| {
            let since = tokio::time::Instant::now();
            raw.request(1, "tools/call", call("order")).await;
            raw.next().await;
            tokio::time::advance(Duration::from_secs(seconds - 1)).await;
            assert_eq!(raw.next().await["method"], "notifications/cancelled");
            assert_eq!(raw.next().await["result"]["isError"], true);
            assert_eq!(since.elapsed().as_secs(), seconds);
        })
        .await;
    }
    with_client(&asker(), NEWEST, all(), async |raw| {
        raw.request(1, "tools/call", call("patient")).await;
        raw.next().await;
        assert_eq!(raw.next().await["method"], "notifications/cancelled");
        assert_eq!(raw.next().await["result"]["content"][0]["text"], "too slow");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_key_is_for_one_question() {
    with_client(&asker(), NEWEST, all(), async |raw| {
        let (result, methods) = asked(raw, "tools/call", call("twice")).await;
        assert_eq!(methods.len(), 1);
        assert!(
            result["content"][0]["text"].as_str().unwrap().contains("`person` was used already"),
            "{result}"
        );
    })
    .await;
}
