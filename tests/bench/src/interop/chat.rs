//! Runs `agentwire chat --json` and reads its output.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::peers::line;
use super::scratch::{Outcome, Scratch};

/// A conversation of our client, as it was printed.
#[derive(Default)]
pub(super) struct Chat {
    /// The exit code.
    pub(super) code: Option<i32>,
    /// The agent's answer to `initialize`.
    pub(super) initialized: Option<Value>,
    /// The agent's answer to `session/new`.
    pub(super) session: Option<Value>,
    /// The stop reason of the turn.
    pub(super) stop_reason: Option<String>,
    /// The error that ended the conversation.
    pub(super) error: Option<Value>,
    /// Every permission request, with its outcome.
    pub(super) permissions: Vec<Value>,
    /// Every `session/update`.
    pub(super) updates: Vec<Value>,
}

/// The command line of a conversation with an agent; ours when `agent` is empty.
pub(super) fn command(
    scratch: &Scratch<'_>,
    agent: &[String],
    options: &[&str],
    prompt: Option<&str>,
) -> Vec<String> {
    let mut command = scratch.peers().agentwire(&["chat", "--json"]);
    if !agent.is_empty() {
        command.extend(["--agent".to_owned(), line(agent)]);
    }
    command.extend(["--cwd".to_owned(), scratch.project().display().to_string()]);
    command.extend(options.iter().copied().chain(prompt).map(str::to_owned));
    command
}

/// Runs a conversation of one turn, which must end with `end_turn`.
pub(super) fn turn(scratch: &Scratch<'_>, agent: &[String], options: &[&str], prompt: &str) -> Result<Chat> {
    let chat = read(&scratch.run(&command(scratch, agent, options, Some(prompt)))?)?;
    ensure!(chat.code == Some(0), "exit code {:?} instead of 0", chat.code);
    ensure!(chat.initialized.is_some() && chat.session.is_some(), "no session was opened");
    ensure!(chat.stop_reason.as_deref() == Some("end_turn"), "the turn ended with {:?}", chat.stop_reason);
    Ok(chat)
}

/// Reads the output of a conversation.
pub(super) fn read(outcome: &Outcome) -> Result<Chat> {
    let mut chat = Chat { code: outcome.code, ..Chat::default() };
    for value in outcome.json()? {
        let Value::Object(object) = value else { anyhow::bail!("not an object: {value}") };
        for (key, value) in object {
            match key.as_str() {
                "initialized" => chat.initialized = Some(value),
                "session" => chat.session = Some(value),
                "stopReason" => {
                    chat.stop_reason = Some(value.as_str().context("a reason is a text")?.to_owned())
                }
                "error" => chat.error = Some(value),
                "permission" => chat.permissions.push(value),
                "update" => chat.updates.push(value),
                _ => {}
            }
        }
    }
    Ok(chat)
}

impl Chat {
    /// The text of the agent's message chunks.
    pub(super) fn text(&self) -> String {
        let chunks = self.of_kind("agent_message_chunk");
        chunks.filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// The updates of one kind.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.updates.iter().filter(move |update| update["sessionUpdate"] == kind)
    }

    /// Fails unless this text was in a message or in another update.
    pub(super) fn expect(&self, text: &str) -> Result<()> {
        let anywhere = || self.updates.iter().any(|update| holds(update, text));
        ensure!(self.text().contains(text) || anywhere(), "{text:?} was not shown, but {:?}", self.text());
        Ok(())
    }

    /// Fails unless there was a tool call, and the last one ended with this status.
    pub(super) fn expect_tool_call(&self, status: &str) -> Result<()> {
        ensure!(self.of_kind("tool_call").next().is_some(), "no tool call was shown");
        self.expect_status(status)
    }

    /// Fails unless the last tool call ended with this status, whether or not it was announced.
    pub(super) fn expect_status(&self, status: &str) -> Result<()> {
        let last = self.of_kind("tool_call_update").filter_map(|update| update["status"].as_str()).last();
        ensure!(last == Some(status), "the tool call ended with {last:?} instead of {status:?}");
        Ok(())
    }
}

/// Whether a text is anywhere in a value.
pub(super) fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(fields) => fields.values().any(|field| holds(field, text)),
        _ => false,
    }
}
