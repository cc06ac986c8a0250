//! `initialize` and `session/new`, without a key.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::table::{AUGGIE, CLAUDE, CLINE, CODEX, COPILOT, GEMINI, OPENCODE, PI, QWEN};
use super::{Product, Session, VERSION_2};
use crate::interop::Pair;
use crate::interop::chat::{self, Chat};
use crate::interop::scratch::Scratch;

pub(in crate::interop) const PAIRS: &[Pair] = &[
    Pair { name: "our client, claude-agent-acp", limit: 60, check: |scratch| open(scratch, &CLAUDE, 1) },
    Pair { name: "our client, codex-acp", limit: 60, check: |scratch| open(scratch, &CODEX, 1) },
    Pair { name: "our client, opencode", limit: 60, check: |scratch| open(scratch, &OPENCODE, 1) },
    Pair { name: "our client, qwen-code", limit: 60, check: |scratch| open(scratch, &QWEN, 1) },
    Pair { name: "our client, gemini-cli", limit: 60, check: |scratch| open(scratch, &GEMINI, 1) },
    Pair { name: "our client, pi-acp", limit: 60, check: |scratch| open(scratch, &PI, 1) },
    Pair { name: "our client, copilot", limit: 60, check: |scratch| open(scratch, &COPILOT, 1) },
    Pair { name: "our client, auggie", limit: 60, check: |scratch| open(scratch, &AUGGIE, 1) },
    Pair { name: "our client, cline", limit: 60, check: |scratch| open(scratch, &CLINE, 1) },
    // Version 2, where they speak it.
    Pair {
        name: "our client, claude-agent-acp, version 2",
        limit: 60,
        check: |scratch| open(scratch, &CLAUDE, 2),
    },
    Pair { name: "our client, codex-acp, version 2", limit: 60, check: |scratch| open(scratch, &CODEX, 2) },
    // Whoever speaks version 1 only is spoken to in version 1.
    Pair {
        name: "our client, qwen-code, version 2 asked",
        limit: 60,
        check: |scratch| falls_back(scratch, &QWEN),
    },
];

/// Agrees on this version, and opens a session or is refused one, as the table says.
fn open(scratch: &Scratch<'_>, product: &Product, version: u64) -> Result<()> {
    let options = if version == 2 { VERSION_2 } else { &[] };
    let chat = greet(scratch, product, options)?;
    expect(product, version, chat)
}

/// Asks for version 2, and gets version 1.
fn falls_back(scratch: &Scratch<'_>, product: &Product) -> Result<()> {
    let chat = greet(scratch, product, VERSION_2)?;
    expect(product, 1, chat)
}

/// No prompt is sent.
fn greet(scratch: &Scratch<'_>, product: &Product, options: &[&str]) -> Result<Chat> {
    let agent = product.command(scratch, None)?;
    chat::read(&scratch.run(&chat::command(scratch, &agent, options, None))?)
}

fn expect(product: &Product, version: u64, chat: Chat) -> Result<()> {
    let initialized = chat.initialized.context("it answers initialize")?;
    ensure!(initialized["protocolVersion"] == version, "version {}", initialized["protocolVersion"]);
    let (info, method) = if version == 2 { ("info", "methodId") } else { ("agentInfo", "id") };
    let name = &initialized[info]["name"];
    ensure!(name == product.name, "it calls itself {name}");
    match (&product.session, chat.session, chat.error) {
        (Session::Opens, Some(session), None) => {
            let id = session["sessionId"].as_str().unwrap_or_default();
            ensure!(!id.is_empty(), "the session has no id: {session}");
            ensure!(chat.code == Some(0), "exit code {:?} instead of 0", chat.code);
        }
        (Session::Refused { code, methods }, None, Some(error)) => {
            ensure!(error["code"] == *code, "it refuses a session with {error}");
            let offered = initialized["authMethods"].as_array().into_iter().flatten();
            let offered: Vec<_> = offered.filter_map(|offer| offer[method].as_str()).collect();
            ensure!(offered == *methods, "it offers to log in by {offered:?}");
            ensure!(chat.code == Some(1), "exit code {:?} instead of 1", chat.code);
        }
        (_, session, error) => {
            let shown = |value: Option<Value>| value.unwrap_or_default().to_string();
            bail!("not what it did before: session {}, error {}", shown(session), shown(error))
        }
    }
    Ok(())
}
