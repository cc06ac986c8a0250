//! Tools that take time: `slow`, `job`, which may run as a task, and `task`, which must.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agentwire_mcp_server::schema::TaskSupport;
use agentwire_mcp_server::{Context, Form, ServerTool, ToolError, field};
use schemars::JsonSchema;
use serde::Deserialize;

/// The longest time of a call, in seconds.
const MAX_SECONDS: f64 = 86_400.0;

#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// How long to take, in seconds.
    seconds: f64,
    /// The number of steps. Each is reported.
    #[serde(default = "one")]
    steps: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    /// How long to take, in seconds.
    seconds: f64,
    /// The number of steps. Each is reported.
    #[serde(default = "one")]
    steps: u32,
    /// Whether to ask the user before the last step.
    #[serde(default)]
    ask: bool,
}

fn one() -> u32 {
    1
}

/// The tool `slow`. Adds to `cancelled` when a call is cancelled.
pub(super) fn slow(cancelled: &Arc<AtomicU64>) -> ServerTool {
    let cancelled = cancelled.clone();
    ServerTool::new(
        "slow",
        "Take so many seconds, and report each of the steps",
        move |slow: Slow, cx: Context| run_slow(slow, cx, CancellationGuard::new(cancelled.clone())),
    )
}

async fn run_slow(slow: Slow, cx: Context, guard: CancellationGuard) -> Result<String, ToolError> {
    let Slow { seconds, steps } = slow;
    let step = match step_duration(seconds, steps) {
        Ok(step) => step,
        Err(error) => {
            guard.disarm();
            return Err(error);
        }
    };
    for number in 1..=steps {
        tokio::time::sleep(step).await;
        let message = format!("step {number} of {steps}");
        cx.progress(number.into(), Some(steps.into()), Some(&message)).await?;
    }
    guard.disarm();
    Ok(format!("took {seconds} s in {steps} steps"))
}

/// The tools `job` and `task`. Both add to `cancelled` when a call is cancelled.
pub(super) fn jobs(cancelled: &Arc<AtomicU64>) -> [ServerTool; 2] {
    let tool = |name, description, support| {
        let cancelled = cancelled.clone();
        let run = move |job: Job, cx: Context| run_job(job, cx, cancelled.clone());
        ServerTool::new(name, description, run).task(support)
    };
    [
        tool("job", "Do so many steps, as a task where the client takes that", TaskSupport::Optional),
        tool("task", "Do so many steps, as a task only", TaskSupport::Required),
    ]
}

async fn run_job(job: Job, cx: Context, cancelled: Arc<AtomicU64>) -> Result<String, ToolError> {
    let Job { seconds, steps, ask } = job;
    let step = step_duration(seconds, steps)?;
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
        // The guard covers only the sleep: a modern call is also dropped at its question, which is not a cancellation.
        let guard = CancellationGuard::new(cancelled.clone());
        tokio::time::sleep(step).await;
        guard.disarm();
    }
    Ok(format!("did {steps} steps"))
}

fn step_duration(seconds: f64, steps: u32) -> Result<Duration, ToolError> {
    if !(0.0..=MAX_SECONDS).contains(&seconds) || steps == 0 {
        return Err(ToolError::new(format!("seconds must be 0 to {MAX_SECONDS}, and steps at least 1")));
    }
    Ok(Duration::from_secs_f64(seconds / f64::from(steps)))
}

/// Adds to a counter when it is dropped. Cancelling a call drops its future, and this guard with it.
struct CancellationGuard(Option<Arc<AtomicU64>>);

impl CancellationGuard {
    fn new(cancelled: Arc<AtomicU64>) -> Self {
        Self(Some(cancelled))
    }

    /// Drops the guard without counting.
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancellationGuard {
    fn drop(&mut self) {
        if let Some(cancelled) = &self.0 {
            cancelled.fetch_add(1, Ordering::Relaxed);
        }
    }
}
