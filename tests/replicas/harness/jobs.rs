//! Tasks, in both protocols: each ends once, wherever its client asks for it, answers it and cancels it, and its work is done at
//! most once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::exchange::{Answer, Exchange};
use crate::history::{Count, History, Outcome};
use crate::modern::Modern;
use crate::random::Random;
use crate::session::Session;

/// The longest that a task may take. A node that has died counts as dead after 2 s.
const TASK_TIME: Duration = Duration::from_secs(40);
const PAUSE: Duration = Duration::from_millis(200);
/// How often a client looks whether an end stays.
const LOOKS: usize = 4;
/// The longest that the work of a task takes, beside its question.
const LONGEST: u64 = 800;

/// A client. Each of its requests may come to another node.
pub(crate) enum Client<'a> {
    /// A session of 2025-11-25.
    Session(&'a mut Session),
    /// One of 2026-07-28.
    Modern(&'a Modern),
}

/// A task, and the call that it is.
struct Job<'a> {
    client: Client<'a>,
    key: &'a str,
    task: String,
    /// When it was not there yet.
    started: Instant,
    /// The result that came with an answer to its question.
    result: Option<Value>,
}

/// Runs a task: to its end, with a question on its way, or until it is cancelled.
pub(crate) async fn run(client: Client<'_>, key: &str, random: &mut Random) {
    let (asks, cancels, pause) = (random.percent(50), random.percent(40), random.below(LONGEST));
    let tool = if asks { "ask_job" } else { "job" };
    let Some(mut job) = Job::create(client, key, tool, pause).await else { return };
    if cancels {
        sleep(random.millis(0, LONGEST)).await;
        job.cancel(Duration::from_millis(pause)).await;
    } else {
        job.finish(random.percent(30)).await;
    }
}

impl<'a> Job<'a> {
    /// Starts a tool as a task. `None` if it was none.
    async fn create(mut client: Client<'a>, key: &'a str, tool: &str, pause: u64) -> Option<Self> {
        let started = Instant::now();
        let arguments = json!({ "key": key, "pause": pause });
        let created = match &mut client {
            Client::Session(session) => {
                let task = json!({ "ttl": 600_000 });
                let params = json!({ "name": tool, "arguments": arguments, "task": task });
                session.call("tools/call", params, false).await
            }
            Client::Modern(client) => client.tool(tool, arguments).await,
        };
        let task = match &created.answer {
            Answer::Result(result) => result["task"]["taskId"].as_str().or(result["taskId"].as_str()),
            _ => None,
        };
        let Some(task) = task.map(str::to_owned) else {
            // A server that is not asked for one decides by the time that the call takes.
            let must_be_one = matches!(client, Client::Session(_)) || tool == "ask_job";
            if must_be_one && let Answer::Result(result) = &created.answer {
                client.history().violation(format!("{key}: is not a task, but has the result {result}"));
            }
            // The result of the call itself, or no answer.
            created.judge(client.history(), key, 0);
            return None;
        };
        client.history().count(Count::Tasks);
        Some(Self { client, key, task, started, result: None })
    }

    async fn request(&mut self, method: &str, params: Value) -> Exchange {
        match &mut self.client {
            Client::Session(session) => session.call(method, params, false).await,
            Client::Modern(client) => client.call(method, &self.task, params).await,
        }
    }

    fn params(&self) -> Value {
        json!({ "taskId": self.task })
    }

    fn violation(&self, what: &str) {
        self.client.history().violation(format!("{}: its task {what}", self.key));
    }

    /// The answer to `tasks/get`. `None` if the answer was lost, so that the client asks again.
    async fn status(&mut self) -> Option<Value> {
        let answer = self.request("tasks/get", self.params()).await.answer;
        let history = self.client.history();
        match answer {
            Answer::Result(status) => Some(status),
            Answer::Error(error) => {
                // "interrupted", or a store that is away, is not an answer about the task. -32602 means that there is no such task.
                if error.contains("-32602") {
                    history.lost(format!("{}: its task is lost: {error}", self.key));
                    return Some(json!({ "status": "lost" }));
                }
                None
            }
            Answer::Gone => {
                history.lost(format!("{}: its session is unknown", self.key));
                Some(json!({ "status": "lost" }))
            }
            Answer::Lost | Answer::Refused => None,
        }
    }

    /// The state after its end was reported. A node that does not reach the engine reports what it has, which is not an end, so that is
    /// looked at again. What the engine may have lost is not waited for.
    async fn status_after_end(&mut self) -> Option<Value> {
        let looking = Instant::now();
        loop {
            let status = self.status().await?;
            let history = self.client.history();
            let is_old = is_open(&status)
                && history.was_away_since(self.started)
                && !history.may_have_lost_since(self.started);
            if !is_old || looking.elapsed() > TASK_TIME {
                return Some(status);
            }
            sleep(PAUSE).await;
        }
    }

    /// Answers what it asks, and takes its result. With `again` an answer is sent twice, as by a client that has lost what came of it.
    async fn finish(&mut self, again: bool) {
        let started = Instant::now();
        while started.elapsed() < TASK_TIME {
            sleep(PAUSE).await;
            let Some(status) = self.status().await else { continue };
            match word(&status) {
                "working" => (),
                "input_required" => self.answer(&status, again).await,
                "completed" => return self.completed(&status).await,
                _ => return self.failed(&status),
            }
        }
        self.violation("does not end");
    }

    async fn answer(&mut self, status: &Value, again: bool) {
        if matches!(self.client, Client::Session(_)) {
            // The question comes on the stream of this request, which a node has that need not run the task.
            if let Answer::Result(result) = self.request("tasks/result", self.params()).await.answer {
                self.result = Some(result);
            }
            return;
        }
        self.client.history().count(Count::Answers);
        let asked = status["inputRequests"].as_object().into_iter().flat_map(|asked| asked.keys().cloned());
        let answer = json!({ "action": "accept", "content": { "word": "yes" } });
        let mut params = self.params();
        params["inputResponses"] = asked.map(|key| (key, answer.clone())).collect();
        for _ in 0..=usize::from(again) {
            self.request("tasks/update", params.clone()).await;
        }
    }

    async fn completed(&mut self, status: &Value) {
        let exchange = match self.client {
            Client::Session(_) => self.request("tasks/result", self.params()).await,
            Client::Modern(_) => Exchange::of(Answer::Result(status["result"].clone())),
        };
        if let (Answer::Result(result), Some(before)) = (&exchange.answer, &self.result)
            && result != before
        {
            self.violation(&format!("has the results {before} and {result}"));
        }
        exchange.judge(self.client.history(), self.key, 0);
        self.stays("completed").await;
    }

    /// Cancels it, and looks again once its work would be done.
    async fn cancel(&mut self, rest: Duration) {
        let started = Instant::now();
        // Whether an answer reports that. In 2026-07-28 none does, and the task may have ended in another way.
        let mut told = false;
        while started.elapsed() < TASK_TIME {
            let is_taken = match self.request("tasks/cancel", self.params()).await.answer {
                Answer::Result(result) => {
                    told |= word(&result) == "cancelled";
                    true
                }
                Answer::Gone => true,
                // It has ended before, or there is none. Its status shows which.
                Answer::Error(error) => error.contains("-32602"),
                Answer::Lost | Answer::Refused => false,
            };
            if !is_taken {
                sleep(PAUSE).await;
                continue;
            }
            let Some(status) = self.status_after_end().await else { continue };
            let word = word(&status);
            let is_wrong = is_open(&status) || told && !matches!(word, "cancelled" | "lost");
            if is_wrong && !self.changed("cancelled", word) {
                return self.failed(&status);
            }
            match word {
                "working" | "input_required" => (),
                "completed" => return self.completed(&status).await,
                "cancelled" => {
                    self.client.history().call(self.key, Outcome::Cancelled, "");
                    sleep(rest).await;
                    return self.stays("cancelled").await;
                }
                _ => return self.failed(&status),
            }
        }
        self.violation("cannot be cancelled");
    }

    /// Looks at several nodes whether the end is the same, and what result there is.
    async fn stays(&mut self, end: &str) {
        for _ in 0..LOOKS {
            match self.status_after_end().await {
                Some(status) if word(&status) == "lost" => return,
                Some(status) if word(&status) != end => {
                    self.changed(end, word(&status));
                    return;
                }
                _ => (),
            }
        }
        if end == "cancelled"
            && matches!(self.client, Client::Session(_))
            && let Answer::Result(result) = self.request("tasks/result", self.params()).await.answer
        {
            self.violation(&format!("was cancelled, and has the result {result}"));
        }
    }

    /// A state that a client has received stays, unless the engine has lost it. Returns whether it is excused.
    fn changed(&self, before: &str, after: &str) -> bool {
        let is_excused = self.client.history().may_have_lost_since(self.started);
        if !is_excused {
            self.violation(&format!("was {before}, and is {after}"));
        }
        is_excused
    }

    fn failed(&self, status: &Value) {
        let history = self.client.history();
        history.count(Count::TasksFailed);
        history.call(self.key, Outcome::Unknown, &status.to_string());
    }
}

impl Client<'_> {
    fn history(&self) -> &History {
        match self {
            Self::Session(session) => &session.wire.history,
            Self::Modern(client) => &client.wire.history,
        }
    }
}

fn is_open(status: &Value) -> bool {
    matches!(word(status), "working" | "input_required")
}

fn word(status: &Value) -> &str {
    status["status"].as_str().unwrap_or_default()
}
