//! Our MCP client with servers that send requests: for roots, sampling and elicitation.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::mcp_client;
use super::mcp_client_http::{SERVERS, start_everything};
use crate::interop::pair::{Pair, pair};
use crate::interop::peers::line;
use crate::interop::proxy::Proxy;
use crate::interop::scratch::{Outcome, Scratch};
use crate::interop::service::Service;
use crate::interop::wire;

pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = vec![
        pair("our MCP client, npm server-everything: questions", 60, everything),
        pair("our MCP client, npm server-everything over HTTP: questions", 60, |scratch| {
            everything_over(scratch, "streamableHttp", "/mcp", wire::sessions)
        }),
        pair("our MCP client, npm server-everything over SSE: questions", 60, |scratch| {
            everything_over(scratch, "sse", "/sse", wire::sse)
        }),
        pair("our MCP client, npm server: questions after a handshake", 60, |scratch| {
            ask_all(scratch, &line(&scratch.peers().npm("mcp_server.mjs", &["stdio"])))
        }),
    ];
    for (name, _, server, program, _) in SERVERS {
        let over = |transport: &str| format!("our MCP client, {name}{transport}: questions");
        pairs.push(pair(over(""), 60, move |scratch| {
            ask_all(scratch, &line(&server(scratch.peers(), program, &["stdio"])))
        }));
        for (transport, path, expected) in
            [("http", "/mcp", wire::sessions as Expected), ("sse", "/sse", wire::sse)]
        {
            pairs.push(pair(over(&format!(" over {}", transport.to_uppercase())), 60, move |scratch| {
                let command = server(scratch.peers(), program, &[transport]);
                let (_server, proxy) = Service::start_behind_proxy(scratch, command, path, &[])?;
                ask_all(scratch, proxy.url())?;
                wire::answered(&proxy, 3)?;
                expected(&proxy)
            }));
        }
    }
    pairs
}

/// Checks the requests of a client.
type Expected = fn(&Proxy) -> Result<()>;

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

fn everything_over(scratch: &Scratch<'_>, transport: &str, path: &str, expected: Expected) -> Result<()> {
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

/// Calls the one tool of a server of ours that makes all requests.
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
