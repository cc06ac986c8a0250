//! The tools, each of which shows one kind of loss or repetition.

use std::time::Duration;

use agentwire_mcp_server::schema::TaskSupport;
use agentwire_mcp_server::{Context, Elicited, Form, NoArguments, Server, ServerTool, ToolError, field};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use crate::log::Log;

/// The resource that clients subscribe to.
const WATCHED: &str = "replica://watched";

#[derive(Deserialize, JsonSchema)]
struct Key {
    /// Names the call.
    key: String,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    /// Names the call.
    key: String,
    /// How many progress reports it sends.
    steps: u32,
    /// The pause before each, in milliseconds.
    pause: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    /// Names the call.
    key: String,
    /// How long it takes, in milliseconds.
    pause: u64,
}

#[derive(Deserialize)]
struct Word {
    word: String,
}

pub(crate) fn offer(server: Server, log: Log) -> Server {
    let changed = server.clone();
    let [count, slow, ask, job, ask_job] = [(); 5].map(|()| log.clone());
    let job = move |Job { key, pause }: Job, _: Context| {
        let log = job.clone();
        async move {
            sleep(Duration::from_millis(pause)).await;
            done(&log, &key)
        }
    };
    let ask_job = move |Job { key, pause }: Job, cx: Context| {
        let log = ask_job.clone();
        async move {
            sleep(Duration::from_millis(pause)).await;
            question(key, &cx, &log).await
        }
    };
    server
        .resource_updates()
        .resource(WATCHED, "watched", watched)
        .tool("echo", "Says back what it is told, for measurements", |Key { key }: Key, _: Context| async {
            key
        })
        .tool("count", "Does something that must not be done twice", move |Key { key }: Key, _: Context| {
            let log = count.clone();
            async move { done(&log, &key) }
        })
        .tool("slow", "Reports progress on its way", move |steps: Steps, cx: Context| {
            let log = slow.clone();
            async move { step(steps, &cx, &log).await }
        })
        .tool("ask", "Asks for a word", move |Key { key }: Key, cx: Context| {
            let log = ask.clone();
            async move { question(key, &cx, &log).await }
        })
        .tool("change", "Changes the watched resource", move |_: NoArguments, _: Context| {
            changed.resource_updated(WATCHED);
            async { "changed" }
        })
        .with_tool(
            ServerTool::new("job", "Takes its time, as a task where it may", job).task(TaskSupport::Optional),
        )
        .with_tool(
            ServerTool::new("ask_job", "Takes its time, and asks for a word as a task", ask_job)
                .task(TaskSupport::Required),
        )
}

/// Writes down that the work of a call is done, and answers it.
fn done(log: &Log, key: &str) -> Result<String, ToolError> {
    log.write(key).map_err(|error| ToolError::new(error.to_string()))?;
    Ok(format!("done {key}"))
}

async fn step(Steps { key, steps, pause }: Steps, cx: &Context, log: &Log) -> Result<String, ToolError> {
    for step in 1..=steps {
        sleep(Duration::from_millis(pause)).await;
        cx.progress(step.into(), Some(steps.into()), None).await?;
    }
    done(log, &key)
}

async fn question(key: String, cx: &Context, log: &Log) -> Result<String, ToolError> {
    let form = Form::new("Which word?").required("word", field::text()).typed::<Word>();
    match cx.elicit("word", form).await? {
        Elicited::Accept(Word { word }) => Ok(format!("{} {word}", done(log, &key)?)),
        Elicited::Decline | Elicited::Cancel => Ok("no word".to_owned()),
    }
}

async fn watched(_: String, _: Context) -> &'static str {
    "the same as ever"
}
