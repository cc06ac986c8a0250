//! Our MCP client with the servers of others.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Pair;
use super::chat::holds;
use super::peers::line;
use super::scratch::Scratch;

pub(super) const PAIRS: &[Pair] = &[
    Pair { name: "our MCP client, npm server-everything: list", limit: 30, check: list },
    Pair { name: "our MCP client, npm server-everything: call", limit: 30, check: call },
    Pair { name: "our MCP client, npm server-everything: content", limit: 60, check: content },
    Pair { name: "our MCP client, npm server-everything: progress", limit: 30, check: progress },
    Pair { name: "our MCP client, npm server-everything: interrupted", limit: 30, check: interrupted },
    Pair { name: "our MCP client, npm server-everything: unknown tool", limit: 30, check: unknown },
    Pair { name: "our MCP client, npm server-filesystem: list", limit: 30, check: list_files },
    Pair { name: "our MCP client, npm server-filesystem: read and write", limit: 30, check: read_and_write },
    Pair { name: "our MCP client, npm server-filesystem: outside", limit: 30, check: outside },
    Pair { name: "our MCP client, PyPI server", limit: 60, check: pypi },
];

/// npm's reference server with one of everything.
pub(super) fn everything(scratch: &Scratch<'_>) -> String {
    line(&scratch.peers().package("@modelcontextprotocol/server-everything/dist/index.js", &[]))
}

/// npm's file server, confined to the project.
pub(super) fn files(scratch: &Scratch<'_>) -> String {
    let project = scratch.project().display().to_string();
    line(&scratch.peers().package("@modelcontextprotocol/server-filesystem/dist/index.js", &[&project]))
}

/// The tools of a server, by name.
fn tools(scratch: &Scratch<'_>, target: &str) -> Result<Vec<Value>> {
    let outcome = scratch.run(&scratch.peers().agentwire(&["tools", "--json", target]))?;
    outcome.expect_code(0)?;
    let tools = outcome.json()?;
    for tool in &tools {
        ensure!(tool["name"].is_string() && tool["inputSchema"]["type"] == "object", "not a tool: {tool}");
    }
    Ok(tools)
}

fn expect_tools(tools: &[Value], names: &[&str]) -> Result<()> {
    for name in names {
        ensure!(tools.iter().any(|tool| tool["name"] == *name), "the tool {name} is missing");
    }
    Ok(())
}

/// Calls a tool: the lines of progress, and the result or error.
fn calls(scratch: &Scratch<'_>, target: &str, tool: &str, arguments: Value) -> Result<(Vec<Value>, Value)> {
    let command = scratch.peers().agentwire(&["call", "--json", target, tool, &arguments.to_string()]);
    let mut lines = scratch.run(&command)?.json()?;
    let last = lines.pop().context("nothing was printed")?;
    ensure!(lines.iter().all(|line| !line["progress"].is_null()), "only progress comes before the result");
    Ok((lines, last))
}

/// Calls a tool that must succeed.
fn result(scratch: &Scratch<'_>, target: &str, tool: &str, arguments: Value) -> Result<Value> {
    let (_, mut last) = calls(scratch, target, tool, arguments)?;
    ensure!(last["result"].is_object() && last["result"]["isError"] != true, "{tool} failed: {last}");
    Ok(last["result"].take())
}

/// Calls a tool that must fail, as a result or as an error.
fn refused(scratch: &Scratch<'_>, target: &str, tool: &str, arguments: Value) -> Result<()> {
    let (_, last) = calls(scratch, target, tool, arguments)?;
    let refused = last["result"]["isError"] == true || last["error"].is_object();
    ensure!(refused, "{tool} should have failed: {last}");
    Ok(())
}

fn list(scratch: &Scratch<'_>) -> Result<()> {
    expect_tools(
        &tools(scratch, &everything(scratch))?,
        &["echo", "get-sum", "trigger-long-running-operation"],
    )
}

fn call(scratch: &Scratch<'_>) -> Result<()> {
    let target = everything(scratch);
    let echo = result(scratch, &target, "echo", json!({ "message": "grüß dich 👋\n" }))?;
    ensure!(echo["content"][0]["text"] == "Echo: grüß dich 👋\n", "echo said {echo}");
    let sum = result(scratch, &target, "get-sum", json!({ "a": 2, "b": 40 }))?;
    ensure!(holds(&sum, "42"), "the sum is {sum}");
    let weather = result(scratch, &target, "get-structured-content", json!({ "location": "Chicago" }))?;
    ensure!(
        weather["structuredContent"]["temperature"].is_number(),
        "the result has no structure: {weather}"
    );
    Ok(())
}

fn content(scratch: &Scratch<'_>) -> Result<()> {
    let target = everything(scratch);
    let expected = [
        ("get-tiny-image", json!({}), "image"),
        ("get-resource-links", json!({ "count": 2 }), "resource_link"),
        ("get-resource-reference", json!({ "resourceType": "Blob", "resourceId": 1 }), "resource"),
    ];
    for (tool, arguments, kind) in expected {
        let result = result(scratch, &target, tool, arguments)?;
        let mut blocks = result["content"].as_array().into_iter().flatten();
        ensure!(blocks.any(|block| block["type"] == kind), "{tool} has no {kind}: {result}");
    }
    Ok(())
}

fn progress(scratch: &Scratch<'_>) -> Result<()> {
    let arguments = json!({ "duration": 1, "steps": 4 });
    let (progress, last) = calls(scratch, &everything(scratch), "trigger-long-running-operation", arguments)?;
    ensure!(progress.len() == 4, "progress came {} times instead of 4", progress.len());
    ensure!(last["result"]["isError"] != true && last["result"].is_object(), "it failed: {last}");
    Ok(())
}

fn interrupted(scratch: &Scratch<'_>) -> Result<()> {
    let arguments = json!({ "duration": 60, "steps": 120 }).to_string();
    let target = everything(scratch);
    let words = ["call", "--json", &target, "trigger-long-running-operation", &arguments];
    let outcome = scratch.interrupt_group_at("progress", &scratch.peers().agentwire(&words))?;
    ensure!(outcome.code != Some(0), "an interrupted call is not a success");
    Ok(())
}

fn unknown(scratch: &Scratch<'_>) -> Result<()> {
    refused(scratch, &everything(scratch), "no-such-tool", json!({}))
}

fn list_files(scratch: &Scratch<'_>) -> Result<()> {
    expect_tools(&tools(scratch, &files(scratch))?, &["read_text_file", "write_file", "list_directory"])
}

fn read_and_write(scratch: &Scratch<'_>) -> Result<()> {
    let target = files(scratch);
    let path = scratch.file("note.txt");
    result(scratch, &target, "write_file", json!({ "path": path, "content": "a note\n" }))?;
    scratch.expect_file("note.txt", "a note")?;
    let read = result(scratch, &target, "read_text_file", json!({ "path": path }))?;
    ensure!(read["content"][0]["text"] == "a note\n", "the file holds {read}");
    Ok(())
}

fn outside(scratch: &Scratch<'_>) -> Result<()> {
    let secret =
        scratch.file("../secret.txt").canonicalize().unwrap_or_else(|_| scratch.file("../secret.txt"));
    fs::write(&secret, "not for agents")?;
    refused(scratch, &files(scratch), "read_text_file", json!({ "path": secret }))
}

fn pypi(scratch: &Scratch<'_>) -> Result<()> {
    let target = line(&scratch.peers().pypi("mcp_server.py", &[]));
    expect_tools(&tools(scratch, &target)?, &["echo", "add", "fail", "slow"])?;
    let sum = result(scratch, &target, "add", json!({ "a": 2, "b": 40 }))?;
    ensure!(sum["structuredContent"]["sum"] == 42, "the sum is {sum}");
    refused(scratch, &target, "fail", json!({}))?;
    let (progress, _) = calls(scratch, &target, "slow", json!({ "seconds": 0.4, "steps": 4 }))?;
    ensure!(progress.len() == 4, "progress came {} times instead of 4", progress.len());
    Ok(())
}
