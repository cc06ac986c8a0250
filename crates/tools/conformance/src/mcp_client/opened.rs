//! A client under test in the middle of a step, with the server that the suite plays for it.

use std::time::Duration;

use serde_json::{Value, json};

use super::McpClient;
use super::script::Script;
use crate::conversation::Conversation;
use crate::subject::driver::StepId;
use crate::subject::played::Played;
use crate::verdict::{Outcome, Stop};

/// The silence after which the suite concludes that nothing will arrive.
pub(super) const QUIET: Duration = Duration::from_millis(300);

/// A client that has begun a step and has connected.
pub(super) struct Opened {
    pub(super) played: Played,
    pub(super) server: Conversation,
    /// The first step.
    pub(super) step: StepId,
    wait: Duration,
    /// The list of tools of the script.
    pub(super) tools: Value,
}

impl McpClient {
    /// Begins a step, and plays a server by a script. What the script leaves stays with the check.
    pub(super) async fn open(&self, step: &str, params: Value, script: Script) -> Outcome<Opened> {
        self.open_with(step, params, script.answers()).await
    }

    /// The same with answers of the check's choice.
    pub(super) async fn open_with(
        &self,
        step: &str,
        params: Value,
        answers: impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static,
    ) -> Outcome<Opened> {
        let played = self.play().await?;
        self.open_played(played, step, params, answers).await
    }

    /// The same with a server that was prepared before.
    pub(super) async fn open_played(
        &self,
        mut played: Played,
        step: &str,
        params: Value,
        answers: impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static,
    ) -> Outcome<Opened> {
        let step = played.driver.start(step, params).await?;
        let mut server = played.accept().await.map_err(Stop::while_preparing)?;
        server.answer_with(answers);
        let tools = self.script().result("tools/list");
        Ok(Opened { played, server, step, wait: self.setting.wait, tools })
    }

    /// A client that waits for its list of tools, and the request for it.
    pub(super) async fn held(&self) -> Outcome<(Opened, Value)> {
        let script = self.script().leaves("tools/list");
        let mut opened = self.open("list_tools", json!({}), script).await?;
        let request = opened.server.call("tools/list").await.map_err(Stop::while_preparing)?;
        Ok((opened, request))
    }

    /// A client that has listed the tools and stays connected, which takes a process for all steps.
    pub(super) async fn connected(&self, script: Script) -> Outcome<Opened> {
        let mut opened = self.open("list_tools", json!({}), script).await?;
        opened.takes_steps()?;
        opened.ok().await.map_err(Stop::while_preparing)?;
        Ok(opened)
    }

    /// Stops a check of what only sessions have.
    pub(super) fn needs_sessions(&self) -> Outcome {
        if self.revision().is_legacy() {
            return Ok(());
        }
        Err(Stop::not_applicable("the server sends no requests in this revision"))
    }
}

impl Opened {
    /// Stops a check of a client that is another process for each step.
    pub(super) fn takes_steps(&self) -> Outcome {
        if self.played.driver.takes_steps() {
            return Ok(());
        }
        Err(Stop::not_applicable("the client makes a connection for each step"))
    }

    /// Begins another step on the same connection.
    pub(super) async fn then(&mut self, step: &str, params: Value) -> Outcome<StepId> {
        self.takes_steps()?;
        self.played.driver.start(step, params).await
    }

    /// Answers the client until a step ends.
    pub(super) async fn outcome(&mut self, step: StepId) -> Outcome<Value> {
        self.server.during(self.played.driver.outcome(step, self.wait)).await
    }

    /// The result of a step that has to succeed.
    pub(super) async fn ok_of(&mut self, step: StepId) -> Outcome<Value> {
        self.server.during(self.played.driver.ok(step, self.wait)).await
    }

    /// The error of a step that has to fail.
    pub(super) async fn error_of(&mut self, step: StepId) -> Outcome<Value> {
        self.server.during(self.played.driver.error(step, self.wait)).await
    }

    /// The result of the first step, which has to succeed.
    pub(super) async fn ok(&mut self) -> Outcome<Value> {
        self.ok_of(self.step).await
    }

    /// Gives the client the list of tools that it waits for; its step has to succeed.
    pub(super) async fn release(&mut self, request: &Value) -> Outcome<Value> {
        self.server.reply(request, self.tools.clone()).await?;
        self.ok().await
    }

    /// The changes that the client reports beside the results of its calls.
    pub(super) async fn changes(&mut self) -> Outcome<Vec<Value>> {
        let step = self.then("changes", json!({})).await?;
        let changes = self.ok_of(step).await?;
        Ok(changes.as_array().cloned().unwrap_or_default())
    }

    /// Waits until the client has received a notification.
    pub(super) async fn heard(&mut self, method: &str) -> Outcome {
        for _ in 0..40 {
            if self.changes().await?.iter().any(|change| change["method"] == method) {
                return Ok(());
            }
            self.pause().await?;
        }
        Err(Stop::inconclusive(format!("the client does not report {method} among its changes")))
    }

    /// Waits until the client reports that a subscription was acknowledged. Returns the acknowledgement.
    pub(super) async fn acknowledged(&mut self, step: StepId) -> Outcome<Value> {
        for _ in 0..40 {
            let changes = self.changes().await?;
            let mut of_it = changes.iter().filter(|change| change["of"] == json!(step.number()));
            if let Some(acknowledged) = of_it.find_map(|change| change.get("acknowledged")) {
                return Ok(acknowledged.clone());
            }
            self.pause().await?;
        }
        Err(Stop::inconclusive("the client does not report the acknowledgement among its changes"))
    }

    /// Goes on with the conversation for a moment.
    pub(super) async fn pause(&mut self) -> Outcome {
        let moment = async {
            tokio::time::sleep(QUIET / 10).await;
            Ok(())
        };
        self.server.during(moment).await
    }

    /// The capabilities that the client reports.
    pub(super) fn capabilities(&self) -> Value {
        let requests = self.server.asked.iter();
        let mut said = requests.filter_map(|request| {
            let params = request.get("params")?;
            params
                .get("capabilities")
                .or_else(|| params["_meta"].get("io.modelcontextprotocol/clientCapabilities"))
        });
        said.next_back().cloned().unwrap_or_default()
    }

    /// Stops the check unless the client declares a capability.
    pub(super) fn needs(&self, capability: &str) -> Outcome {
        if self.capabilities().get(capability).is_some() {
            return Ok(());
        }
        Err(Stop::not_applicable(format!("the client does not declare `{capability}`")))
    }
}
