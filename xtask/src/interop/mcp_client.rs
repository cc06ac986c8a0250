//! Our MCP client with the servers of others.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::json;

use super::Pair;
use super::caller::Caller;
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
    Pair {
        name: "our MCP client, npm server: newest revision",
        limit: 30,
        check: |scratch| ours(scratch, &scratch.peers().npm("mcp_server.mjs", &["stdio"]), "2026-07-28"),
    },
    Pair {
        name: "our MCP client, npm server: sessions",
        limit: 30,
        check: |scratch| ours(scratch, &scratch.peers().npm("mcp_server_1.mjs", &["stdio"]), ""),
    },
    Pair {
        name: "our MCP client, PyPI server: newest revision",
        limit: 60,
        check: |scratch| ours(scratch, &scratch.peers().pypi("mcp_server.py", &[]), "2026-07-28"),
    },
    Pair {
        name: "our MCP client, PyPI server: sessions",
        limit: 60,
        check: |scratch| ours(scratch, &scratch.peers().pypi_1("mcp_server.py", &[]), "2025-11-25"),
    },
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

fn list(scratch: &Scratch<'_>) -> Result<()> {
    let caller = Caller::new(scratch, everything(scratch));
    caller.expect_tools(&["echo", "get-sum", "trigger-long-running-operation"])
}

fn call(scratch: &Scratch<'_>) -> Result<()> {
    let caller = Caller::new(scratch, everything(scratch));
    let echo = caller.result("echo", json!({ "message": "grüß dich 👋\n" }))?;
    ensure!(echo["content"][0]["text"] == "Echo: grüß dich 👋\n", "echo said {echo}");
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
    Caller::new(scratch, everything(scratch)).refused("no-such-tool", json!({}))?;
    Ok(())
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

/// A server of ours on the library of others, which answers in this revision; in a session it asks us something.
fn ours(scratch: &Scratch<'_>, server: &[String], revision: &str) -> Result<()> {
    let caller = Caller::new(scratch, line(server));
    caller.expect_tools(&["echo", "add", "fail", "slow"])?;
    if !revision.is_empty() {
        let spoken = caller.text("revision", json!({}))?;
        ensure!(spoken == revision, "{spoken} was spoken instead of {revision}");
    }
    let sum = caller.result("add", json!({ "a": 2, "b": 40 }))?;
    ensure!(sum["structuredContent"]["sum"] == 42, "the sum is {sum}");
    caller.steps("slow", json!({ "seconds": 0.4, "steps": 4 }), 4)?;
    asked(&caller, revision == "2026-07-28")?;
    caller.interrupt("slow", json!({ "seconds": 60, "steps": 120 }))?;
    scratch.expect_said("server: cancelled")
}

/// In a session the server asks, and is answered. Without one it wants to be called again with the answer, which our
/// command line has none for: the call fails.
pub(super) fn asked(caller: &Caller<'_>, stateless: bool) -> Result<()> {
    if stateless {
        let last = caller.refused("ask", json!({}))?;
        ensure!(last["error"].is_object(), "a question is no result: {last}");
    } else {
        let answer = caller.text("ask", json!({}))?;
        ensure!(answer == "pong", "the answer to the ping was {answer:?}");
    }
    Ok(())
}
