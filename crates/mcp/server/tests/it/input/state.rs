//! State that a client carries from round to round: it cannot read it, change it, or use it for anything else.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_server::{InputConfig, MessageSource, SealingKeys, Server};
use agentwire_transport::Packet;
use serde_json::{Value, json};

use super::subject::{again, all, answer, asker, asker_with, from};
use crate::raw::{Raw, code_of, with_raw};

fn order() -> Value {
    from(all(), json!({ "name": "order", "arguments": { "number": 7 } }))
}

/// The second round of an order: its state holds an answer.
async fn second(raw: &mut Raw) -> Value {
    let first = raw.result_of("tools/call", order()).await;
    let responses = json!({ "person": answer("elicitation/create") });
    raw.result_of("tools/call", again(&order(), &first, responses)).await
}

fn keyed(change: impl FnOnce(InputConfig) -> InputConfig) -> Server {
    asker_with(|config| change(config.keys(SealingKeys::new([7; 32]))), &Arc::default())
}

#[tokio::test(start_paused = true)]
async fn mrt_05_a_state_that_was_changed_anywhere_is_refused() {
    with_raw(&asker(), async |raw| {
        let wanted = second(raw).await;
        let state = wanted["requestState"].as_str().unwrap().to_owned();
        let mut changed: Vec<String> = Vec::new();
        for place in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            changed.push(String::from_utf8(bytes).unwrap());
        }
        changed.extend((0..state.len()).step_by(7).map(|end| state[..end].to_owned()));
        changed.extend([
            format!("{state}-TAMPERED"),
            format!("{state}="),
            format!("{state}A"),
            format!(" {state}"),
        ]);
        for text in changed {
            let mut params = again(&order(), &wanted, json!({}));
            params["requestState"] = json!(text);
            let refused = raw.ask("tools/call", params).await;
            assert_eq!(code_of(&refused), -32602, "{text}");
        }
        for wrong in [json!(5), json!({}), json!([])] {
            let mut params = again(&order(), &wanted, json!({}));
            params["requestState"] = wrong;
            assert_eq!(raw.refusal_of("tools/call", params).await, -32602);
        }
        // It is the text alone that was wrong.
        let asked = raw.result_of("tools/call", again(&order(), &wanted, json!({}))).await;
        assert_eq!(asked["inputRequests"], wanted["inputRequests"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn mrt_06_a_state_is_good_for_its_request_alone() {
    with_raw(&asker(), async |raw| {
        let wanted = second(raw).await;
        for (method, other) in [
            ("tools/call", json!({ "name": "other", "arguments": { "number": 7 } })),
            ("tools/call", json!({ "name": "order", "arguments": { "number": 8 } })),
            ("tools/call", json!({ "name": "order", "arguments": {} })),
            ("tools/call", json!({ "name": "order", "arguments": { "number": 7, "more": 1 } })),
            ("prompts/get", json!({ "name": "ask" })),
            // Also where it would not be read.
            ("prompts/get", json!({ "name": "late" })),
            ("resources/read", json!({ "uri": "memo:///ask" })),
        ] {
            let foreign = again(&from(all(), other.clone()), &wanted, json!({}));
            assert_eq!(raw.refusal_of(method, foreign).await, -32602, "{other}");
            let foreign = again(&from(json!({}), other.clone()), &wanted, json!({}));
            assert_eq!(raw.refusal_of(method, foreign).await, -32602, "{other}, and nothing can be asked");
        }
        let ask = from(all(), json!({ "name": "ask" }));
        let wanted_by_prompt = raw.result_of("prompts/get", ask.clone()).await;
        assert_eq!(raw.refusal_of("tools/call", again(&ask, &wanted_by_prompt, json!({}))).await, -32602);
        let same = from(all(), json!({ "arguments": { "number": 7.0 }, "name": "order" }));
        assert_eq!(
            raw.result_of("tools/call", again(&same, &wanted, json!({}))).await["resultType"],
            "input_required"
        );
    })
    .await;
}

/// A reader that gives names of `serde_json`'s own a meaning would take this for the same request.
#[tokio::test(start_paused = true)]
async fn mrt_06_a_state_is_no_good_for_arguments_that_read_as_those_of_its_request() {
    with_raw(&asker(), async |raw| {
        let wanted = second(raw).await;
        let mut other = order();
        other["arguments"] = json!({ "$serde_json::private::RawValue": order()["arguments"].to_string() });
        assert_eq!(raw.refusal_of("tools/call", again(&other, &wanted, json!({}))).await, -32600);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn mrt_06_a_state_expires() {
    let (now, later) = (keyed(|config| config.expiry(Duration::ZERO)), keyed(|config| config));
    let wanted = with_raw(&now, async |raw| {
        let wanted = raw.result_of("tools/call", order()).await;
        let refused = raw.ask("tools/call", again(&order(), &wanted, json!({}))).await;
        assert_eq!(code_of(&refused), -32602);
        assert!(refused["error"]["message"].as_str().unwrap().contains("expired"), "{refused}");
        wanted
    })
    .await;
    with_raw(&later, async |raw| {
        assert_eq!(raw.refusal_of("tools/call", again(&order(), &wanted, json!({}))).await, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn servers_with_the_same_key_go_on_for_each_other_and_others_do_not() {
    let wanted = with_raw(&keyed(|config| config), second).await;
    let retry = || again(&order(), &wanted, json!({ "greeting": answer("sampling/createMessage") }));
    with_raw(&keyed(|config| config), async |raw| {
        let asked = raw.result_of("tools/call", retry()).await;
        let keys: Vec<_> = asked["inputRequests"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["roots"]);
    })
    .await;
    with_raw(&asker(), async |raw| assert_eq!(raw.refusal_of("tools/call", retry()).await, -32602)).await;
    // A server and its clones are one.
    let server = asker();
    let wanted = with_raw(&server.clone().instructions("clone"), second).await;
    with_raw(&server, async |raw| {
        let asked = raw.result_of("tools/call", again(&order(), &wanted, json!({}))).await;
        assert_eq!(asked["inputRequests"], wanted["inputRequests"]);
    })
    .await;
}

/// The sender of a request.
#[derive(Debug)]
struct Caller(&'static str);

impl MessageSource for Caller {
    fn principal(&self) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }
}

async fn ask_as(raw: &mut Raw, who: &'static str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": who, "method": "tools/call", "params": params });
    let mut packet = Packet::from_json(&request.to_string());
    if let Packet::Frame { source, .. } = &mut packet {
        *source = Some(Arc::new(Caller(who)));
    }
    raw.give(packet).await;
    raw.next().await
}

#[tokio::test(start_paused = true)]
async fn mrt_06_a_state_is_good_for_its_caller_alone() {
    let found = keyed(|config| {
        config.principal(|source| source.downcast_ref::<Caller>().map(|caller| caller.0.to_owned()))
    });
    // The transport knows it by itself.
    for server in [keyed(|config| config), found] {
        with_raw(&server, async |raw| {
            let wanted = ask_as(raw, "ada", order()).await["result"].take();
            let retry = again(&order(), &wanted, json!({}));
            assert_eq!(code_of(&ask_as(raw, "bob", retry.clone()).await), -32602);
            assert_eq!(
                raw.refusal_of("tools/call", retry.clone()).await,
                -32602,
                "a caller who is not known"
            );
            assert_eq!(ask_as(raw, "ada", retry).await["result"]["inputRequests"], wanted["inputRequests"]);
        })
        .await;
    }
}
