//! Our MCP client with servers that ask it something: for its folders, its model and its user.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Pair;
use super::mcp_client;
use super::mcp_client_http::start_everything;
use super::peers::line;
use super::proxy::Proxy;
use super::scratch::{Outcome, Scratch};
use super::service::Service;
use super::wire;

pub(super) const PAIRS: &[Pair] = &[
    Pair { name: "our MCP client, npm server-everything: questions", limit: 60, check: everything },
    Pair {
        name: "our MCP client, npm server-everything over HTTP: questions",
        limit: 60,
        check: |scratch| everything_over(scratch, "streamableHttp", "/mcp", wire::sessions),
    },
    Pair {
        name: "our MCP client, npm server-everything over SSE: questions",
        limit: 60,
        check: |scratch| everything_over(scratch, "sse", "/sse", wire::sse),
    },
    Pair {
        name: "our MCP client, npm server: questions after a handshake",
        limit: 60,
        check: |scratch| ours(scratch, &scratch.peers().npm("mcp_server.mjs", &["stdio"])),
    },
    Pair {
        name: "our MCP client, npm server: questions in a session",
        limit: 60,
        check: |scratch| ours(scratch, &scratch.peers().npm("mcp_server_1.mjs", &["stdio"])),
    },
    Pair {
        name: "our MCP client, npm server over HTTP: questions",
        limit: 60,
        check: |scratch| http(scratch, scratch.peers().npm("mcp_server_1.mjs", &["http"])),
    },
    Pair {
        name: "our MCP client, npm server over SSE: questions",
        limit: 60,
        check: |scratch| sse(scratch, scratch.peers().npm("mcp_server_1.mjs", &["sse"])),
    },
    Pair {
        name: "our MCP client, PyPI server: questions after a handshake",
        limit: 60,
        check: |scratch| ours(scratch, &scratch.peers().pypi("mcp_server.py", &[])),
    },
    Pair {
        name: "our MCP client, PyPI server over HTTP: questions",
        limit: 60,
        check: |scratch| http(scratch, scratch.peers().pypi("mcp_server.py", &["http"])),
    },
    Pair {
        name: "our MCP client, PyPI server over SSE: questions",
        limit: 60,
        check: |scratch| sse(scratch, scratch.peers().pypi("mcp_server.py", &["sse"])),
    },
    Pair {
        name: "our MCP client, PyPI server 1: questions",
        limit: 60,
        check: |scratch| ours(scratch, &scratch.peers().pypi_1("mcp_server.py", &[])),
    },
    Pair {
        name: "our MCP client, PyPI server 1 over HTTP: questions",
        limit: 60,
        check: |scratch| http(scratch, scratch.peers().pypi_1("mcp_server.py", &["http"])),
    },
    Pair {
        name: "our MCP client, PyPI server 1 over SSE: questions",
        limit: 60,
        check: |scratch| sse(scratch, scratch.peers().pypi_1("mcp_server.py", &["sse"])),
    },
];

/// Calls tools in a session of the client that answers; every call must succeed.
fn call(scratch: &Scratch<'_>, target: &str, calls: &[&str]) -> Result<Outcome> {
    let words = [&["--legacy", target], calls].concat();
    let outcome = scratch.run(&scratch.peers().answering(&words))?;
    outcome.expect_code(0)?;
    Ok(outcome)
}

/// npm's reference server, with a tool for each question.
fn everything(scratch: &Scratch<'_>) -> Result<()> {
    ask_everything(scratch, &mcp_client::everything(scratch))
}

fn everything_over(
    scratch: &Scratch<'_>,
    transport: &str,
    path: &str,
    expected: fn(&Proxy) -> Result<()>,
) -> Result<()> {
    let (_server, proxy) = start_everything(scratch, transport, path)?;
    ask_everything(scratch, proxy.url())?;
    // That it asks for the folders is seen below; it does so by itself, too, and keeps the answer.
    wire::answered(&proxy, 3)?;
    expected(&proxy)
}

fn ask_everything(scratch: &Scratch<'_>, target: &str) -> Result<()> {
    let calls = [
        ("trigger-sampling-request", r#"{"prompt": "What does a parrot say?", "maxTokens": 10}"#),
        ("trigger-elicitation-request", "{}"),
        // It asks for our folders some time after the handshake, on a stream that may not be open before.
        ("trigger-long-running-operation", r#"{"duration": 1, "steps": 1}"#),
        ("get-roots-list", "{}"),
    ];
    let calls: Vec<_> = calls.iter().flat_map(|(tool, arguments)| [*tool, *arguments]).collect();
    let outcome = call(scratch, target, &calls)?;
    for answer in ["Pieces of eight!", "Name: Ada", "file:///projects/here", "file:///projects/there"] {
        outcome.expect(answer)?;
    }
    Ok(())
}

/// A server of ours on the library of others, with one tool for all questions.
fn ours(scratch: &Scratch<'_>, server: &[String]) -> Result<()> {
    ask_all(scratch, &line(server))
}

fn http(scratch: &Scratch<'_>, command: Vec<String>) -> Result<()> {
    let server = Service::start(scratch, command)?;
    let proxy = Proxy::new(&server.url("/mcp")?)?;
    ask_all(scratch, proxy.url())?;
    wire::answered(&proxy, 3)?;
    wire::sessions(&proxy)
}

fn sse(scratch: &Scratch<'_>, command: Vec<String>) -> Result<()> {
    let server = Service::start(scratch, command)?;
    let proxy = Proxy::new(&server.url("/sse")?)?;
    ask_all(scratch, proxy.url())?;
    wire::answered(&proxy, 3)?;
    wire::sse(&proxy)
}

fn ask_all(scratch: &Scratch<'_>, target: &str) -> Result<()> {
    let outcome = call(scratch, target, &["ask-all", "{}"])?;
    let answers: Value = outcome.json()?.pop().context("the tool said nothing")?;
    let expected = json!({
        "roots": ["file:///projects/here", "file:///projects/there"],
        "model": "Pieces of eight!",
        "action": "accept",
        "form": { "name": "Ada" },
    });
    ensure!(answers == expected, "the server was answered {answers}");
    Ok(())
}
