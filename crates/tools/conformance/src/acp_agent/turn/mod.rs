//! Prompts and how they end, in both versions.

pub(super) mod cancellation;
pub(super) mod content;
pub(super) mod prompt;
pub(super) mod tool_calls;
pub(super) mod updates;

use std::time::Duration;

use serde_json::{Value, json};

use super::Agent;
use crate::conversation::Conversation;
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop};

/// A prompt that has ended, with what the agent sent until then.
pub(super) struct Turn {
    /// The session's updates and the agent's other messages, in order. Requests that were answered are missing.
    pub(super) messages: Vec<Value>,
    /// The response to the prompt.
    pub(super) response: Value,
    /// Why the work ended; nothing if the prompt was refused.
    pub(super) stop: Option<String>,
}

impl Turn {
    /// The session's updates.
    pub(super) fn updates(&self) -> impl Iterator<Item = &Value> {
        self.messages.iter().filter_map(update_in)
    }

    /// The updates of one kind.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.updates().filter(move |update| update["sessionUpdate"] == *kind)
    }

    /// The text of the agent's messages.
    pub(super) fn text(&self) -> String {
        let chunks = self.updates().filter(|update| {
            ["agent_message_chunk", "agent_message"].iter().any(|kind| update["sessionUpdate"] == *kind)
        });
        chunks
            .flat_map(|update| match &update["content"] {
                Value::Array(blocks) => blocks.iter().collect(),
                block => vec![block],
            })
            .filter_map(|block| block["text"].as_str())
            .collect()
    }
}

/// The update in a message.
pub(super) fn update_in(message: &Value) -> Option<&Value> {
    let is_update = message.get("method").is_some_and(|method| method == "session/update");
    message.pointer("/params/update").filter(|_| is_update)
}

/// Whether a message is an update of one kind.
pub(crate) fn is_update(message: &Value, kind: &str) -> bool {
    update_in(message).is_some_and(|update| update["sessionUpdate"] == kind)
}

/// Whether a message reports the end of a session's work.
fn is_idle(message: &Value) -> bool {
    is_update(message, "state_update") && update_in(message).is_some_and(|update| update["state"] == "idle")
}

impl Agent {
    /// Sends a prompt with a text and returns the id of the request.
    pub(super) async fn begin(&self, at: &mut Conversation, session: &str, text: &str) -> Outcome<Value> {
        at.start("session/prompt", self.prompt(session, text)).await
    }

    /// Waits for the end of a prompt.
    pub(super) async fn finish(&self, at: &mut Conversation, session: &str, id: &Value) -> Outcome<Turn> {
        let mut turn = Turn { messages: Vec::new(), response: Value::Null, stop: None };
        let mut works = false;
        loop {
            let message = at.wanted("the end of a prompt", |_| true).await?;
            let is_here = message.pointer("/params/sessionId").is_none_or(|id| id == session);
            if message.get("id") == Some(id) && message.get("method").is_none() {
                turn.response = message;
                if self.revision() == Revision::Acp1 || turn.response.get("error").is_some() {
                    let stop = turn.response.pointer("/result/stopReason").and_then(Value::as_str);
                    turn.stop = stop.map(str::to_owned);
                    return Ok(turn);
                }
            } else if is_here && is_idle(&message) {
                let stop = update_in(&message).and_then(|update| update["stopReason"].as_str());
                if works || stop.is_some() {
                    turn.stop = Some(stop.unwrap_or_default().to_owned());
                }
                turn.messages.push(message);
            } else {
                works |= is_here && is_update(&message, "state_update");
                turn.messages.push(message);
            }
            if turn.stop.is_some() && !turn.response.is_null() {
                return Ok(turn);
            }
        }
    }

    /// Sends a prompt and waits for its end.
    pub(super) async fn turn(&self, at: &mut Conversation, session: &str, text: &str) -> Outcome<Turn> {
        let id = self.begin(at, session, text).await?;
        self.finish(at, session, &id).await
    }

    /// The same with the prompt that plays a role. It has to be accepted.
    pub(super) async fn play(&self, at: &mut Conversation, session: &str, role: &str) -> Outcome<Turn> {
        let text = self.setting.text(role)?.to_owned();
        let turn = self.turn(at, session, &text).await.map_err(Stop::while_preparing)?;
        match turn.response.get("result") {
            Some(_) => Ok(turn),
            None => {
                Err(Stop::inconclusive(format!("the prompt `{role}` was answered with `{}`", turn.response)))
            }
        }
    }

    /// A session in which a prompt of a role has ended.
    pub(super) async fn played(&self, role: &str) -> Outcome<(Conversation, String, Turn)> {
        self.setting.text(role)?;
        let (mut conversation, _, session) = self.session().await?;
        let turn = self.play(&mut conversation, &session, role).await?;
        Ok((conversation, session, turn))
    }

    /// Waits until the agent works on a prompt of the role `slow`: until its first update.
    pub(super) async fn begin_slow(&self, at: &mut Conversation, session: &str) -> Outcome<Value> {
        let text = self.setting.text("slow")?.to_owned();
        let id = self.begin(at, session, &text).await?;
        let began = at.wanted("an update of a slow prompt", |message| {
            is_update(message, "agent_message_chunk") || is_update(message, "agent_message")
        });
        began.await.map_err(Stop::while_preparing)?;
        at.serve(Duration::ZERO).await?;
        let mut answers = at.queued().filter(|message| message.get("id") == Some(&id));
        // In version 2 a result does not end the turn.
        if let Some(end) = answers.find(|end| self.revision() == Revision::Acp1 || end.get("error").is_some())
        {
            return Err(Stop::inconclusive(format!("the slow prompt has ended: `{end}`")));
        }
        Ok(id)
    }

    /// Cancels the work of a session.
    pub(super) async fn cancel(&self, at: &mut Conversation, session: &str) -> Outcome {
        at.notify("session/cancel", json!({"sessionId": session})).await
    }

    /// Fails with "not applicable" unless the agent advertised a capability, at a place of its own in each version.
    pub(super) fn needs(&self, initialized: &Value, first: &str, second: &str) -> Outcome {
        let place = if self.revision() == Revision::Acp2 { second } else { first };
        match initialized.pointer(place) {
            Some(Value::Bool(true) | Value::Object(_)) => Ok(()),
            _ => {
                Err(Stop::not_applicable(format!("the agent does not advertise {}", place.replace('/', "."))))
            }
        }
    }
}
