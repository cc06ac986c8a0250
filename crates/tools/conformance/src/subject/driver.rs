//! Makes a client under test do something: connect, call a tool, send a prompt.
//!
//! A client is driven in one of two ways, which `docs/conformance/clients.md` describes:
//!
//! - With `driver = true` in its profile it runs once per check, reads steps as JSON lines on its standard input and writes the
//!   outcome of each as a JSON line.
//! - Without, the profile has the arguments of one command for each step, and each step is a process.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::fault::Incoming;
use crate::link::process::Process;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::verdict::{Outcome, Stop};

/// How long a step may take at least that is a command.
const COMMAND_TIME: Duration = Duration::from_secs(30);

/// A client that is being driven. Dropping it ends the client.
pub(crate) struct Driver {
    command: CommandLine,
    setting: Setting,
    target: String,
    /// The process that takes steps on its standard input; started with the first step.
    running: Option<Process>,
    replies: Option<mpsc::Receiver<String>>,
    waiting: HashMap<u64, Value>,
    /// The processes of steps that are commands.
    commands: HashMap<u64, oneshot::Receiver<Outcome<Value>>>,
    running_commands: JoinSet<()>,
    next: u64,
}

/// A step that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StepId(u64);

impl StepId {
    /// The step's number, by which another step names it.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl Driver {
    /// Drives a client that reaches its server or agent at `target`: a command line or a URL.
    pub(crate) fn new(command: &Arc<CommandLine>, setting: &Setting, target: &str) -> Self {
        Self {
            command: (**command).clone(),
            setting: setting.clone(),
            target: target.to_owned(),
            running: None,
            replies: None,
            waiting: HashMap::new(),
            commands: HashMap::new(),
            running_commands: JoinSet::new(),
            next: 0,
        }
    }

    /// Adds to the last argument of the target.
    pub(crate) fn extend_target(&mut self, end: &str) {
        self.target.push_str(end);
    }

    /// Begins a step. The check does not apply if the client's profile has no such step.
    pub(crate) async fn start(&mut self, step: &str, params: Value) -> Outcome<StepId> {
        self.next += 1;
        let id = self.next;
        if self.setting.role("driver").is_ok_and(|driver| *driver == json!(true)) {
            self.write_step(id, step, params).await?;
        } else {
            self.spawn_step(id, step, &params)?;
        }
        Ok(StepId(id))
    }

    /// Waits for the outcome of a step: `{"result": …}` or `{"error": {"message": …}}`.
    pub(crate) async fn outcome(&mut self, step: StepId, within: Duration) -> Outcome<Value> {
        let within = self.patience(within);
        let late = || {
            Stop::failed("the client's step ends", format!("it did not end within {} ms", within.as_millis()))
        };
        // A check may give up waiting and wait again.
        if let Some(command) = self.commands.get_mut(&step.0) {
            let ended = tokio::time::timeout(within, command).await.map_err(|_| late())?;
            self.commands.remove(&step.0);
            let outcome =
                ended.map_err(|_| Stop::inconclusive("the client's process could not be read"))??;
            return self.through_fault(outcome).ok_or_else(late);
        }
        let until = tokio::time::Instant::now() + within;
        loop {
            if let Some(reply) = self.waiting.remove(&step.0) {
                return Ok(reply);
            }
            let Some(replies) = &mut self.replies else {
                return Err(Stop::inconclusive("the client was not started"));
            };
            match tokio::time::timeout_at(until, replies.recv()).await {
                Err(_) => return Err(late()),
                Ok(None) => {
                    return Err(Stop::failed(
                        "the client's step ends with an outcome",
                        "the client has ended",
                    ));
                }
                Ok(Some(line)) => {
                    let reply: Value = serde_json::from_str(&line).unwrap_or_default();
                    if let (Some(id), Some(reply)) = (reply["id"].as_u64(), self.through_fault(reply)) {
                        self.waiting.insert(id, reply);
                    }
                }
            }
        }
    }

    /// Waits for a step that has to succeed: its result.
    pub(crate) async fn ok(&mut self, step: StepId, within: Duration) -> Outcome<Value> {
        let mut outcome = self.outcome(step, within).await?;
        match outcome.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(Stop::failed("the client's step succeeds", format!("`{outcome}`"))),
        }
    }

    /// Waits for a step that has to fail: its error.
    pub(crate) async fn error(&mut self, step: StepId, within: Duration) -> Outcome<Value> {
        let mut outcome = self.outcome(step, within).await?;
        match outcome.get_mut("error") {
            Some(error) => Ok(error.take()),
            None => Err(Stop::failed("the client's step fails", format!("`{outcome}`"))),
        }
    }

    /// How long to wait for what may take so long: a command has to start and to end as well, which takes some programs long.
    pub(crate) fn patience(&self, within: Duration) -> Duration {
        let are_commands = !self.takes_steps() && self.setting.faults.is_none();
        if are_commands { within.max(COMMAND_TIME) } else { within }
    }

    /// Whether one process takes all steps.
    pub(crate) fn takes_steps(&self) -> bool {
        self.setting.role("driver").is_ok_and(|driver| *driver == json!(true))
    }

    /// Whether the process that takes all steps has ended, and every line of it was read.
    pub(crate) fn has_ended(&self) -> bool {
        self.replies.as_ref().is_some_and(|replies| replies.is_closed() && replies.is_empty())
    }

    /// Ends a step that runs.
    pub(crate) async fn cancel(&mut self, step: StepId) -> Outcome<StepId> {
        self.start("cancel", json!({"of": step.0})).await
    }

    fn through_fault(&self, outcome: Value) -> Option<Value> {
        self.setting.faults.incoming(Incoming::Outcome(outcome)).into_iter().find_map(|incoming| {
            match incoming {
                Incoming::Outcome(outcome) => Some(outcome),
                _ => None,
            }
        })
    }

    async fn write_step(&mut self, id: u64, step: &str, mut params: Value) -> Outcome {
        if self.running.is_none() {
            let command = self
                .command
                .filled(&[("target", &self.target), ("revision", self.setting.revision.as_str())]);
            let (process, lines) =
                Process::start_aside(&command, (&self.setting.trace, &self.setting.processes)).await?;
            self.running = Some(process);
            self.replies = Some(lines);
        }
        params["id"] = json!(id);
        params["step"] = json!(step);
        match &mut self.running {
            Some(process) => process.write(format!("{params}\n").as_bytes()).await,
            None => Err(Stop::inconclusive("the client was not started")),
        }
    }

    fn spawn_step(&mut self, id: u64, step: &str, params: &Value) -> Outcome {
        let arguments = self.setting.role(step)?.as_array().cloned().unwrap_or_default();
        let mut command = self.command.clone();
        command.arguments.extend(arguments.iter().filter_map(Value::as_str).map(str::to_owned));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let given: Vec<(String, String)> = params
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), text(value)))
            .collect();
        let mut values: Vec<(&str, &str)> =
            given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        values.extend([("target", self.target.as_str()), ("revision", self.setting.revision.as_str())]);
        let command = command.filled(&values);
        let (done, outcome) = oneshot::channel();
        let processes = self.setting.processes.clone();
        self.running_commands.spawn(async move {
            let outcome = Process::output(&command, &processes).await.map(|(code, stdout, stderr)| match code {
                Some(0) => {
                    json!({"result": serde_json::from_str::<Value>(&stdout).unwrap_or(Value::String(stdout))})
                }
                _ => json!({"error": {"message": stderr, "exit": code, "stdout": stdout}}),
            });
            // The check may have ended.
            let _heard = done.send(outcome);
        });
        self.commands.insert(id, outcome);
        Ok(())
    }
}
