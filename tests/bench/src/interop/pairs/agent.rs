//! Our ACP agent with the clients of others.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::interop::pair::{Pair, pair};
use crate::interop::peers::line;
use crate::interop::proxy::Proxy;
use crate::interop::scratch::{Outcome, Scratch};
use crate::interop::service::Service;

pub(super) fn pairs() -> Vec<Pair> {
    vec![
        pair("our agent, PyPI client", 60, pypi),
        pair("our agent with our MCP server, PyPI client", 60, pypi_with_tools),
        pair("our agent, acpx: text", 60, text),
        pair("our agent, acpx: write", 60, write),
        pair("our agent, acpx: rejected write", 60, rejected),
        pair("our agent, acpx: read", 60, read),
        pair("our agent, acpx: terminal", 60, terminal),
        pair("our agent, acpx: cancel", 60, cancel),
        pair("our agent with npm server-everything, acpx", 60, tools),
        pair("our agent with our MCP server over HTTP and SSE, acpx", 60, tools_over_http),
    ]
}

/// Sessions that outlive their agent.
pub(super) fn kept() -> Vec<Pair> {
    vec![
        pair("our agent, PyPI client: load, resume, list", 90, pypi_kept),
        pair("our agent, acpx: a session in two lives", 90, acpx_kept),
    ]
}

fn pypi(scratch: &Scratch<'_>) -> Result<()> {
    let agent = scratch.peers().agentwire(&["agent"]);
    let arguments: Vec<_> = agent.iter().map(String::as_str).collect();
    scratch.run(&scratch.peers().pypi("client.py", &arguments))?.expect_code(0)
}

fn pypi_with_tools(scratch: &Scratch<'_>) -> Result<()> {
    let server = line(&scratch.peers().agentwire(&["server", "--stdio"]));
    let agent = scratch.peers().agentwire(&["agent"]);
    let mut arguments = vec!["--mcp", &server];
    arguments.extend(agent.iter().map(String::as_str));
    scratch.run(&scratch.peers().pypi("client.py", &arguments))?.expect_code(0)
}

/// Our agent, with a store in the scratch folder.
fn with_store(scratch: &Scratch<'_>) -> Vec<String> {
    let store = scratch.file("../store").display().to_string();
    scratch.peers().agentwire(&["agent", "--store", &store])
}

fn pypi_kept(scratch: &Scratch<'_>) -> Result<()> {
    let agent = with_store(scratch);
    let arguments: Vec<_> = ["--kept"].into_iter().chain(agent.iter().map(String::as_str)).collect();
    scratch.run(&scratch.peers().pypi("client.py", &arguments))?.expect_code(0)
}

/// Each prompt starts a new agent process, because acpx keeps none alive here. acpx resumes the session if the agent can,
/// loads it otherwise, and opens a new one if both fail.
fn acpx_kept(scratch: &Scratch<'_>) -> Result<()> {
    let project = scratch.project().display().to_string();
    let agent = line(&with_store(scratch));
    let acpx = |words: &[&str]| {
        let mut arguments = vec!["--format", "json", "--json-strict", "--timeout", "30", "--ttl", "0.1"];
        arguments.extend(["--approve-all", "--cwd", &project, "--agent", &agent]);
        arguments.extend(words);
        scratch.run(&scratch.peers().package("acpx/dist/cli.js", &arguments))
    };
    let opened = acpx(&["sessions", "new"])?.json()?;
    let id = opened[0]["acpxSessionId"].as_str().unwrap_or_default().to_owned();
    for prompt in ["good morning", "/write note.txt hello from acpx"] {
        scratch.expect_no_processes()?;
        let outcome = acpx(&["prompt", prompt])?;
        outcome.expect_code(0)?;
        ensure!(stop_reason(&outcome)? == "end_turn", "the turn did not end well");
        let messages = outcome.json()?;
        let reopens = |message: &&Value| {
            ["session/load", "session/resume"].map(Value::from).contains(&message["method"])
                && message["params"]["sessionId"] == id
        };
        ensure!(messages.iter().any(|message| reopens(&message)), "the session was not reopened");
        ensure!(messages.iter().all(|message| message["method"] != "session/new"), "a new one was opened");
    }
    scratch.expect_file("note.txt", "hello from acpx")?;
    let listed = acpx(&["sessions", "list"])?.json()?;
    ensure!(
        listed[0]["source"] == "agent" && listed[0]["sessions"][0]["sessionId"] == id,
        "listed: {listed:?}"
    );
    acpx(&["sessions", "close"])?.expect_code(0)
}

/// The command line of acpx for one prompt to our agent. It prints every message in both directions.
fn command(scratch: &Scratch<'_>, options: &[&str], prompt: &str) -> Vec<String> {
    let agent = line(&scratch.peers().agentwire(&["agent"]));
    let project = scratch.project().display().to_string();
    let mut arguments =
        vec!["--format", "json", "--json-strict", "--timeout", "30", "--cwd", &project, "--agent", &agent];
    arguments.extend(options);
    arguments.extend(["exec", prompt]);
    scratch.peers().package("acpx/dist/cli.js", &arguments)
}

fn acpx(scratch: &Scratch<'_>, options: &[&str], prompt: &str) -> Result<Outcome> {
    let outcome = scratch.run(&command(scratch, options, prompt))?;
    ensure!(stop_reason(&outcome)? == "end_turn", "the turn did not end well");
    Ok(outcome)
}

/// The stop reason of the last response that has one.
fn stop_reason(outcome: &Outcome) -> Result<String> {
    let messages = outcome.json()?;
    let reason = messages.iter().rev().find_map(|message| message["result"]["stopReason"].as_str());
    Ok(reason.unwrap_or_default().to_owned())
}

fn text(scratch: &Scratch<'_>) -> Result<()> {
    let outcome = acpx(scratch, &["--approve-all"], "good morning")?;
    outcome.expect_code(0)?;
    let messages = outcome.json()?;
    let text: String = messages
        .iter()
        .filter_map(|message| message["params"]["update"]["content"]["text"].as_str())
        .collect();
    ensure!(text.contains("good morning"), "our agent sent {text:?}");
    Ok(())
}

fn write(scratch: &Scratch<'_>) -> Result<()> {
    let outcome = acpx(scratch, &["--approve-all"], "/write note.txt hello from acpx")?;
    outcome.expect("session/request_permission")?;
    outcome.expect(r#""status":"completed""#)?;
    outcome.expect_code(0)?;
    scratch.expect_file("note.txt", "hello from acpx")
}

fn rejected(scratch: &Scratch<'_>) -> Result<()> {
    // acpx has an exit code of its own for denied permissions, so only the stop reason is checked.
    acpx(scratch, &["--deny-all"], "/write note.txt hello from acpx")?.expect(r#""status":"failed""#)?;
    ensure!(!scratch.file("note.txt").exists(), "a file was written without permission");
    Ok(())
}

fn read(scratch: &Scratch<'_>) -> Result<()> {
    fs::write(scratch.file("note.txt"), "words to be read")?;
    let outcome = acpx(scratch, &["--approve-all"], "/read note.txt")?;
    let messages = outcome.json()?;
    let mut updates = messages.iter().map(|message| &message["params"]["update"]);
    ensure!(
        updates.any(|update| crate::interop::chat::holds(update, "words to be read")),
        "the content was not shown"
    );
    outcome.expect_code(0)
}

fn terminal(scratch: &Scratch<'_>) -> Result<()> {
    let outcome = acpx(scratch, &["--approve-all"], "/run echo from the terminal")?;
    outcome.expect("terminal/create")?;
    outcome.expect("terminal/release")?;
    outcome.expect("from the terminal\\n")?;
    outcome.expect_code(0)
}

fn cancel(scratch: &Scratch<'_>) -> Result<()> {
    let outcome =
        scratch.interrupt_at("session/prompt", &command(scratch, &["--approve-all"], "/slow 60"))?;
    outcome.expect("session/cancel")?;
    ensure!(stop_reason(&outcome)? == "cancelled", "the turn did not end with `cancelled`");
    Ok(())
}

fn tools(scratch: &Scratch<'_>) -> Result<()> {
    let server = scratch.peers().package("@modelcontextprotocol/server-everything/dist/index.js", &[]);
    let config = json!({ "mcpServers": [{ "name": "everything", "command": server[0], "args": server[1..], "env": [] }] });
    let path = scratch.file("mcp.json").display().to_string();
    fs::write(&path, config.to_string())?;
    let outcome =
        acpx(scratch, &["--approve-all", "--mcp-config", &path], r#"/call get-sum {"a": 2, "b": 40}"#)?;
    outcome.expect("The sum of 2 and 40 is 42")?;
    outcome.expect_code(0)
}

/// The client's headers are in every request to the server.
fn tools_over_http(scratch: &Scratch<'_>) -> Result<()> {
    let server = Service::start(scratch, scratch.peers().agentwire(&["server", "--http", "127.0.0.1:0"]))?;
    let path = scratch.file("mcp.json").display().to_string();
    for (kind, place) in [("http", "/mcp"), ("sse", "/sse")] {
        let proxy = Proxy::new(&server.url(place)?)?;
        let headers = json!([{ "name": "X-Interop", "value": "told" }]);
        let config = json!({ "mcpServers": [{ "type": kind, "name": "ours", "url": proxy.url(), "headers": headers }] });
        fs::write(&path, config.to_string())?;
        let outcome =
            acpx(scratch, &["--approve-all", "--mcp-config", &path], r#"/call add {"a": 2, "b": 40}"#)?;
        outcome.expect("42")?;
        outcome.expect_code(0)?;
        let requests = proxy.requests();
        let without = requests.iter().find(|request| request.header("x-interop") != "told");
        ensure!(!requests.is_empty() && without.is_none(), "a request without the header: {without:?}");
    }
    Ok(())
}
