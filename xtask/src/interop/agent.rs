//! Our ACP agent with the clients of others.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::Pair;
use super::peers::line;
use super::proxy::Proxy;
use super::scratch::{Outcome, Scratch};
use super::service::Service;

pub(super) const PAIRS: &[Pair] = &[
    Pair { name: "our agent, PyPI client", limit: 60, check: pypi },
    Pair { name: "our agent with our MCP server, PyPI client", limit: 60, check: pypi_with_tools },
    Pair { name: "our agent, acpx: text", limit: 60, check: text },
    Pair { name: "our agent, acpx: write", limit: 60, check: write },
    Pair { name: "our agent, acpx: rejected write", limit: 60, check: rejected },
    Pair { name: "our agent, acpx: read", limit: 60, check: read },
    Pair { name: "our agent, acpx: terminal", limit: 60, check: terminal },
    Pair { name: "our agent, acpx: cancel", limit: 60, check: cancel },
    Pair { name: "our agent with npm server-everything, acpx", limit: 60, check: tools },
    Pair { name: "our agent with our MCP server over HTTP and SSE, acpx", limit: 60, check: tools_over_http },
];

/// Sessions that outlive their agent.
pub(super) const KEPT: &[Pair] = &[
    Pair { name: "our agent, PyPI client: load, resume, list", limit: 90, check: pypi_kept },
    Pair { name: "our agent, acpx: a session in two lives", limit: 90, check: acpx_kept },
];

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

/// Our agent, which keeps its sessions in the scratch.
fn keeping(scratch: &Scratch<'_>) -> Vec<String> {
    let store = scratch.file("../store").display().to_string();
    scratch.peers().agentwire(&["agent", "--store", &store])
}

fn pypi_kept(scratch: &Scratch<'_>) -> Result<()> {
    let agent = keeping(scratch);
    let arguments: Vec<_> = ["--kept"].into_iter().chain(agent.iter().map(String::as_str)).collect();
    scratch.run(&scratch.peers().pypi("client.py", &arguments))?.expect_code(0)
}

/// The first prompt and the second reach agents of their own, because acpx keeps none alive here. It resumes a session
/// where it can, and loads it otherwise; it begins a new one where the agent does neither or fails.
fn acpx_kept(scratch: &Scratch<'_>) -> Result<()> {
    let project = scratch.project().display().to_string();
    let agent = line(&keeping(scratch));
    let acpx = |words: &[&str]| {
        let mut arguments = vec!["--format", "json", "--json-strict", "--timeout", "30", "--ttl", "0.1"];
        arguments.extend(["--approve-all", "--cwd", &project, "--agent", &agent]);
        arguments.extend(words);
        scratch.run(&scratch.peers().package("acpx/dist/cli.js", &arguments))
    };
    let opened = acpx(&["sessions", "new"])?.json()?;
    let id = opened[0]["acpxSessionId"].as_str().unwrap_or_default().to_owned();
    for prompt in ["good morning", "/write note.txt hello from acpx"] {
        scratch.nobody_left()?;
        let outcome = acpx(&["prompt", prompt])?;
        outcome.expect_code(0)?;
        ensure!(stop_reason(&outcome)? == "end_turn", "the turn did not end well");
        let messages = outcome.json()?;
        let taken_up = |message: &&Value| {
            ["session/load", "session/resume"].map(Value::from).contains(&message["method"])
                && message["params"]["sessionId"] == id
        };
        ensure!(messages.iter().any(|message| taken_up(&message)), "the session was not taken up again");
        ensure!(messages.iter().all(|message| message["method"] != "session/new"), "a new one was begun");
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

/// The reason in the last answer that has one.
fn stop_reason(outcome: &Outcome) -> Result<String> {
    let messages = outcome.json()?;
    let reason = messages.iter().rev().find_map(|message| message["result"]["stopReason"].as_str());
    Ok(reason.unwrap_or_default().to_owned())
}

fn text(scratch: &Scratch<'_>) -> Result<()> {
    let outcome = acpx(scratch, &["--approve-all"], "good morning")?;
    outcome.expect_code(0)?;
    let messages = outcome.json()?;
    let said: String = messages
        .iter()
        .filter_map(|message| message["params"]["update"]["content"]["text"].as_str())
        .collect();
    ensure!(said.contains("good morning"), "our agent said {said:?}");
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
    // acpx has an exit code of its own for denied permissions, so that only the turn's end is looked at.
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
        updates.any(|update| super::chat::holds(update, "words to be read")),
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
    ensure!(stop_reason(&outcome)? == "cancelled", "our agent did not say that the turn was cancelled");
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

/// The headers that the client names reach the server, with every request.
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
        let untold = requests.iter().find(|request| request.header("x-interop") != "told");
        ensure!(!requests.is_empty() && untold.is_none(), "a request without the header: {untold:?}");
    }
    Ok(())
}
