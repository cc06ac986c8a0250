//! The server under test.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_mcp_server::schema::LoggingLevel;
use agentwire_mcp_server::{
    CallError, Context, ErrorObject, NoArguments, Server, ServerResource, ServerTool, Structured, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Add {
    /// The first number.
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

async fn add(Add { a, b }: Add, _cx: Context) -> Structured<Sum> {
    Structured(Sum { sum: a + b })
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(Echo { text }: Echo, _cx: Context) -> String {
    text
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    n: u32,
}

async fn count(Count { n }: Count, cx: Context) -> Result<String, ToolError> {
    for step in 1..=n {
        cx.progress(step.into(), Some(n.into()), Some("counting")).await?;
        // What does not grow is not sent.
        cx.progress(step.into(), None, None).await?;
        cx.progress(f64::NAN, None, None).await?;
    }
    Ok(n.to_string())
}

async fn fail(_: NoArguments, _cx: Context) -> Result<(), ToolError> {
    let number: i64 = "twelve".parse()?;
    Err(ToolError::new(format!("{number} is not twelve")))
}

async fn refuse(_: NoArguments, _cx: Context) -> Result<String, ToolError> {
    Err(ToolError::protocol(ErrorObject::new(-32042, "go there first")))
}

async fn panic(_: NoArguments, _cx: Context) -> String {
    panic!("as asked")
}

async fn chat(_: NoArguments, cx: Context) -> Result<(), CallError> {
    cx.log(LoggingLevel::Debug, None, "debug").await?;
    cx.log(LoggingLevel::Info, Some("chat"), "info").await?;
    cx.log(LoggingLevel::Error, None, &["error"]).await
}

async fn ask_roots(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let roots = cx.client().list_roots().await?;
    Ok(format!("{} roots of {}", roots.roots.len(), cx.client().info().expect("it says who it is").name))
}

async fn leak(_: NoArguments, cx: Context) -> &'static str {
    LEAKED.lock().unwrap().replace(cx);
    "leaked"
}

/// Contexts that outlive their calls.
pub(crate) static LEAKED: std::sync::Mutex<Option<Context>> = std::sync::Mutex::new(None);

/// Counts dropped futures and received cancellations.
#[derive(Clone, Default)]
pub(crate) struct Stopped {
    pub(crate) dropped: Arc<AtomicUsize>,
    pub(crate) told: Arc<AtomicUsize>,
}

pub(crate) struct CountDrop(pub(crate) Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A server with tools for everything that the tests look at.
pub(crate) fn subject() -> Server {
    stoppable(&Stopped::default())
}

pub(crate) fn stoppable(stopped: &Stopped) -> Server {
    let (deaf, polite) = (stopped.clone(), stopped.clone());
    let add = ServerTool::new("add", "Add two numbers", add).title("Addition").read_only();
    let motto =
        ServerResource::new("memo:///motto", "motto", |uri: String| async move { format!("read {uri}") })
            .mime_type("text/plain");
    Server::new("subject", "1.0.0")
        .instructions("Call add.")
        .logging(LoggingLevel::Info)
        .with_tool(add)
        .tool("echo", "Say it back", echo)
        .tool("count", "Report progress", count)
        .tool("fail", "Fail", fail)
        .tool("refuse", "Refuse", refuse)
        .tool("panic", "Panic", panic)
        .tool("chat", "Log", chat)
        .tool("ask_roots", "Ask the client", ask_roots)
        .tool("leak", "Let the context out", leak)
        .tool("deaf", "Wait for ever", move |_: NoArguments, _cx| {
            let stopped = deaf.clone();
            async move {
                let _counted = CountDrop(stopped.dropped);
                pending::<String>().await
            }
        })
        .tool("polite", "Wait until cancelled", move |_: NoArguments, cx: Context| {
            let stopped = polite.clone();
            async move {
                cx.cancelled().await;
                assert!(cx.is_cancelled());
                stopped.told.fetch_add(1, Ordering::Relaxed);
                "too late to be heard"
            }
        })
        .with_resource(motto)
        .resource("memo:///gone", "gone", async || {
            Err::<String, _>(ErrorObject::internal_error("it is gone"))
        })
        .prompt("greet", "Greet somebody", greet)
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
    tone: Option<String>,
}

async fn greet(Greet { name, tone }: Greet, _cx: Context) -> String {
    format!("Say hello to {name}, {}.", tone.as_deref().unwrap_or("kindly"))
}
