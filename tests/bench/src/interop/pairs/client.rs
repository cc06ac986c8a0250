//! Our ACP client with the agents of other projects.

use std::fs;

use anyhow::{Result, ensure};

use crate::interop::chat::{self, Chat, turn};
use crate::interop::pair::{Pair, pair};
use crate::interop::scratch::Scratch;

pub(super) fn pairs() -> Vec<Pair> {
    vec![
        pair("our client, PyPI echo agent", 30, echo),
        pair("our client, npm agent: text", 30, text),
        pair("our client, npm agent: permission and write", 30, write),
        pair("our client, npm agent: rejected write", 30, rejected),
        pair("our client, npm agent: read", 30, read),
        pair("our client, npm agent: read outside", 30, outside),
        pair("our client, npm agent: terminal", 30, terminal),
        pair("our client, npm agent: plan", 30, plan),
        pair("our client, npm agent: cancel", 30, cancel),
        pair("our client, npm agent: what no specification knows", 30, odd),
    ]
}

/// A turn with our agent on the npm SDK.
fn npm(scratch: &Scratch<'_>, options: &[&str], prompt: &str) -> Result<Chat> {
    turn(scratch, &scratch.peers().npm("agent.mjs", &[]), options, prompt)
}

fn echo(scratch: &Scratch<'_>) -> Result<()> {
    let agent = scratch.peers().pypi("echo_agent.py", &[]);
    turn(scratch, &agent, &[], "good morning, grüß dich 👋")?.expect("good morning, grüß dich 👋")
}

fn text(scratch: &Scratch<'_>) -> Result<()> {
    let chat = npm(scratch, &[], "good morning")?;
    ensure!(chat.text() == "you said: good morning", "the chunks make {:?}", chat.text());
    Ok(())
}

fn write(scratch: &Scratch<'_>) -> Result<()> {
    let chat = npm(scratch, &["--yes"], "/write note.txt hello from npm")?;
    chat.expect("permission: yes")?;
    chat.expect_tool_call("completed")?;
    scratch.expect_file("note.txt", "hello from npm")
}

fn rejected(scratch: &Scratch<'_>) -> Result<()> {
    // Without --yes and without a terminal, the answer is negative.
    let agent = scratch.peers().npm("agent.mjs", &[]);
    let command = chat::command(scratch, &agent, &[], Some("/write note.txt hello from npm"));
    let chat = chat::read(&scratch.run(&command)?)?;
    ensure!(chat.code == Some(6), "exit code {:?} instead of 6", chat.code);
    ensure!(!scratch.file("note.txt").exists(), "a file was written without permission");
    chat.expect_tool_call("failed")
}

fn read(scratch: &Scratch<'_>) -> Result<()> {
    fs::write(scratch.file("note.txt"), "words to be read")?;
    npm(scratch, &["--yes"], "/read note.txt")?.expect("words to be read")
}

fn outside(scratch: &Scratch<'_>) -> Result<()> {
    // Files outside the session's folder are refused, and both processes go on.
    fs::write(scratch.file("../secret.txt"), "not for agents")?;
    let agent = scratch.peers().npm("agent.mjs", &[]);
    let command = chat::command(scratch, &agent, &["--yes"], Some("/read ../secret.txt"));
    let chat = chat::read(&scratch.run(&command)?)?;
    ensure!(chat.expect("not for agents").is_err(), "a file outside the session's folder was read");
    ensure!(chat.code == Some(1) && chat.error.is_some(), "the agent's refusal is lost: {:?}", chat.code);
    Ok(())
}

fn terminal(scratch: &Scratch<'_>) -> Result<()> {
    let chat = npm(scratch, &["--yes"], "/run sh -c pwd")?;
    chat.expect("exit 0, output: ")?;
    chat.expect(&scratch.project().canonicalize()?.display().to_string())?;
    chat.expect_tool_call("completed")
}

fn plan(scratch: &Scratch<'_>) -> Result<()> {
    let chat = npm(scratch, &[], "/plan")?;
    let states: Vec<_> =
        chat.of_kind("plan").filter_map(|plan| plan["entries"][0]["status"].as_str()).collect();
    ensure!(states == ["pending", "in_progress", "completed"], "the plan went {states:?}");
    Ok(())
}

fn cancel(scratch: &Scratch<'_>) -> Result<()> {
    let agent = scratch.peers().npm("agent.mjs", &[]);
    let command = chat::command(scratch, &agent, &[], Some("/slow 60"));
    let chat = chat::read(&scratch.interrupt_group_at("working", &command)?)?;
    ensure!(chat.stop_reason.as_deref() == Some("cancelled"), "the turn ended with {:?}", chat.stop_reason);
    Ok(())
}

fn odd(scratch: &Scratch<'_>) -> Result<()> {
    let chat = npm(scratch, &[], "/odd")?;
    // The text after the unknown messages proves that both go on, and that the unknown request was answered.
    ensure!(chat.text().ends_with("still here, refused with -32601"), "the agent sent {:?}", chat.text());
    ensure!(chat.of_kind("weather_update").next().is_some(), "an unknown update is passed on");
    Ok(())
}
