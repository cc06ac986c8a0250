//! A server whose tools run as tasks, and the clients that ask about them.

use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_mcp_server::schema::{CreateMessageRequest, LoggingLevel, SamplingMessage, TaskSupport};
use agentwire_mcp_server::{
    Context, ErrorObject, Form, NoArguments, Server, ServerTool, Tasks, ToolError, field,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::raw::{NEWEST, Raw, alone_with, code_of, with_both_eras, with_raw};
use crate::subject::{CountDrop, Stopped};

/// The extension of 2026-07-28.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The key under which a message of 2025-11-25 names its task.
pub(super) const RELATED: &str = "io.modelcontextprotocol/related-task";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Tasks that run on the runtime of the test, and are kept for an hour.
pub(super) fn tasks() -> Tasks {
    Tasks::new(|work| drop(tokio::spawn(work)))
        .ttl(Duration::from_secs(3600))
        .poll_interval(Duration::from_millis(500))
}

pub(super) fn subject() -> Server {
    subject_with(tasks(), &Stopped::default())
}

pub(super) fn subject_with(tasks: Tasks, stopped: &Stopped) -> Server {
    let (deaf, polite) = (stopped.clone(), stopped.clone());
    let deaf = move |_: NoArguments, _: Context| {
        let stopped = deaf.clone();
        async move {
            let _counted = CountDrop(stopped.dropped);
            pending::<String>().await
        }
    };
    let polite = move |_: NoArguments, cx: Context| {
        let stopped = polite.clone();
        async move {
            cx.cancelled().await;
            assert!(cx.is_cancelled());
            stopped.told.fetch_add(1, Ordering::Relaxed);
            "done all the same"
        }
    };
    let required = |tool: ServerTool| tool.task(TaskSupport::Required);
    let optional = |tool: ServerTool| tool.task(TaskSupport::Optional);
    Server::new("subject", "1.0.0")
        .logging(LoggingLevel::Info)
        .tasks(tasks)
        .tool("echo", "Say it back", echo)
        .with_tool(optional(ServerTool::new("wait", "Wait", wait)))
        .with_tool(required(ServerTool::new("job", "Wait", wait)))
        .with_tool(required(ServerTool::new("fail", "Fail", fail)))
        .with_tool(required(ServerTool::new("refuse", "Refuse", refuse)))
        .with_tool(required(ServerTool::new("panic", "Panic", panic)))
        .with_tool(required(ServerTool::new("ask", "Ask for a name", ask)))
        .with_tool(required(ServerTool::new("ask_two", "Ask for two things at once", ask_two)))
        .with_tool(required(ServerTool::new("ask_twice", "Ask one thing after the other", ask_twice)))
        .with_tool(optional(ServerTool::new("ask_then_work", "Ask, then take long", ask_then_work)))
        .with_tool(optional(ServerTool::new("work_then_ask", "Take long, then ask", work_then_ask)))
        .with_tool(required(ServerTool::new("report", "Say how it goes", report)))
        .with_tool(required(ServerTool::new("deaf", "Wait for ever", deaf)))
        .with_tool(required(ServerTool::new("polite", "Wait until cancelled", polite)))
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(Echo { text }: Echo, _: Context) -> String {
    text
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    seconds: u64,
}

async fn wait(Wait { seconds }: Wait, _: Context) -> String {
    sleep(Duration::from_secs(seconds)).await;
    format!("after {seconds} s")
}

async fn fail(_: NoArguments, _: Context) -> Result<String, ToolError> {
    sleep(Duration::from_secs(1)).await;
    Err(ToolError::new("it broke"))
}

async fn refuse(_: NoArguments, _: Context) -> Result<String, ToolError> {
    sleep(Duration::from_secs(1)).await;
    Err(ToolError::protocol(ErrorObject::new(-32042, "go there first")))
}

async fn panic(_: NoArguments, _: Context) -> String {
    sleep(Duration::from_secs(1)).await;
    panic!("as asked")
}

async fn name(cx: &Context, key: &str) -> Result<String, ToolError> {
    let form = Form::new("Who are you?").required("name", field::text());
    let answer = cx.elicit(key, form).await?.accepted();
    Ok(answer.map_or("nobody".to_owned(), |answer| answer["name"].as_str().unwrap_or("?").to_owned()))
}

async fn ask(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    Ok(format!("Hello {}", name(&cx, "name").await?))
}

async fn ask_two(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let greeting = CreateMessageRequest::new(vec![SamplingMessage::user("Greet them.")], 50);
    let (name, greeting) =
        tokio::join!(name(&cx, "name"), async { Ok::<_, ToolError>(cx.sample("greeting", greeting).await?) });
    let said = greeting?.content.iter().filter_map(|part| part.as_text()).collect::<String>();
    Ok(format!("{said} {}", name?))
}

async fn ask_twice(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let first = name(&cx, "first").await?;
    sleep(Duration::from_secs(2)).await;
    let roots = cx.list_roots().await?;
    Ok(format!("{first} in {}", roots[0].uri))
}

async fn ask_then_work(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let name = name(&cx, "name").await?;
    sleep(Duration::from_secs(10)).await;
    Ok(format!("Hello {name}, at last"))
}

async fn work_then_ask(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    sleep(Duration::from_secs(10)).await;
    Ok(format!("Hello {}", name(&cx, "name").await?))
}

/// Reports progress, and lets the context out, which then sends more.
async fn report(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    sleep(Duration::from_secs(1)).await;
    cx.progress(1.0, Some(2.0), None).await?;
    cx.status("half of it");
    cx.log(LoggingLevel::Error, None, "half").await?;
    sleep(Duration::from_secs(1)).await;
    cx.progress(2.0, Some(2.0), None).await?;
    LEFT.lock().expect("no panic").replace(cx);
    Ok("reported")
}

pub(super) static LEFT: Mutex<Option<Context>> = Mutex::new(None);

/// The capabilities of a client of the tests.
pub(super) fn all() -> Value {
    json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} })
}

/// The answer to each question.
pub(super) fn answer(method: &str) -> Value {
    match method {
        "elicitation/create" => json!({ "action": "accept", "content": { "name": "Ada" } }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m" })
        }
        "roots/list" => json!({ "roots": [{ "uri": "file:///work" }] }),
        other => panic!("nobody asks {other}"),
    }
}

/// The text of a result.
pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

/// A date and a time by RFC 3339.
#[track_caller]
pub(super) fn is_time(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let (day, rest) = form.split_at_checked(19).unwrap_or_else(|| panic!("no time: {text}"));
    assert_eq!(day, "0000-00-00T00:00:00", "{text}");
    let zone = rest.strip_prefix('.').map_or(rest, |rest| rest.trim_start_matches('0'));
    assert!(matches!(zone, "Z" | "+00:00" | "-00:00"), "{text}");
    assert!(text > "2025", "{text}");
}

/// A client in a session of 2025-11-25. What arrives beside the answers is set aside.
pub(super) struct Core<'a> {
    pub(super) raw: &'a mut Raw,
    pub(super) heard: Vec<Value>,
}

pub(super) async fn in_session<R>(server: &Server, main: impl AsyncFnOnce(&mut Core<'_>) -> R) -> R {
    in_session_of(server, all(), main).await
}

/// The same, with a client that can be asked only this.
pub(super) async fn in_session_of<R>(
    server: &Server,
    capabilities: Value,
    main: impl AsyncFnOnce(&mut Core<'_>) -> R,
) -> R {
    with_raw(server, async |raw| {
        open(raw, NEWEST, capabilities).await;
        main(&mut Core { raw, heard: Vec::new() }).await
    })
    .await
}

/// The handshake. Gives what the server can do.
pub(super) async fn open(raw: &mut Raw, revision: &str, capabilities: Value) -> Value {
    let client = json!({ "name": "raw", "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
    let mut answer = raw.ask("initialize", params).await;
    raw.notify("notifications/initialized", json!({})).await;
    answer["result"]["capabilities"].take()
}

impl Core<'_> {
    /// The answer to the request with that id, however long it takes.
    pub(super) async fn answer(&mut self, id: &str) -> Value {
        loop {
            let message = self.raw.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.raw.request("asked", method, params).await;
        self.answer("asked").await
    }

    pub(super) async fn result_of(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].take()
    }

    pub(super) async fn refusal_of(&mut self, method: &str, params: Value) -> i64 {
        code_of(&self.ask(method, params).await)
    }

    /// Starts a tool as a task, and gives the task.
    pub(super) async fn create(&mut self, tool: &str, arguments: Value, task: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments, "task": task });
        let mut result = self.result_of("tools/call", params).await;
        assert_eq!(result["task"]["status"], "working", "{result}");
        result["task"].take()
    }

    /// Starts a tool as a task, and gives the task's id.
    pub(super) async fn start(&mut self, tool: &str, arguments: Value) -> String {
        let task = self.create(tool, arguments, json!({})).await;
        task["taskId"].as_str().expect("an id").to_owned()
    }

    pub(super) async fn get(&mut self, id: &str) -> Value {
        let task = self.result_of("tasks/get", json!({ "taskId": id })).await;
        assert_eq!(task["taskId"], id, "{task}");
        task
    }

    /// Polls until the task stands so.
    pub(super) async fn until(&mut self, id: &str, status: &str) -> Value {
        for _ in 0..1000 {
            let task = self.get(id).await;
            if task["status"] == status {
                return task;
            }
            sleep(Duration::from_millis(task["pollInterval"].as_u64().expect("it is there"))).await;
        }
        panic!("the task never was {status}");
    }

    /// Asks for the result and answers all that is asked for it. Gives the answer, and the questions.
    pub(super) async fn finish(&mut self, id: &str) -> (Value, Vec<Value>) {
        self.raw.request("finish", "tasks/result", json!({ "taskId": id })).await;
        let mut questions = Vec::new();
        loop {
            let message = self.raw.next().await;
            match (message["method"].as_str(), message.get("id")) {
                (None, _) => {
                    assert_eq!(message["id"], "finish", "{message}");
                    return (message, questions);
                }
                (Some(method), Some(asked)) => {
                    let result = answer(method);
                    self.raw.send(json!({ "jsonrpc": "2.0", "id": asked, "result": result })).await;
                    questions.push(message);
                }
                (Some(_), None) => self.heard.push(message),
            }
        }
    }
}

/// Params of a modern request, of a client that has the extension.
pub(super) fn opted(params: Value) -> Value {
    let mut capabilities = all();
    capabilities["extensions"] = json!({ EXTENSION: {} });
    alone_with(params, json!({ CAPABILITIES: capabilities }))
}

/// Params of a modern request, of a client that can be asked, but has no tasks.
pub(super) fn plain(params: Value) -> Value {
    alone_with(params, json!({ CAPABILITIES: all() }))
}

/// A modern client. There the tasks are not in the schema that messages are held against.
pub(super) async fn alone_at<R>(server: &Server, main: impl AsyncFnOnce(&mut Raw) -> R) -> R {
    with_both_eras(server, main).await
}

/// Calls a tool, which must become a task, and gives it.
pub(super) async fn created(raw: &mut Raw, tool: &str, arguments: Value) -> Value {
    let task = raw.result_of("tools/call", opted(json!({ "name": tool, "arguments": arguments }))).await;
    assert_eq!(task["resultType"], "task", "{task}");
    task
}

/// The same, and gives the id.
pub(super) async fn started(raw: &mut Raw, tool: &str, arguments: Value) -> String {
    created(raw, tool, arguments).await["taskId"].as_str().expect("an id").to_owned()
}

pub(super) async fn state(raw: &mut Raw, id: &str) -> Value {
    let state = raw.result_of("tasks/get", opted(json!({ "taskId": id }))).await;
    assert_eq!((&state["taskId"], &state["resultType"]), (&json!(id), &json!("complete")), "{state}");
    state
}

/// Polls until the task stands so.
pub(super) async fn until(raw: &mut Raw, id: &str, status: &str) -> Value {
    for _ in 0..1000 {
        let state = state(raw, id).await;
        if state["status"] == status {
            return state;
        }
        sleep(Duration::from_millis(state["pollIntervalMs"].as_u64().expect("it is there"))).await;
    }
    panic!("the task never was {status}");
}

pub(super) async fn update(raw: &mut Raw, id: &str, responses: Value) {
    acknowledged(raw, "tasks/update", json!({ "taskId": id, "inputResponses": responses })).await;
}

pub(super) async fn cancel(raw: &mut Raw, id: &str) {
    acknowledged(raw, "tasks/cancel", json!({ "taskId": id })).await;
}

/// The answer is an acknowledgement, and has nothing of the task.
async fn acknowledged(raw: &mut Raw, method: &str, params: Value) {
    let result = raw.result_of(method, opted(params)).await;
    let members: Vec<_> = result.as_object().expect("an object").keys().map(String::as_str).collect();
    assert!(members.iter().all(|name| ["_meta", "resultType"].contains(name)), "{method}: {result}");
    assert_eq!(result["resultType"], "complete", "{method}");
}
