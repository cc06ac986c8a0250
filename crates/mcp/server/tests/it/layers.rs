//! Layers around tools, resources and prompts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_server::schema::TaskSupport;
use agentwire_mcp_server::{
    Context, Elicited, ErrorObject, Form, LayerError, Next, NoArguments, RawCall, Server, ServerPrompt,
    ServerResource, ServerResourceTemplate, ServerTool, Tasks, ToolError, from_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tower::ServiceBuilder;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

use crate::raw::{NEWEST, Raw, alone, alone_with, code_of, with_both_eras, with_session};
use crate::subject::{CountDrop, Stopped};

#[derive(Deserialize, JsonSchema)]
struct Wait {
    seconds: u64,
}

/// A tool that takes as long as its argument, and counts its futures that are dropped.
fn wait(stopped: &Stopped) -> ServerTool {
    let stopped = stopped.clone();
    ServerTool::new("wait", "Wait", move |Wait { seconds }: Wait, _: Context| {
        let stopped = stopped.clone();
        async move {
            let _counted = CountDrop(stopped.dropped);
            sleep(Duration::from_secs(seconds)).await;
            format!("after {seconds} s")
        }
    })
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

fn seconds(seconds: u64) -> Value {
    call("wait", json!({ "seconds": seconds }))
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

const TIMED_OUT: &str = "the tool `wait` failed: request timed out";

#[tokio::test(start_paused = true)]
async fn a_tool_over_its_time_out_is_dropped_and_answered_with_an_error_of_the_tool() {
    let stopped = Stopped::default();
    let server =
        Server::new("s", "1").with_tool(wait(&stopped).layer(TimeoutLayer::new(Duration::from_secs(10))));
    with_both_eras(&server, async |raw| {
        raw.greet(NEWEST).await;
        for params in [seconds(60), alone(seconds(60))] {
            let (began, dropped) = (Instant::now(), stopped.dropped.load(Ordering::Relaxed));
            let result = raw.result_of("tools/call", params).await;
            assert_eq!((&result["isError"], text(&result)), (&json!(true), TIMED_OUT));
            assert_eq!(began.elapsed().as_secs(), 10);
            assert_eq!(stopped.dropped.load(Ordering::Relaxed), dropped + 1, "the function has gone");
        }
        let result = raw.result_of("tools/call", seconds(5)).await;
        assert_eq!(text(&result), "after 5 s");
    })
    .await;
}

/// The ids of the next answers, and after how many seconds they arrived.
async fn answers(raw: &mut Raw, began: Instant, count: usize) -> Vec<(i64, u64)> {
    let mut answers = Vec::new();
    for _ in 0..count {
        let answer = raw.next().await;
        answers.push((answer["id"].as_i64().expect("an answer"), began.elapsed().as_secs()));
    }
    answers
}

#[tokio::test(start_paused = true)]
async fn two_calls_of_a_tool_with_a_limit_of_one_run_one_after_the_other() {
    let stopped = Stopped::default();
    let limited = Server::new("s", "1").with_tool(wait(&stopped).layer(ConcurrencyLimitLayer::new(1)));
    let free = Server::new("s", "1").with_tool(wait(&stopped));
    for (server, expected) in [(limited, [(1, 10), (2, 20)]), (free, [(1, 10), (2, 10)])] {
        with_both_eras(&server, async |raw| {
            raw.greet(NEWEST).await;
            let began = Instant::now();
            raw.request(1, "tools/call", seconds(10)).await;
            // The limit is that of the tool, so it counts requests of both forms.
            raw.request(2, "tools/call", alone(seconds(10))).await;
            assert_eq!(answers(raw, began, 2).await, expected);
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_leaves_its_layers() {
    let stopped = Stopped::default();
    let server = Server::new("s", "1").with_tool(wait(&stopped).layer(ConcurrencyLimitLayer::new(1)));
    with_session(&server, NEWEST, async |raw| {
        let began = Instant::now();
        for id in 1..=4 {
            raw.request(id, "tools/call", seconds(10)).await;
        }
        sleep(Duration::from_secs(1)).await;
        // One that waits, and one that runs.
        for id in [2, 1] {
            raw.notify("notifications/cancelled", json!({ "requestId": id })).await;
        }
        assert_eq!(answers(raw, began, 2).await, [(3, 11), (4, 21)]);
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 3, "the one that waited did not begin");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tasks_run_within_their_layers() {
    let stopped = Stopped::default();
    let tasks = Tasks::new(|work| drop(tokio::spawn(work)));
    let tool = wait(&stopped)
        .task(TaskSupport::Required)
        .layer(ConcurrencyLimitLayer::new(1))
        .layer(TimeoutLayer::new(Duration::from_secs(10)));
    let server = Server::new("s", "1").tasks(tasks).with_tool(tool);
    let id_of = |task: &Value| task["taskId"].as_str().expect("an id").to_owned();
    with_session(&server, NEWEST, async |raw| {
        let params = json!({ "name": "wait", "arguments": { "seconds": 60 }, "task": {} });
        let id = id_of(&raw.result_of("tools/call", params).await["task"]);
        assert_eq!(
            raw.next().await["params"]["statusMessage"],
            TIMED_OUT,
            "the tool failed, and so did its task"
        );
        let result = raw.result_of("tasks/result", json!({ "taskId": id })).await;
        assert_eq!(text(&result), TIMED_OUT);
    })
    .await;
    stopped.dropped.store(0, Ordering::Relaxed);
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let opted =
        |params| alone_with(params, json!({ "io.modelcontextprotocol/clientCapabilities": capabilities }));
    with_both_eras(&server, async |raw| {
        let mut ids = Vec::new();
        for time in [60, 5, 60] {
            ids.push(id_of(&raw.result_of("tools/call", opted(seconds(time))).await));
        }
        let cancelled = raw.result_of("tasks/cancel", opted(json!({ "taskId": ids[2] }))).await;
        assert_eq!(cancelled["resultType"], "complete", "{cancelled}");
        // The first one times out after 10 s, and only then the second one begins.
        sleep(Duration::from_secs(12)).await;
        let mut states = Vec::new();
        for id in &ids {
            states.push(raw.result_of("tasks/get", opted(json!({ "taskId": id }))).await);
        }
        let status: Vec<_> = states.iter().map(|state| state["status"].as_str().expect("a status")).collect();
        assert_eq!(status, ["completed", "working", "cancelled"]);
        assert_eq!(text(&states[0]["result"]), TIMED_OUT);
        sleep(Duration::from_secs(5)).await;
        let second = raw.result_of("tasks/get", opted(json!({ "taskId": ids[1] }))).await;
        assert_eq!(text(&second["result"]), "after 5 s");
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 2, "the cancelled one did not begin");
    })
    .await;
}

/// A layer that writes down under a name what passes it.
macro_rules! recorder {
    ($record:expr, $name:literal) => {{
        let record = $record.clone();
        from_fn(move |call: RawCall, next: Next| {
            let line = format!("{} {} {} {}", $name, call.method(), call.name(), call.arguments().as_str());
            record.lock().expect("no panic").push(line);
            next.call(call)
        })
    }};
}

async fn hello(_: NoArguments, _: Context) -> &'static str {
    "hello"
}

async fn read(_: String, _: Context) -> &'static str {
    "text"
}

#[derive(Deserialize, JsonSchema)]
struct Day {
    day: u8,
}

async fn day(Day { day }: Day, _: Context) -> String {
    format!("day {day}")
}

#[tokio::test]
async fn layers_of_a_server_are_around_everything_and_the_first_one_is_the_outermost() {
    let record = Arc::new(Mutex::new(Vec::<String>::new()));
    let server = Server::new("s", "1")
        .with_tool(
            ServerTool::new("hello", "Hello", hello)
                .layer(recorder!(record, "third"))
                .layer(recorder!(record, "fourth")),
        )
        .with_resource(ServerResource::new("memo:///a", "a", read).layer(recorder!(record, "third")))
        .with_resource_template(
            ServerResourceTemplate::new("day:///{day}", "day", day).layer(recorder!(record, "third")),
        )
        .with_prompt(ServerPrompt::new("plan", "Plan", day).layer(recorder!(record, "third")))
        .layer(recorder!(record, "first"))
        .layer(recorder!(record, "second"));
    let taken = || std::mem::take(&mut *record.lock().expect("no panic"));
    with_session(&server, NEWEST, async |raw| {
        let result = raw.result_of("tools/call", call("hello", json!({}))).await;
        assert_eq!(text(&result), "hello");
        let places = ["first", "second", "third", "fourth"];
        assert_eq!(taken(), places.map(|place| format!("{place} tools/call hello {{}}")));
        let outer = |rest: &str| ["first", "second", "third"].map(|place| format!("{place} {rest}"));
        let result = raw.result_of("resources/read", json!({ "uri": "memo:///a" })).await;
        assert_eq!(result["contents"][0]["text"], "text");
        assert_eq!(taken(), outer("resources/read memo:///a {}"));
        let result = raw.result_of("resources/read", json!({ "uri": "day:///7" })).await;
        assert_eq!(result["contents"][0], json!({ "uri": "day:///7", "text": "day 7" }));
        assert_eq!(taken(), outer(r#"resources/read day:///7 {"day":"7"}"#));
        let params = json!({ "name": "plan", "arguments": { "day": "7" } });
        let result = raw.result_of("prompts/get", params).await;
        assert_eq!(result["messages"][0]["content"]["text"], "day 7");
        assert_eq!(taken(), outer(r#"prompts/get plan {"day":"7"}"#));
    })
    .await;
}

#[tokio::test]
async fn the_error_of_a_layer_is_one_of_the_tool_unless_it_is_one_of_the_protocol() {
    let refuse = from_fn(async |call: RawCall, _: Next| match call.name() {
        "hello" | "memo:///a" | "plan" => Err(LayerError::from("not today")),
        _ => Err(ErrorObject::new(-32042, "sign in first").into()),
    });
    let server = Server::new("s", "1")
        .layer(refuse)
        .tool("hello", "Hello", hello)
        .tool("other", "Hello", hello)
        .resource("memo:///a", "a", read)
        .resource("memo:///b", "b", read)
        .prompt("plan", "Plan", hello);
    with_session(&server, NEWEST, async |raw| {
        let result = raw.result_of("tools/call", call("hello", json!({}))).await;
        assert_eq!((&result["isError"], text(&result)), (&json!(true), "the tool `hello` failed: not today"));
        assert_eq!(raw.refusal_of("tools/call", call("other", json!({}))).await, -32042);
        for (method, params) in
            [("resources/read", json!({ "uri": "memo:///a" })), ("prompts/get", json!({ "name": "plan" }))]
        {
            let answer = raw.ask(method, params).await;
            assert_eq!(code_of(&answer), -32603, "{answer}");
            assert_eq!(answer["error"]["message"], "internal error: not today");
        }
        assert_eq!(raw.refusal_of("resources/read", json!({ "uri": "memo:///b" })).await, -32042);
    })
    .await;
}

/// A layer that changes nothing.
fn plain(call: RawCall, next: Next) -> agentwire_mcp_server::RawCallFuture {
    next.call(call)
}

#[tokio::test]
async fn layer_that_changes_nothing_changes_no_response() {
    let server = || crate::subject::subject().prompt("plan", "Plan", day);
    let calls = [
        ("tools/call", call("add", json!({ "a": 1, "b": 2 }))),
        ("tools/call", call("add", json!({ "a": 1, "b": "two" }))),
        ("tools/call", call("fail", json!({}))),
        ("tools/call", call("refuse", json!({}))),
        ("tools/call", call("panic", json!({}))),
        ("prompts/get", json!({ "name": "plan", "arguments": { "day": "x" } })),
        ("prompts/get", json!({ "name": "plan", "arguments": { "day": "7" } })),
    ];
    let answers = async |server: Server| {
        let mut answers = Vec::new();
        for revision in ["2025-06-18", NEWEST] {
            with_session(&server, revision, async |raw| {
                for (method, params) in &calls {
                    answers.push(raw.ask(method, params.clone()).await);
                }
            })
            .await;
        }
        answers
    };
    assert_eq!(answers(server()).await, answers(server().layer(from_fn(plain))).await);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_through_a_layer() {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let ask = async |_: NoArguments, cx: Context| -> Result<&'static str, ToolError> {
        match cx.elicit("sure", Form::new("Sure?")).await? {
            Elicited::Accept(_) => Ok("removed"),
            _ => Ok("kept"),
        }
    };
    let counted = from_fn(move |call: RawCall, next: Next| {
        count.fetch_add(1, Ordering::Relaxed);
        next.call(call)
    });
    let server = Server::new("s", "1").layer(counted).tool("ask", "Ask", ask);
    let can = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } });
    with_both_eras(&server, async |raw| {
        let wanted = raw.result_of("tools/call", alone_with(call("ask", json!({})), can.clone())).await;
        assert_eq!(wanted["resultType"], "input_required", "{wanted}");
        let mut again = call("ask", json!({}));
        again["requestState"] = wanted["requestState"].clone();
        again["inputResponses"] = json!({ "sure": { "action": "accept", "content": {} } });
        let result = raw.result_of("tools/call", alone_with(again, can)).await;
        assert_eq!(text(&result), "removed");
    })
    .await;
    assert_eq!(runs.load(Ordering::Relaxed), 2, "once for each round");
}

#[tokio::test(start_paused = true)]
async fn load_is_shed_and_rates_are_limited_by_layers_of_tower() {
    let stopped = Stopped::default();
    let shed = ServiceBuilder::new().load_shed().concurrency_limit(1).into_inner();
    let server = Server::new("s", "1").with_tool(wait(&stopped).layer(shed));
    with_session(&server, NEWEST, async |raw| {
        raw.request(1, "tools/call", seconds(10)).await;
        let answer = raw.ask("tools/call", seconds(10)).await;
        assert_eq!(text(&answer["result"]), "the tool `wait` failed: service overloaded");
        assert_eq!(text(&raw.next().await["result"]), "after 10 s");
    })
    .await;
    let rate = ServiceBuilder::new().buffer(8).rate_limit(1, Duration::from_secs(60)).into_inner();
    let server = Server::new("s", "1").with_tool(wait(&stopped).layer(rate));
    with_session(&server, NEWEST, async |raw| {
        let began = Instant::now();
        for id in [1, 2] {
            raw.request(id, "tools/call", seconds(1)).await;
        }
        assert_eq!(answers(raw, began, 2).await, [(1, 1), (2, 61)]);
    })
    .await;
}
