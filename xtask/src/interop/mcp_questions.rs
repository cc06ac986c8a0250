//! Our MCP client with servers that send requests: for roots, sampling and elicitation.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::mcp_client;
use super::mcp_client_http::start_everything;
use super::pair::{Pair, pair};
use super::peers::line;
use super::proxy::Proxy;
use super::scratch::{Outcome, Scratch};
use super::service::Service;
use super::wire;

pub(super) const PAIRS: &[Pair] = &[
    pair("our MCP client, npm server-everything: questions", 60, everything),
    pair("our MCP client, npm server-everything over HTTP: questions", 60, |scratch| {
        everything_over(scratch, "streamableHttp", "/mcp", wire::sessions)
    }),
    pair("our MCP client, npm server-everything over SSE: questions", 60, |scratch| {
        everything_over(scratch, "sse", "/sse", wire::sse)
    }),
    pair("our MCP client, npm server: questions after a handshake", 60, |scratch| {
        ours(scratch, &scratch.peers().npm("mcp_server.mjs", &["stdio"]))
    }),
    pair("our MCP client, npm server: questions in a session", 60, |scratch| {
        ours(scratch, &scratch.peers().npm("mcp_server_1.mjs", &["stdio"]))
    }),
    pair("our MCP client, npm server over HTTP: questions", 60, |scratch| {
        http(scratch, scratch.peers().npm("mcp_server_1.mjs", &["http"]))
    }),
    pair("our MCP client, npm server over SSE: questions", 60, |scratch| {
        sse(scratch, scratch.peers().npm("mcp_server_1.mjs", &["sse"]))
    }),
    pair("our MCP client, PyPI server: questions after a handshake", 60, |scratch| {
        ours(scratch, &scratch.peers().pypi("mcp_server.py", &[]))
    }),
    pair("our MCP client, PyPI server over HTTP: questions", 60, |scratch| {
        http(scratch, scratch.peers().pypi("mcp_server.py", &["http"]))
    }),
    pair("our MCP client, PyPI server over SSE: questions", 60, |scratch| {
        sse(scratch, scratch.peers().pypi("mcp_server.py", &["sse"]))
    }),
    pair("our MCP client, PyPI server 1: questions", 60, |scratch| {
        ours(scratch, &scratch.peers().pypi_1("mcp_server.py", &[]))
    }),
    pair("our MCP client, PyPI server 1 over HTTP: questions", 60, |scratch| {
        http(scratch, scratch.peers().pypi_1("mcp_server.py", &["http"]))
    }),
    pair("our MCP client, PyPI server 1 over SSE: questions", 60, |scratch| {
        sse(scratch, scratch.peers().pypi_1("mcp_server.py", &["sse"]))
    }),
];

/// Calls tools with the example client that answers requests. Every call must succeed.
fn call(scratch: &Scratch<'_>, target: &str, calls: &[&str]) -> Result<Outcome> {
    let words = [&["--legacy", target], calls].concat();
    let outcome = scratch.run(&scratch.peers().answering(&words))?;
    outcome.expect_code(0)?;
    Ok(outcome)
}

/// npm's reference server, with a tool for each request.
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
    // The server also requests the roots by itself, and keeps the response.
    wire::answered(&proxy, 3)?;
    expected(&proxy)
}

fn ask_everything(scratch: &Scratch<'_>, target: &str) -> Result<()> {
    let calls = [
        ("trigger-sampling-request", r#"{"prompt": "What does a parrot say?", "maxTokens": 10}"#),
        ("trigger-elicitation-request", "{}"),
        // The server requests the roots some time after the handshake, on a stream that may not be open before.
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

/// A server of ours on another project's SDK, with one tool for all requests.
fn ours(scratch: &Scratch<'_>, server: &[String]) -> Result<()> {
    ask_all(scratch, &line(server))
}

fn http(scratch: &Scratch<'_>, command: Vec<String>) -> Result<()> {
    let (_server, proxy) = Service::start_behind_proxy(scratch, command, "/mcp", &[])?;
    ask_all(scratch, proxy.url())?;
    wire::answered(&proxy, 3)?;
    wire::sessions(&proxy)
}

fn sse(scratch: &Scratch<'_>, command: Vec<String>) -> Result<()> {
    let (_server, proxy) = Service::start_behind_proxy(scratch, command, "/sse", &[])?;
    ask_all(scratch, proxy.url())?;
    wire::answered(&proxy, 3)?;
    wire::sse(&proxy)
}

fn ask_all(scratch: &Scratch<'_>, target: &str) -> Result<()> {
    let outcome = call(scratch, target, &["ask-all", "{}"])?;
    let answers: Value = outcome.json()?.pop().context("the tool returned nothing")?;
    let expected = json!({
        "roots": ["file:///projects/here", "file:///projects/there"],
        "model": "Pieces of eight!",
        "action": "accept",
        "form": { "name": "Ada" },
    });
    ensure!(answers == expected, "the server received {answers}");
    Ok(())
}
