//! Turns with a local stand-in for the model.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::launch::fill;
use super::table::{Model, Product};
use crate::interop::chat::{self, Chat, turn};
use crate::interop::scratch::Scratch;
use crate::interop::service::Service;

/// The default text of our model.
const SENTENCE: &str = "a voice from loopback, grüß dich 👋";

/// An agent with our model.
struct Stage<'a> {
    scratch: &'a Scratch<'a>,
    service: Service<'a>,
    model: &'static Model,
    agent: Vec<String>,
}

impl<'a> Stage<'a> {
    fn new(scratch: &'a Scratch<'a>, product: &'static Product) -> Result<Self> {
        let service = Service::start(scratch, scratch.peers().npm("model.mjs", &[]))?;
        let agent = product.command(scratch, Some(&service.url("")?))?;
        let model = product.model.as_ref().context("the table has no model for it")?;
        if let Some(before) = &model.before {
            fs::write(scratch.file("note.txt"), before)?;
        }
        Ok(Self { scratch, service, model, agent })
    }

    /// A prompt that makes the model write.
    fn prompt(&self) -> String {
        format!("[call {}]", fill(&self.model.write.to_string(), self.scratch, ""))
    }
}

pub(super) fn say(scratch: &Scratch<'_>, product: &'static Product) -> Result<()> {
    let stage = Stage::new(scratch, product)?;
    let chat = turn(scratch, &stage.agent, &[], "[say]")?;
    ensure!(chat.text().ends_with(SENTENCE), "the model's text is missing: {:?}", chat.text());
    Ok(())
}

/// The model calls a tool, the client permits it, and the model gets the result.
pub(super) fn write(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let stage = Stage::new(scratch, product)?;
    let wire = scratch.file("../wire.jsonl");
    let agent = scratch.peers().recorded(&wire, &stage.agent);
    let options = [&["--yes"], options].concat();
    let chat = turn(scratch, &agent, &options, &stage.prompt())?;
    ensure!(chat.text().contains("the tool said: "), "the model got no result: {:?}", chat.text());
    // Not every agent announces a call before it asks for permission.
    chat.expect_status("completed")?;
    scratch.expect_file("note.txt", "hello from the model")?;
    ensure!(stage.model.asks != chat.permissions.is_empty(), "it asked: {:?}", chat.permissions);
    for permission in &chat.permissions {
        ensure!(permission["outcome"]["outcome"] == "selected", "not permitted: {permission}");
    }
    let asked = |method| calls(&wire, method);
    ensure!(asked("fs/write_text_file")? == stage.model.through_client, "not who wrote before");
    ensure!(
        asked("fs/read_text_file")? || !stage.model.through_client || stage.model.before.is_none(),
        "it did not read what it replaced through us"
    );
    Ok(())
}

/// Whether the agent called this method of the client.
fn calls(wire: &std::path::Path, method: &str) -> Result<bool> {
    let wire = fs::read_to_string(wire)?;
    let lines = wire.lines().map(serde_json::from_str::<Value>);
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.iter().any(|line| line["from"] == "agent" && line["message"]["method"] == method))
}

/// The client rejects the permission.
pub(super) fn reject(scratch: &Scratch<'_>, product: &'static Product) -> Result<()> {
    let stage = Stage::new(scratch, product)?;
    let command = chat::command(scratch, &stage.agent, &[], Some(&stage.prompt()));
    let chat = chat::read(&scratch.run(&command)?)?;
    expect_stop_reason(&chat, &["end_turn", "cancelled"])?;
    ensure!(!chat.permissions.is_empty(), "it did not ask");
    ensure!(!scratch.file("note.txt").exists(), "a file was written without permission");
    chat.expect_status("failed")
}

/// The model would never finish. A cancel ends the turn and closes the connection to the model.
pub(super) fn cancel(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let stage = Stage::new(scratch, product)?;
    let command = chat::command(scratch, &stage.agent, options, Some("[wait]"));
    let chat = chat::read(&scratch.interrupt_group_at("dawdles", &command)?)?;
    expect_stop_reason(&chat, &["cancelled"])?;
    stage.service.expect("hung up")?;
    Ok(())
}

fn expect_stop_reason(chat: &Chat, reasons: &[&str]) -> Result<()> {
    let reason = chat.stop_reason.as_deref().unwrap_or_default();
    ensure!(reasons.contains(&reason), "the turn ended with {reason:?}: {:?}", chat.error);
    Ok(())
}
