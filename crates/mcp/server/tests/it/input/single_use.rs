//! A call that changes something is made once, at however many nodes its last round arrives.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_server::schema::ToolAnnotations;
use agentwire_mcp_server::{Context, Form, NoArguments, SealingKeys, Server, ServerTool, ToolError, field};
use agentwire_store::{Clock, Node, OnceStore, StoreError, StoreLimits, Stores};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};

use super::subject::{again, all, answer, from, rounds};
use crate::raw::{Raw, code_of, with_raw};

/// Asks twice, and then counts that it has paid.
async fn pay(cx: Context, paid: Arc<AtomicUsize>) -> Result<String, ToolError> {
    for key in ["amount", "sure"] {
        cx.elicit(key, Form::new("How much?").required("name", field::text())).await?;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(format!("paid {}", paid.fetch_add(1, Ordering::Relaxed) + 1))
}

async fn server(stores: Option<&Stores>, paid: &Arc<AtomicUsize>, hints: ToolAnnotations) -> Server {
    let paid = paid.clone();
    let tool = ServerTool::new("pay", "Pay", move |_: NoArguments, cx: Context| pay(cx, paid.clone()));
    let server = Server::new("bank", "1.0.0")
        .input(|config| config.keys(SealingKeys::new([7; 32])))
        .with_tool(tool.annotations(hints));
    match stores {
        Some(stores) => server.node(Node::join(stores.clone()).await.expect("the store is there")),
        None => server,
    }
}

fn stores() -> Stores {
    Stores::memory(&StoreLimits::new(), &Clock::system())
}

fn call() -> Value {
    from(all(), json!({ "name": "pay", "arguments": {} }))
}

fn answered(wanted: &Value) -> Value {
    let keys = wanted["inputRequests"].as_object().expect("it asks").keys();
    let answers = keys.map(|key| (key.clone(), answer("elicitation/create"))).collect();
    again(&call(), wanted, Value::Object(answers))
}

/// The last round of a call, and its first one.
async fn last_round(raw: &mut Raw) -> (Value, Value) {
    let first = answered(&raw.result_of("tools/call", call()).await);
    (answered(&raw.result_of("tools/call", first.clone()).await), first)
}

#[tokio::test(start_paused = true)]
async fn the_last_round_of_a_call_is_worked_on_once_at_all_nodes() {
    let (stores, paid) = (stores(), Arc::default());
    let one = server(Some(&stores), &paid, ToolAnnotations::default()).await;
    let two = server(Some(&stores), &paid, ToolAnnotations::default()).await;
    with_raw(&one, async |at_one| {
        with_raw(&two, async |at_two| {
            let (last, first) = last_round(at_one).await;
            // A round that has led to a question is answered again, at any node, by that question.
            for raw in [&mut *at_two, at_one] {
                let wanted = raw.result_of("tools/call", first.clone()).await;
                assert_eq!(wanted["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["sure"]);
            }
            at_one.request("one", "tools/call", last.clone()).await;
            at_two.request("two", "tools/call", last.clone()).await;
            let answers = [at_one.next().await, at_two.next().await];
            let refused: Vec<_> = answers.iter().filter(|answer| answer.get("result").is_none()).collect();
            assert_eq!(refused.len(), 1, "{answers:?}");
            assert_eq!(code_of(refused[0]), -32602);
            let message = refused[0]["error"]["message"].as_str().unwrap();
            assert!(message.contains("`requestState` was used already"), "{message}");
            assert_eq!(at_two.refusal_of("tools/call", last.clone()).await, -32602);
            assert_eq!(at_one.refusal_of("tools/call", last).await, -32602);
            assert_eq!(paid.load(Ordering::Relaxed), 1);
            // Another state of the same call is another use.
            let (again, asked) = rounds(at_two, "tools/call", call()).await;
            assert_eq!((&again["content"][0]["text"], asked), (&json!("paid 2"), 2));
        })
        .await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_round_that_was_cut_off_may_have_had_an_effect() {
    let (stores, paid) = (stores(), Arc::default());
    let server = server(Some(&stores), &paid, ToolAnnotations::default()).await;
    with_raw(&server, async |raw| {
        let (last, _) = last_round(raw).await;
        raw.request("cut", "tools/call", last.clone()).await;
        raw.ask("server/discover", from(all(), json!({}))).await;
        raw.abandon("cut").await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(paid.load(Ordering::Relaxed), 0);
        assert_eq!(raw.refusal_of("tools/call", last).await, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn repeatable_calls_and_calls_without_a_node_are_repeated() {
    for (stores, hints) in [
        (Some(stores()), ToolAnnotations::default().read_only_hint(true)),
        (Some(stores()), ToolAnnotations::default().idempotent_hint(true)),
        (None, ToolAnnotations::default()),
    ] {
        let paid = Arc::default();
        let server = server(stores.as_ref(), &paid, hints).await;
        with_raw(&server, async |raw| {
            let (last, _) = last_round(raw).await;
            for time in 1..=2 {
                let result = raw.result_of("tools/call", last.clone()).await;
                assert_eq!(result["content"][0]["text"], format!("paid {time}"));
            }
        })
        .await;
    }
}

/// A store that is away.
#[derive(Debug)]
struct Away;

impl OnceStore for Away {
    fn insert(&self, _: &str, _: Option<&str>, _: Duration) -> BoxFuture<'static, Result<bool, StoreError>> {
        ready(Err(StoreError::away("no route"))).boxed()
    }

    fn contains(&self, _: &str) -> BoxFuture<'static, Result<bool, StoreError>> {
        ready(Err(StoreError::away("no route"))).boxed()
    }

    fn remove(&self, _: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        ready(Err(StoreError::away("no route"))).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_nothing_runs() {
    let (mut stores, paid) = (stores(), Arc::default());
    stores.once = Arc::new(Away);
    let server = server(Some(&stores), &paid, ToolAnnotations::default()).await;
    with_raw(&server, async |raw| {
        let first = answered(&raw.result_of("tools/call", call()).await);
        let refused = raw.ask("tools/call", first).await;
        assert_eq!(code_of(&refused), -32603);
        assert!(refused["error"]["message"].as_str().unwrap().contains("nothing was done"), "{refused}");
        assert_eq!(paid.load(Ordering::Relaxed), 0);
    })
    .await;
}
