//! Tools that may run as tasks.
//!
//! A client of 2025-11-25 asks for the task in its call. To one of 2026-07-28 that has the extension, the server gives one
//! where the call takes long.

use std::time::Duration;

use agentwire_mcp_server::schema::TaskSupport;
use agentwire_mcp_server::{
    Context, Elicited, ErrorObject, Form, NoArguments, Server, ServerTool, Tasks, ToolError, field,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

/// How long a job takes that fails.
const JOB: Duration = Duration::from_secs(1);

/// The settings of tasks, and how often clients look.
pub(crate) fn config() -> Tasks {
    Tasks::new(|work| drop(tokio::spawn(work))).poll_interval(Duration::from_millis(200))
}

pub(crate) fn offer(server: Server) -> Server {
    let optional = |tool: ServerTool| tool.task(TaskSupport::Optional);
    let required = |tool: ServerTool| tool.task(TaskSupport::Required);
    server
        .tasks(config())
        .tool("greet", "Greets at once, never as a task", greet)
        .with_tool(optional(ServerTool::new("slow_compute", "Takes so many seconds", slow)))
        .with_tool(required(ServerTool::new("failing_job", "Fails after a second", failing)))
        .with_tool(required(ServerTool::new("protocol_error_job", "Ends with an error", broken)))
        .with_tool(optional(ServerTool::new("confirm_delete", "Asks while it runs", confirm)))
        .with_tool(required(ServerTool::new("multi_input", "Asks for two things at once", two)))
        .with_tool(optional(ServerTool::new("test_tool_with_task", "Asks, then runs as a task", asks_first)))
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
}

async fn greet(Greet { name }: Greet, _: Context) -> String {
    format!("Hello, {name}!")
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// How long it takes.
    seconds: f64,
    label: String,
}

async fn slow(Slow { seconds, label }: Slow, cx: Context) -> String {
    cx.status("computing");
    sleep(Duration::from_secs_f64(seconds.clamp(0.0, 600.0))).await;
    format!("{label}: done after {seconds} s")
}

async fn failing(_: NoArguments, _: Context) -> Result<String, ToolError> {
    sleep(JOB).await;
    Err(ToolError::new("The job failed, as it always does."))
}

async fn broken(_: NoArguments, _: Context) -> Result<String, ToolError> {
    sleep(JOB).await;
    Err(ToolError::protocol(ErrorObject::internal_error("the job broke")))
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    filename: String,
}

async fn confirm(Delete { filename }: Delete, cx: Context) -> Result<String, ToolError> {
    // What looks for the file takes its time, so that the question is one of the task.
    sleep(JOB / 2).await;
    let form = Form::new(format!("Delete {filename}?")).required("confirm", field::boolean());
    Ok(match cx.elicit("confirm", form).await? {
        Elicited::Accept(answer) if answer["confirm"] == true => format!("Deleted {filename}"),
        _ => format!("Kept {filename}"),
    })
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

fn name(message: &str) -> Form<Name> {
    Form::new(message).required("name", field::text()).typed()
}

async fn two(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let (first, second) =
        tokio::try_join!(cx.elicit("first", name("First?")), cx.elicit("second", name("Second?")))?;
    let name = |answer: Elicited<Name>| answer.accepted().map_or("nobody".to_owned(), |answer| answer.name);
    Ok(format!("{} and {}", name(first), name(second)))
}

async fn asks_first(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    // Before there is a task the question is a round of the call; with the answer it goes on, and takes long.
    let answer = cx.elicit("user_name", name("What is your name?")).await?.accepted();
    sleep(JOB).await;
    Ok(format!("Hello, {}!", answer.map_or("whoever you are".to_owned(), |answer| answer.name)))
}
