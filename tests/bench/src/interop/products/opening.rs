//! `initialize` and `session/new`, without a key.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::table::Product;
use crate::interop::chat::{self, Chat};
use crate::interop::scratch::Scratch;

/// The options with which `agentwire chat` asks for version 2 and accepts version 1.
pub(super) const VERSION_2: &[&str] = &["--protocol", "auto"];

/// Agrees on this version and requests a session, with the outcome of the table.
pub(super) fn open(scratch: &Scratch<'_>, product: &Product, version: u64) -> Result<()> {
    let options = if version == 2 { VERSION_2 } else { &[] };
    let chat = initialize(scratch, product, options)?;
    expect(product, version, chat)
}

/// Asks for version 2 and agrees on version 1.
pub(super) fn falls_back(scratch: &Scratch<'_>, product: &Product) -> Result<()> {
    let chat = initialize(scratch, product, VERSION_2)?;
    expect(product, 1, chat)
}

/// Runs a conversation without a prompt.
fn initialize(scratch: &Scratch<'_>, product: &Product, options: &[&str]) -> Result<Chat> {
    let agent = product.command(scratch, None)?;
    chat::read(&scratch.run(&chat::command(scratch, &agent, options, None))?)
}

fn expect(product: &Product, version: u64, chat: Chat) -> Result<()> {
    let initialized = chat.initialized.context("initialize was not answered")?;
    ensure!(initialized["protocolVersion"] == version, "version {}", initialized["protocolVersion"]);
    let (info, method) = if version == 2 { ("info", "methodId") } else { ("agentInfo", "id") };
    let name = &initialized[info]["name"];
    ensure!(*name == *product.name, "its name is {name}");
    match (&product.refusal, chat.session, chat.error) {
        (None, Some(session), None) => {
            let id = session["sessionId"].as_str().unwrap_or_default();
            ensure!(!id.is_empty(), "the session has no id: {session}");
            ensure!(chat.code == Some(0), "exit code {:?} instead of 0", chat.code);
        }
        (Some(refusal), None, Some(error)) => {
            ensure!(error["code"] == refusal.code, "session/new failed with {error}");
            let offered = initialized["authMethods"].as_array().into_iter().flatten();
            let offered: Vec<_> = offered.filter_map(|offer| offer[method].as_str()).collect();
            ensure!(offered == refusal.methods, "it offers the authentication methods {offered:?}");
            // -32000 means that a login is needed.
            let code = if refusal.code == -32000 { 3 } else { 1 };
            ensure!(chat.code == Some(code), "exit code {:?} instead of {code}", chat.code);
        }
        (_, session, error) => {
            let shown = |value: Option<Value>| value.unwrap_or_default().to_string();
            bail!("another outcome than in the table: session {}, error {}", shown(session), shown(error))
        }
    }
    Ok(())
}
