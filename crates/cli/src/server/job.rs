//! Tools that take their time, and may or must run as tasks.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use agentwire_mcp_server::schema::TaskSupport;
use agentwire_mcp_server::{Context, Form, ServerTool, ToolError, field};
use schemars::JsonSchema;
use serde::Deserialize;

use super::offer::{Cancellation, LONGEST};

#[derive(Deserialize, JsonSchema)]
struct Job {
    /// How long to take, in seconds.
    seconds: f64,
    /// In how many steps, each of which is told of.
    #[serde(default = "one")]
    steps: u32,
    /// Whether to ask the user before the last step.
    #[serde(default)]
    ask: bool,
}

fn one() -> u32 {
    1
}

/// Two tools, of which one runs as a task only; `cancelled` counts how often they were.
pub(super) fn jobs(cancelled: &Arc<AtomicU64>) -> [ServerTool; 2] {
    let tool = |name, description, support| {
        let cancelled = cancelled.clone();
        let run = move |job: Job, cx: Context| run(job, cx, cancelled.clone());
        ServerTool::new(name, description, run).task(support)
    };
    [
        tool("job", "Do so many steps, as a task where the client takes that", TaskSupport::Optional),
        tool("task", "Do so many steps, as a task only", TaskSupport::Required),
    ]
}

async fn run(job: Job, cx: Context, cancelled: Arc<AtomicU64>) -> Result<String, ToolError> {
    let Job { seconds, steps, ask } = job;
    if !(0.0..=LONGEST).contains(&seconds) || steps == 0 {
        return Err(ToolError::new(format!("seconds must be 0 to {LONGEST}, and steps at least 1")));
    }
    let step = Duration::from_secs_f64(seconds / f64::from(steps));
    for number in 1..=steps {
        let message = format!("step {number} of {steps}");
        cx.status(&message);
        cx.progress(number.into(), Some(steps.into()), Some(&message)).await?;
        if ask && number == steps {
            let form = Form::new("Do the last step?").required("sure", field::boolean().title("Sure"));
            let answer = cx.elicit("last", form).await?.accepted();
            if answer.is_none_or(|answer| answer["sure"] != true) {
                return Ok(format!("stopped before step {number}"));
            }
        }
        // Whoever waits for an answer is dropped also where the next round goes on from there.
        let count = Cancellation::new(cancelled.clone());
        tokio::time::sleep(step).await;
        count.not_any_more();
    }
    Ok(format!("did {steps} steps"))
}
