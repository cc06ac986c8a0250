//! Questions in modern requests, where they are a part of the result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::subject::{again, all, answer, asker, asker_with, from, rounds};
use crate::raw::{code_of, with_raw};

fn call(tool: &str) -> Value {
    from(all(), json!({ "name": tool, "arguments": {} }))
}

#[tokio::test(start_paused = true)]
async fn the_same_tool_is_answered_in_rounds() {
    with_raw(&asker(), async |raw| {
        let (result, count) = rounds(raw, "tools/call", call("order")).await;
        assert_eq!(result["content"][0]["text"], "0: Hello, Ada (30), in file:///work");
        assert_eq!((count, &result["resultType"]), (3, &json!("complete")));
        let (result, count) = rounds(raw, "tools/call", call("both")).await;
        assert_eq!((&result["content"][0]["text"], count), (&json!("Hello Ada"), 1));
        let (result, count) = rounds(raw, "prompts/get", from(all(), json!({ "name": "ask" }))).await;
        assert_eq!((&result["messages"][0]["content"]["text"], count), (&json!("Ada"), 1));
        let read = from(all(), json!({ "uri": "memo:///ask" }));
        let (result, count) = rounds(raw, "resources/read", read).await;
        assert_eq!((&result["contents"][0]["text"], count), (&json!("Ada"), 1));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn mrt_02_and_04_a_question_has_a_method_and_params_and_a_state_goes_with_it() {
    with_raw(&asker(), async |raw| {
        let result = raw.result_of("tools/call", call("page")).await;
        let question = json!({
            "method": "elicitation/create",
            "params": { "mode": "url", "message": "Please sign in", "url": "https://example.com/sign-in" },
        });
        assert_eq!(result["inputRequests"], json!({ "page": question }));
        assert!(!result["requestState"].as_str().unwrap().is_empty());
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "asker");
        assert!(result.get("ttlMs").is_none() && result.get("cacheScope").is_none(), "{result}");
        let accepted = again(&call("page"), &result, json!({ "page": { "action": "accept" } }));
        assert_eq!(raw.result_of("tools/call", accepted).await["content"][0]["text"], "Accept(())");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_in_the_function_runs_on_without_the_answer() {
    let effects = Arc::new(AtomicUsize::new(0));
    with_raw(&asker_with(|config| config, &effects), async |raw| {
        let wanted = raw.result_of("tools/call", call("swallow")).await;
        assert_eq!(wanted["resultType"], "input_required");
        assert_eq!(effects.load(Ordering::Relaxed), 0);
        let responses = json!({ "person": answer("elicitation/create") });
        let result = raw.result_of("tools/call", again(&call("swallow"), &wanted, responses)).await;
        assert_eq!(result["content"][0]["text"], "Ada");
        assert_eq!(effects.load(Ordering::Relaxed), 1);

        // Whatever it waits for beside the answer.
        for tool in ["patient", "elsewhere"] {
            let (result, count) = rounds(raw, "tools/call", call(tool)).await;
            assert_eq!((&result["content"][0]["text"], count), (&json!("true"), 1), "{tool}");
        }
        raw.result_of("tools/call", call("leave")).await;
        let (result, count) = rounds(raw, "tools/call", call("leave")).await;
        let text = "the request that this was asked for is answered";
        assert_eq!((&result["content"][0]["text"], count), (&json!(text), 0));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn mrt_03_and_st_09_missing_client_capability_is_named_in_the_error() {
    with_raw(&asker(), async |raw| {
        for (capabilities, tool, required) in [
            (json!({}), "order", json!({ "elicitation": { "form": {} } })),
            (json!({ "sampling": {} }), "order", json!({ "elicitation": { "form": {} } })),
            (json!({ "elicitation": {} }), "page", json!({ "elicitation": { "url": {} } })),
            (json!({ "elicitation": {} }), "both", json!({ "sampling": {} })),
            (json!({}), "fallback", json!({ "sampling": {} })),
        ] {
            let params = from(capabilities, json!({ "name": tool, "arguments": {} }));
            let answer = raw.ask("tools/call", params).await;
            assert_eq!(code_of(&answer), -32021, "{tool}: {answer}");
            assert_eq!(answer["error"]["data"], json!({ "requiredCapabilities": required }));
        }
        let prompt = from(json!({}), json!({ "name": "ask" }));
        assert_eq!(raw.refusal_of("prompts/get", prompt).await, -32021);
        let resource = from(json!({}), json!({ "uri": "memo:///ask" }));
        assert_eq!(raw.refusal_of("resources/read", resource).await, -32021);

        let params = from(json!({ "sampling": {} }), json!({ "name": "fallback", "arguments": {} }));
        let (result, count) = rounds(raw, "tools/call", params).await;
        assert_eq!((&result["content"][0]["text"], count), (&json!("instead: Hello"), 1));
        // Between the rounds a client may have lost what it said it had.
        let wanted = raw.result_of("tools/call", call("order")).await;
        let params = from(json!({}), json!({ "name": "order", "arguments": {} }));
        let responses = json!({ "person": answer("elicitation/create") });
        assert_eq!(raw.refusal_of("tools/call", again(&params, &wanted, responses)).await, -32021);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn mrt_07_what_is_missing_is_asked_again_and_what_is_too_much_is_passed_over() {
    with_raw(&asker(), async |raw| {
        let params = call("both");
        let first = raw.result_of("tools/call", params.clone()).await;
        let some = json!({ "person": answer("elicitation/create"), "more": 5 });
        let second = raw.result_of("tools/call", again(&params, &first, some)).await;
        let keys: Vec<_> = second["inputRequests"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["greeting"]);
        assert_ne!(first["requestState"], second["requestState"]);
        // An answer that is there already stays.
        let rest = json!({
            "greeting": answer("sampling/createMessage"),
            "person": { "action": "decline" },
        });
        let result = raw.result_of("tools/call", again(&params, &second, rest)).await;
        assert_eq!(result["content"][0]["text"], "Hello Ada");

        for responses in [json!({}), json!(null), json!({ "person": null, "greeting": null })] {
            let asked = raw.result_of("tools/call", again(&params, &first, responses)).await;
            assert_eq!(asked["inputRequests"], first["inputRequests"]);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn mrt_07_an_answer_that_does_not_fit_is_refused() {
    with_raw(&asker(), async |raw| {
        let params = call("order");
        let wanted = raw.result_of("tools/call", params.clone()).await;
        for wrong in [
            json!(12345),
            json!("Ada"),
            json!({}),
            json!({ "action": "shrug" }),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": { "name": 5 } }),
            json!({ "action": "accept", "content": [] }),
            answer("roots/list"),
        ] {
            let retry = again(&params, &wanted, json!({ "person": wrong }));
            let refused = raw.ask("tools/call", retry).await;
            assert_eq!(code_of(&refused), -32602, "{wrong}: {refused}");
            assert!(refused["error"]["message"].as_str().unwrap().contains("`person`"), "{refused}");
        }
        for wrong in [json!([]), json!(5), json!("all")] {
            for (method, params) in [
                ("tools/call", params.clone()),
                ("prompts/get", from(all(), json!({ "name": "ask" }))),
                ("resources/read", from(all(), json!({ "uri": "memo:///ask" }))),
            ] {
                let mut params = params;
                params["inputResponses"] = wrong.clone();
                assert_eq!(raw.refusal_of(method, params).await, -32602, "{method} {wrong}");
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn rounds_and_what_is_carried_through_them_have_an_end() {
    let server = asker_with(|config| config.rounds(2), &Arc::default());
    with_raw(&server, async |raw| {
        let params = call("order");
        let mut wanted = raw.result_of("tools/call", params.clone()).await;
        wanted = raw.result_of("tools/call", again(&params, &wanted, json!({}))).await;
        assert_eq!(raw.refusal_of("tools/call", again(&params, &wanted, json!({}))).await, -32603);
    })
    .await;
    let server = asker_with(|config| config.state_limit(300), &Arc::default());
    with_raw(&server, async |raw| {
        let params = call("order");
        let wanted = raw.result_of("tools/call", params.clone()).await;
        let with = |name: String| {
            let content = json!({ "name": name });
            again(&params, &wanted, json!({ "person": { "action": "accept", "content": content } }))
        };
        raw.result_of("tools/call", with("x".repeat(10))).await;
        assert_eq!(raw.refusal_of("tools/call", with("x".repeat(300))).await, -32603);
        // An answer to no question is not carried.
        let more = json!({ "person": answer("elicitation/create"), "more": "x".repeat(1000) });
        raw.result_of("tools/call", again(&params, &wanted, more)).await;
        let mut long = again(&params, &wanted, json!({}));
        long["requestState"] = json!("x".repeat(301));
        assert_eq!(raw.refusal_of("tools/call", long).await, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_key_is_for_one_question() {
    with_raw(&asker(), async |raw| {
        let (result, count) = rounds(raw, "tools/call", call("twice")).await;
        assert_eq!(count, 1);
        assert!(
            result["content"][0]["text"].as_str().unwrap().contains("`person` was used already"),
            "{result}"
        );
    })
    .await;
}
