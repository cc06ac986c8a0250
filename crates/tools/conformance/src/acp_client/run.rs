//! A client under test while the suite plays its agent, and a turn of it.

use std::future::pending;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::AcpClient;
use super::script::Script;
use crate::acp_messages::is_below;
use crate::conversation::Conversation;
use crate::requirements::revision::Revision;
use crate::subject::driver::StepId;
use crate::subject::played::Played;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// How long a client may do something that it must not do.
pub(super) const QUIET: Duration = Duration::from_millis(250);

/// How long a step may take beyond a message.
const STEP_TIME: Duration = Duration::from_secs(5);

/// How often the suite looks whether the turn of a script has to end.
const SLICE: Duration = Duration::from_millis(50);

/// A client that has started its agent.
pub(super) struct ClientRun {
    pub(super) client: AcpClient,
    pub(super) played: Played,
    pub(super) agent: Conversation,
    /// The client's `initialize` request.
    pub(super) initialize: Value,
    /// Whether the suite ends the first turn by itself, in version 2, where the response to a prompt does not.
    goes_idle: bool,
}

/// A client that has sent a prompt and waits for the end of the turn.
pub(super) struct PromptTurn {
    pub(super) run: ClientRun,
    pub(super) prompt: Value,
    step: StepId,
}

impl AcpClient {
    /// Whether the client can be made to do a step.
    pub(super) fn has_step(&self, step: &str) -> bool {
        self.has_driver() || self.setting.role(step).is_ok()
    }

    /// Whether one process takes all steps.
    pub(super) fn has_driver(&self) -> bool {
        self.setting.role("driver").is_ok_and(|driver| *driver == json!(true))
    }

    /// Begins with a step, which makes the client start its agent and send `initialize`. The check does not apply to a client
    /// that asks for an older version.
    pub(super) async fn begin(
        &self,
        step: &str,
        params: Value,
        script: Script,
    ) -> Outcome<(ClientRun, StepId)> {
        let begun = self.begin_silently(step, params).await.map_err(Stop::while_preparing)?;
        let (mut run, id) = begun;
        let mut answers = script.answers();
        if let Some(Ok(result)) = answers(&run.initialize) {
            let initialize = run.initialize.clone();
            run.agent.reply(&initialize, result).await?;
        }
        run.agent.answer_with(answers);
        Ok((run, id))
    }

    /// The same without an answer to `initialize`.
    pub(super) async fn begin_silently(&self, step: &str, params: Value) -> Outcome<(ClientRun, StepId)> {
        let mut played = self.play().await?;
        let id = played.driver.start(step, params).await?;
        let mut agent = played.accept().await?;
        let initialize = agent.call("initialize").await?;
        speaks(self.revision(), &initialize)?;
        Ok((ClientRun { client: self.clone(), played, agent, initialize, goes_idle: true }, id))
    }

    /// Begins with a step, or with a prompt where the client has no such step, and waits for its outcome, whatever it is.
    pub(super) async fn tried(&self, step: &str, params: Value, script: Script) -> Outcome<ClientRun> {
        let (step, params) =
            if self.has_step(step) { (step, params) } else { ("prompt", json!({"text": "hello"})) };
        let (mut run, id) = self.begin(step, params, script).await?;
        run.outcome(id).await.map_err(Stop::while_preparing)?;
        run.agent.serve(QUIET).await?;
        Ok(run)
    }

    /// Makes the client send a prompt.
    pub(super) async fn prompted(&self, script: Script) -> Outcome<PromptTurn> {
        self.prompted_with(json!({"text": "hello"}), script).await
    }

    /// Makes the client send a prompt of the check's choice.
    pub(super) async fn prompted_with(&self, params: Value, script: Script) -> Outcome<PromptTurn> {
        let (mut run, step) = self.begin("prompt", params, script.leaves("session/prompt")).await?;
        let prompt = run.first("session/prompt").await.map_err(Stop::while_preparing)?;
        if self.revision() == Revision::Acp2 {
            run.agent.reply(&prompt, json!({"messageId": "message-1"})).await?;
            run.accept_prompt().await?;
        }
        run.goes_idle = false;
        Ok(PromptTurn { run, prompt, step })
    }
}

/// The check does not apply to a client that asks for an older version.
pub(super) fn speaks(revision: Revision, initialize: &Value) -> Outcome {
    let asked = &initialize["params"]["protocolVersion"];
    let is_older = is_below(asked, 2) && revision == Revision::Acp2;
    if is_older {
        Err(Stop::not_applicable(format!("the client asks for the version {asked}")))
    } else {
        Ok(())
    }
}

/// The same for an audit.
pub(super) fn audited(client: &AcpClient, trace: &Trace) -> Outcome {
    let messages = trace.messages(Sender::Subject);
    messages
        .iter()
        .find(|message| message["method"] == "initialize")
        .map_or(Ok(()), |first| speaks(client.revision(), first))
}

impl ClientRun {
    /// Waits for the first message of a method. The check does not apply to a client that asked for a newer version and leaves.
    pub(super) async fn first(&mut self, method: &str) -> Outcome<Value> {
        let first = self.agent.call(method).await;
        let asked = &self.initialize["params"]["protocolVersion"];
        let is_newer =
            asked.as_f64().is_some_and(|asked| asked > 1.0) && self.client.revision() == Revision::Acp1;
        if first.is_err() && is_newer && self.agent.is_closed() && self.sent("session/new").is_none() {
            return Err(Stop::not_applicable(format!(
                "the client asks for the version {asked}, and speaks no older one"
            )));
        }
        first
    }

    /// Plays the agent until a step has an outcome: `{"result": …}` or `{"error": …}`.
    pub(super) async fn outcome(&mut self, step: StepId) -> Outcome<Value> {
        let within = self.client.setting.wait + STEP_TIME;
        let Self { client, played, agent, goes_idle, .. } = self;
        let outcome = played.driver.outcome(step, within);
        tokio::pin!(outcome);
        loop {
            let served = async {
                if agent.is_closed() {
                    // An agent ends with its standard input.
                    agent.close();
                    pending::<()>().await;
                }
                agent.serve(SLICE).await
            };
            tokio::select! {
                outcome = &mut outcome => return outcome,
                served = served => served?,
            }
            let has_prompted = agent.asked.iter().any(|message| message["method"] == "session/prompt");
            if *goes_idle && has_prompted && client.revision() == Revision::Acp2 {
                *goes_idle = false;
                let update =
                    json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"});
                agent.notify("session/update", json!({"sessionId": "session-1", "update": update})).await?;
            }
        }
    }

    /// Does a step: its outcome. The check does not apply if the client has no such step.
    pub(super) async fn attempt(&mut self, step: &str, params: Value) -> Outcome<Value> {
        let id = self.played.driver.start(step, params).await?;
        let outcome = self.outcome(id).await?;
        if outcome["error"]["code"] == -32601 && self.played.driver.takes_steps() {
            return Err(Stop::not_applicable(format!("the client's driver has no step `{step}`")));
        }
        Ok(outcome)
    }

    /// Does a step that has to succeed: its result.
    pub(super) async fn ok(&mut self, step: &str, params: Value) -> Outcome<Value> {
        let mut outcome = self.attempt(step, params).await?;
        match outcome.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(Stop::failed(format!("the client's step `{step}` succeeds"), format!("`{outcome}`"))),
        }
    }

    /// The first message of a method that the client has sent.
    pub(super) fn sent(&self, method: &str) -> Option<Value> {
        let is_of = |message: &&Value| message["method"] == method;
        self.agent.asked.iter().find(is_of).or_else(|| self.agent.queued().find(is_of)).cloned()
    }

    /// Fails if the client has sent a message of a method.
    pub(super) fn never_sent(&self, method: &str, why: &str) -> Outcome {
        match self.sent(method) {
            None => Ok(()),
            Some(message) => {
                Err(Stop::failed(format!("no `{method}`, because {why}"), format!("`{message}` arrived")))
            }
        }
    }

    /// A member of the client's `initialize` request.
    fn member(&self, pointer: &str) -> Option<&Value> {
        self.initialize.pointer(&format!("/params{pointer}"))
    }

    /// Whether the client advertises a capability, such as `/fs/readTextFile`. One that is missing, null or false does not count.
    pub(super) fn advertises(&self, capability: &str) -> bool {
        let root =
            if self.client.revision() == Revision::Acp2 { "/capabilities" } else { "/clientCapabilities" };
        let has = self.member(&format!("{root}{capability}"));
        has.is_some_and(|has| !has.is_null() && *has != json!(false))
    }

    /// The check does not apply to a client that does not advertise a capability.
    pub(super) fn needs(&self, capability: &str) -> Outcome {
        if self.advertises(capability) {
            return Ok(());
        }
        Err(Stop::not_applicable(format!(
            "the client does not advertise {}",
            &capability[1..].replace('/', ".")
        )))
    }

    /// Sends an update of the session.
    pub(super) async fn update(&mut self, update: Value) -> Outcome {
        self.agent.notify("session/update", json!({"sessionId": "session-1", "update": update})).await
    }

    /// Reports in version 2 that the prompt is part of the session and work has begun.
    pub(super) async fn accept_prompt(&mut self) -> Outcome {
        self.update(json!({"sessionUpdate": "user_message", "messageId": "message-1",
            "content": [{"type": "text", "text": "hello"}]}))
            .await?;
        self.update(json!({"sessionUpdate": "state_update", "state": "running"})).await
    }

    /// Reports in version 2 that the turn has ended.
    pub(super) async fn go_idle(&mut self, session: &str, reason: &str) -> Outcome {
        let update = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason});
        self.agent.notify("session/update", json!({"sessionId": session, "update": update})).await
    }

    /// Fails unless the client still answers, with a result or an error.
    pub(super) async fn is_alive(&mut self) -> Outcome {
        self.agent.request("_conformance/alive", json!({})).await.map(drop)
    }
}

impl PromptTurn {
    /// Sends a request of the session and waits for its response: the whole message.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Outcome<Value> {
        let params = with_session(params);
        self.run.agent.request(method, params).await
    }

    /// Sends a request of the session that has to succeed: its result.
    pub(super) async fn ok(&mut self, method: &str, params: Value) -> Outcome<Value> {
        self.run.agent.ok(method, with_session(params)).await
    }

    /// Sends a request of the session that has to fail: its error object.
    pub(super) async fn error(&mut self, method: &str, params: Value) -> Outcome<Value> {
        self.run.agent.error(method, with_session(params)).await
    }

    /// Sends a request of the session that has to fail with a code.
    pub(super) async fn error_code(&mut self, method: &str, params: Value, code: i64) -> Outcome {
        let error = self.error(method, params).await?;
        if error["code"] == code {
            return Ok(());
        }
        Err(Stop::failed(
            format!("an error with the code {code} as the response to {method}"),
            format!("`{error}`"),
        ))
    }

    /// Begins a request of the session: its id.
    pub(super) async fn start(&mut self, method: &str, params: Value) -> Outcome<Value> {
        self.run.agent.start(method, with_session(params)).await
    }

    /// Sends an update of the session.
    pub(super) async fn update(&mut self, update: Value) -> Outcome {
        self.run.update(update).await
    }

    /// The session's working directory.
    pub(super) fn folder(&self) -> Outcome<PathBuf> {
        let opened = self.run.sent("session/new").unwrap_or_default();
        let cwd = opened["params"]["cwd"].as_str().map(PathBuf::from);
        cwd.ok_or_else(|| Stop::inconclusive("the client's session has no working directory"))
    }

    /// Ends the turn, and waits for the client's step: its outcome.
    pub(super) async fn end(&mut self, reason: &str) -> Outcome<Value> {
        if self.run.client.revision() == Revision::Acp2 {
            self.run.go_idle("session-1", reason).await?;
        } else {
            let prompt = self.prompt.clone();
            self.run.agent.reply(&prompt, json!({"stopReason": reason})).await?;
        }
        self.run.outcome(self.step).await
    }

    /// Ends the turn; the client's step has to succeed.
    pub(super) async fn end_well(&mut self) -> Outcome {
        let outcome = self.end("end_turn").await?;
        if outcome.get("result").is_some() {
            return Ok(());
        }
        Err(Stop::failed("the client's turn ends well", format!("`{outcome}`")))
    }

    /// The state of the session that the client reports. The check does not apply to a client that cannot report it.
    pub(super) async fn state(&mut self) -> Outcome<Value> {
        // The client has read what was sent before when it has answered this.
        self.ask("_conformance/alive", json!({})).await?;
        self.run.ok("state", json!({})).await
    }
}

fn with_session(mut params: Value) -> Value {
    if let Some(params) = params.as_object_mut() {
        params.entry("sessionId").or_insert_with(|| json!("session-1"));
    }
    params
}

/// A permission request of a tool call, in the shape of a version.
pub(super) fn permission(revision: Revision, call: &str) -> Value {
    let options = json!([
        {"optionId": "option-no", "name": "No", "kind": "reject_once"},
        {"optionId": "option-yes", "name": "Yes", "kind": "allow_once"},
    ]);
    let call = json!({"toolCallId": call, "title": "Run a test", "kind": "execute"});
    if revision == Revision::Acp2 {
        return json!({"title": "Run a test", "subject": {"type": "tool_call", "toolCall": call}, "options": options});
    }
    json!({"toolCall": call, "options": options})
}
