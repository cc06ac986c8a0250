//! The demonstration server: its tools, resource and prompt.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_mcp_server::{
    AskError, Context, NoArguments, Server, ServerResource, Structured, Tasks, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::elicitation::{order, visit};
use super::slow::{jobs, slow};

/// A new server. Its counter of cancelled calls begins at 0.
pub(super) fn server() -> Server {
    let cancelled = Arc::new(AtomicU64::new(0));
    let slow = slow(&cancelled);
    let [job, task] = jobs(&cancelled);
    let about = ServerResource::new("agentwire://about", "about", about)
        .title("About this server")
        .mime_type("text/plain");
    Server::new("agentwire", env!("CARGO_PKG_VERSION"))
        .tasks(tasks())
        .instructions("Tools to try a client with. None of them touches anything.")
        .tool("echo", "Give the message back", echo)
        .tool("add", "Add two numbers", add)
        .tool("fail", "Fail, as a tool may", fail)
        .with_tool(slow)
        .tool(
            "cancelled-count",
            "Say how many slow calls and jobs were cancelled",
            move |_: NoArguments, _: Context| {
                let count = cancelled.load(Ordering::Relaxed);
                async move { count.to_string() }
            },
        )
        .tool("burst", "Report progress so many times", burst)
        .tool("roots", "List the folders that the client works in", roots)
        .with_tool(job)
        .with_tool(task)
        .tool("order", "Ask the user what to order, by a form", order)
        .tool("visit", "Ask the user to visit a page", visit)
        .with_resource(about)
        .prompt("greet", "Greet somebody", greet)
}

/// The configuration of tasks.
pub(super) fn tasks() -> Tasks {
    Tasks::new(|work| drop(tokio::spawn(work)))
}

async fn about(_uri: String, _: Context) -> String {
    "This is the demonstration server of agentwire.\n".into()
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to return.
    message: String,
}

async fn echo(Echo { message }: Echo, _: Context) -> String {
    message
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// One number.
    a: Number,
    /// The other.
    b: Number,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    /// Both together.
    sum: Number,
}

/// Adds integers exactly if the sum fits an `i64`, and as floating point otherwise.
async fn add(Add { a, b }: Add, _: Context) -> Result<Structured<Sum>, ToolError> {
    let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b)).map(Number::from);
    let real = || a.as_f64().zip(b.as_f64()).and_then(|(a, b)| Number::from_f64(a + b));
    let sum = whole.or_else(real).ok_or_else(|| ToolError::new("the sum is too large for a number"))?;
    Ok(Structured(Sum { sum }))
}

async fn fail(_: NoArguments, _: Context) -> Result<String, ToolError> {
    Err(ToolError::new("This tool always fails."))
}

#[derive(Deserialize, JsonSchema)]
struct Burst {
    /// How many times.
    n: u32,
}

async fn burst(Burst { n }: Burst, cx: Context) -> Result<String, ToolError> {
    for number in 1..=n {
        cx.progress(number.into(), Some(n.into()), None).await?;
    }
    Ok(format!("reported {n} times"))
}

#[derive(Serialize, JsonSchema)]
struct Roots {
    /// The folders.
    roots: Vec<Folder>,
}

#[derive(Serialize, JsonSchema)]
struct Folder {
    /// Where it is.
    uri: String,
    /// The folder's name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

/// Asks the client for its roots. Fails if the client has not declared the capability.
async fn roots(_: NoArguments, cx: Context) -> Result<Structured<Roots>, ToolError> {
    let answer = cx.list_roots().await;
    let unknown = |error: AskError| ToolError::new(format!("cannot ask for the folders: {}", error));
    let folders = answer.map_err(unknown)?.into_iter().map(|root| Folder { uri: root.uri, name: root.name });
    Ok(Structured(Roots { roots: folders.collect() }))
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

async fn greet(Greet { name }: Greet, _: Context) -> String {
    format!("Please greet {name} warmly.")
}
