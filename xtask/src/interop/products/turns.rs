//! Whole turns, on a model of ours on this machine.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::table::{CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, PI, QWEN};
use super::{Model, Product, VERSION_2, fill};
use crate::interop::Pair;
use crate::interop::chat::{self, Chat, turn};
use crate::interop::scratch::Scratch;
use crate::interop::service::Service;

pub(in crate::interop) const PAIRS: &[Pair] = &[
    Pair { name: "our client, claude-agent-acp: say", limit: 60, check: |scratch| say(scratch, &CLAUDE) },
    Pair {
        name: "our client, claude-agent-acp: write",
        limit: 60,
        check: |scratch| write(scratch, &CLAUDE, &[]),
    },
    Pair { name: "our client, codex-acp: write", limit: 60, check: |scratch| write(scratch, &CODEX, &[]) },
    Pair { name: "our client, opencode: write", limit: 60, check: |scratch| write(scratch, &OPENCODE, &[]) },
    Pair { name: "our client, qwen-code: write", limit: 60, check: |scratch| write(scratch, &QWEN, &[]) },
    Pair { name: "our client, gemini-cli: write", limit: 60, check: |scratch| write(scratch, &GEMINI, &[]) },
    Pair { name: "our client, pi-acp: write", limit: 60, check: |scratch| write(scratch, &PI, &[]) },
    Pair { name: "our client, copilot: write", limit: 60, check: |scratch| write(scratch, &COPILOT, &[]) },
    Pair {
        name: "our client, claude-agent-acp: rejected",
        limit: 60,
        check: |scratch| reject(scratch, &CLAUDE),
    },
    Pair { name: "our client, qwen-code: rejected", limit: 60, check: |scratch| reject(scratch, &QWEN) },
    Pair {
        name: "our client, claude-agent-acp: cancel",
        limit: 60,
        check: |scratch| cancel(scratch, &CLAUDE, &[]),
    },
    Pair { name: "our client, codex-acp: cancel", limit: 60, check: |scratch| cancel(scratch, &CODEX, &[]) },
    Pair { name: "our client, qwen-code: cancel", limit: 60, check: |scratch| cancel(scratch, &QWEN, &[]) },
    Pair {
        name: "our client, gemini-cli: cancel",
        limit: 60,
        check: |scratch| cancel(scratch, &GEMINI, &[]),
    },
    // Version 2, where they speak it.
    Pair {
        name: "our client, claude-agent-acp, version 2: write",
        limit: 60,
        check: |scratch| write(scratch, &CLAUDE, VERSION_2),
    },
    Pair {
        name: "our client, codex-acp, version 2: write",
        limit: 60,
        check: |scratch| write(scratch, &CODEX, VERSION_2),
    },
    Pair {
        name: "our client, claude-agent-acp, version 2: cancel",
        limit: 60,
        check: |scratch| cancel(scratch, &CLAUDE, VERSION_2),
    },
    Pair {
        name: "our client, codex-acp, version 2: cancel",
        limit: 60,
        check: |scratch| cancel(scratch, &CODEX, VERSION_2),
    },
];

/// What our model says when nothing else is asked of it.
const SENTENCE: &str = "a voice from loopback, grüß dich 👋";

/// A product on our model.
struct Staged<'a> {
    scratch: &'a Scratch<'a>,
    service: Service<'a>,
    model: &'static Model,
    agent: Vec<String>,
}

impl<'a> Staged<'a> {
    fn new(scratch: &'a Scratch<'a>, product: &'static Product) -> Result<Self> {
        let service = Service::start(scratch, scratch.peers().npm("model.mjs", &[]))?;
        let agent = product.command(scratch, Some(&service.url("")?))?;
        let model = product.model.as_ref().context("it can use our model")?;
        if let Some(before) = model.before {
            fs::write(scratch.file("note.txt"), before)?;
        }
        Ok(Self { scratch, service, model, agent })
    }

    /// A prompt that makes the model write.
    fn prompt(&self) -> String {
        format!("[call {}]", fill(self.model.write, self.scratch, ""))
    }
}

fn say(scratch: &Scratch<'_>, product: &'static Product) -> Result<()> {
    let staged = Staged::new(scratch, product)?;
    let chat = turn(scratch, &staged.agent, &[], "[say]")?;
    ensure!(chat.text().ends_with(SENTENCE), "our model was not heard, but {:?}", chat.text());
    Ok(())
}

/// The model calls a tool, we permit it, and the model is told what came of it.
fn write(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let staged = Staged::new(scratch, product)?;
    let wire = scratch.file("../wire.jsonl");
    let agent = scratch.peers().recorded(&wire, &staged.agent);
    let options = [&["--yes"], options].concat();
    let chat = turn(scratch, &agent, &options, &staged.prompt())?;
    ensure!(chat.text().contains("the tool said: "), "the model was told nothing, but {:?}", chat.text());
    // Not every agent announces a call before it asks for permission.
    chat.expect_status("completed")?;
    scratch.expect_file("note.txt", "hello from the model")?;
    ensure!(staged.model.asks != chat.permissions.is_empty(), "it asked: {:?}", chat.permissions);
    for permission in &chat.permissions {
        ensure!(permission["outcome"]["outcome"] == "selected", "not permitted: {permission}");
    }
    let asked = |method| calls(&wire, method);
    ensure!(asked("fs/write_text_file")? == staged.model.through_client, "not who wrote before");
    ensure!(
        asked("fs/read_text_file")? || !staged.model.through_client || staged.model.before.is_none(),
        "it did not read what it replaced through us"
    );
    Ok(())
}

/// Whether the agent called this method of ours.
fn calls(wire: &std::path::Path, method: &str) -> Result<bool> {
    let wire = fs::read_to_string(wire)?;
    let lines = wire.lines().map(serde_json::from_str::<Value>);
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.iter().any(|line| line["from"] == "agent" && line["message"]["method"] == method))
}

/// Nobody permits it.
fn reject(scratch: &Scratch<'_>, product: &'static Product) -> Result<()> {
    let staged = Staged::new(scratch, product)?;
    let command = chat::command(scratch, &staged.agent, &[], Some(&staged.prompt()));
    let chat = chat::read(&scratch.run(&command)?)?;
    ended(&chat, &["end_turn", "cancelled"])?;
    ensure!(!chat.permissions.is_empty(), "it did not ask");
    ensure!(!scratch.file("note.txt").exists(), "a file was written without permission");
    chat.expect_status("failed")
}

/// The model would never end; we do not wait for it, and it is hung up on.
fn cancel(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let staged = Staged::new(scratch, product)?;
    let command = chat::command(scratch, &staged.agent, options, Some("[wait]"));
    let chat = chat::read(&scratch.interrupt_group_at("dawdles", &command)?)?;
    ended(&chat, &["cancelled"])?;
    staged.service.expect("hung up")?;
    Ok(())
}

fn ended(chat: &Chat, reasons: &[&str]) -> Result<()> {
    let reason = chat.stop_reason.as_deref().unwrap_or_default();
    ensure!(reasons.contains(&reason), "the turn ended with {reason:?}: {:?}", chat.error);
    Ok(())
}
