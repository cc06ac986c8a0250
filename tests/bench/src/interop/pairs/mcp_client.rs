//! Our MCP client with the servers of other projects.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::interop::caller::Caller;
use crate::interop::chat::holds;
use crate::interop::pair::{Pair, pair};
use crate::interop::peers::line;
use crate::interop::scratch::Scratch;

pub(super) fn pairs() -> Vec<Pair> {
    vec![
        pair("our MCP client, npm server-everything: list", 30, list),
        pair("our MCP client, npm server-everything: call", 30, call),
        pair("our MCP client, npm server-everything: content", 60, content),
        pair("our MCP client, npm server-everything: progress", 30, progress),
        pair("our MCP client, npm server-everything: interrupted", 30, interrupted),
        pair("our MCP client, npm server-everything: unknown tool", 30, unknown),
        pair("our MCP client, npm server-filesystem: list", 30, list_files),
        pair("our MCP client, npm server-filesystem: read and write", 30, read_and_write),
        pair("our MCP client, npm server-filesystem: outside", 30, outside),
        pair("our MCP client, npm server: newest revision", 30, |scratch| {
            ours(scratch, &scratch.peers().npm("mcp_server.mjs", &["stdio"]), "2026-07-28")
        }),
        pair("our MCP client, npm server: sessions", 30, |scratch| {
            ours(scratch, &scratch.peers().npm("mcp_server_1.mjs", &["stdio"]), "")
        }),
        pair("our MCP client, PyPI server: newest revision", 60, |scratch| {
            ours(scratch, &scratch.peers().pypi("mcp_server.py", &[]), "2026-07-28")
        }),
        pair("our MCP client, PyPI server: sessions", 60, |scratch| {
            ours(scratch, &scratch.peers().pypi_1("mcp_server.py", &[]), "2025-11-25")
        }),
    ]
}

/// npm's reference server, with every feature.
pub(super) fn everything(scratch: &Scratch<'_>) -> String {
    line(&scratch.peers().package("@modelcontextprotocol/server-everything/dist/index.js", &[]))
}

/// npm's file server, confined to the project.
pub(super) fn files(scratch: &Scratch<'_>) -> String {
    let project = scratch.project().display().to_string();
    line(&scratch.peers().package("@modelcontextprotocol/server-filesystem/dist/index.js", &[&project]))
}

fn list(scratch: &Scratch<'_>) -> Result<()> {
    let caller = Caller::new(scratch, everything(scratch));
    caller.expect_tools(&["echo", "get-sum", "trigger-long-running-operation"])
}

fn call(scratch: &Scratch<'_>) -> Result<()> {
    let caller = Caller::new(scratch, everything(scratch));
    let echo = caller.result("echo", json!({ "message": "grüß dich 👋\n" }))?;
    ensure!(echo["content"][0]["text"] == "Echo: grüß dich 👋\n", "echo returned {echo}");
    let sum = caller.result("get-sum", json!({ "a": 2, "b": 40 }))?;
    ensure!(holds(&sum, "42"), "the sum is {sum}");
    let weather = caller.result("get-structured-content", json!({ "location": "Chicago" }))?;
    ensure!(
        weather["structuredContent"]["temperature"].is_number(),
        "the result has no structure: {weather}"
    );
    Ok(())
}

fn content(scratch: &Scratch<'_>) -> Result<()> {
    let caller = Caller::new(scratch, everything(scratch));
    let expected = [
        ("get-tiny-image", json!({}), "image"),
        ("get-resource-links", json!({ "count": 2 }), "resource_link"),
        ("get-resource-reference", json!({ "resourceType": "Blob", "resourceId": 1 }), "resource"),
    ];
    for (tool, arguments, kind) in expected {
        let result = caller.result(tool, arguments)?;
        let mut blocks = result["content"].as_array().into_iter().flatten();
        ensure!(blocks.any(|block| block["type"] == kind), "{tool} has no {kind}: {result}");
    }
    Ok(())
}

fn progress(scratch: &Scratch<'_>) -> Result<()> {
    let arguments = json!({ "duration": 1, "steps": 4 });
    Caller::new(scratch, everything(scratch)).steps("trigger-long-running-operation", arguments, 4)
}

fn interrupted(scratch: &Scratch<'_>) -> Result<()> {
    let arguments = json!({ "duration": 60, "steps": 120 });
    Caller::new(scratch, everything(scratch)).interrupt("trigger-long-running-operation", arguments)
}

fn unknown(scratch: &Scratch<'_>) -> Result<()> {
    Caller::new(scratch, everything(scratch)).unknown()
}

fn list_files(scratch: &Scratch<'_>) -> Result<()> {
    let caller = Caller::new(scratch, files(scratch));
    caller.expect_tools(&["read_text_file", "write_file", "list_directory"])
}

fn read_and_write(scratch: &Scratch<'_>) -> Result<()> {
    let caller = Caller::new(scratch, files(scratch));
    let path = scratch.file("note.txt");
    caller.result("write_file", json!({ "path": path, "content": "a note\n" }))?;
    scratch.expect_file("note.txt", "a note")?;
    let read = caller.result("read_text_file", json!({ "path": path }))?;
    ensure!(read["content"][0]["text"] == "a note\n", "the file holds {read}");
    Ok(())
}

fn outside(scratch: &Scratch<'_>) -> Result<()> {
    let secret =
        scratch.file("../secret.txt").canonicalize().unwrap_or_else(|_| scratch.file("../secret.txt"));
    fs::write(&secret, "not for agents")?;
    Caller::new(scratch, files(scratch)).refused("read_text_file", json!({ "path": secret }))?;
    Ok(())
}

/// A server of ours on another project's SDK, which answers in this revision.
fn ours(scratch: &Scratch<'_>, server: &[String], revision: &str) -> Result<()> {
    let caller = Caller::new(scratch, line(server));
    caller.expect_tools(&["echo", "add", "fail", "slow"])?;
    if !revision.is_empty() {
        let spoken = caller.text("revision", json!({}))?;
        ensure!(spoken == revision, "the revision is {spoken} instead of {revision}");
    }
    let sum = caller.result("add", json!({ "a": 2, "b": 40 }))?;
    ensure!(sum["structuredContent"]["sum"] == 42, "the sum is {sum}");
    caller.steps("slow", json!({ "seconds": 0.4, "steps": 4 }), 4)?;
    call_asking_tool(&caller, revision == "2026-07-28")?;
    caller.interrupt("slow", json!({ "seconds": 60, "steps": 120 }))?;
    scratch.expect_logged("server: cancelled")
}

/// Calls a tool that sends a request to the client. In a session it is answered. A modern server asks for a second call
/// with the answer, which our command line does not have, so the call fails.
pub(super) fn call_asking_tool(caller: &Caller<'_>, modern: bool) -> Result<()> {
    if modern {
        let last = caller.refused("ask", json!({}))?;
        ensure!(last["error"].is_object(), "a question is not a result: {last}");
    } else {
        let answer = caller.text("ask", json!({}))?;
        ensure!(answer == "pong", "the answer to the ping was {answer:?}");
    }
    Ok(())
}
