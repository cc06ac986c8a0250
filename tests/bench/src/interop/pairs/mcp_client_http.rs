//! Our MCP client with the servers of other projects, over HTTP.

use std::net::TcpListener;

use anyhow::{Result, ensure};
use serde_json::json;

use super::mcp_client::call_asking_tool;
use crate::interop::caller::Caller;
use crate::interop::chat::holds;
use crate::interop::pair::{Pair, pair};
use crate::interop::peers::{OnSdk, Peers};
use crate::interop::proxy::Proxy;
use crate::interop::scratch::Scratch;
use crate::interop::service::Service;
use crate::interop::wire;

/// Our servers on other SDKs, with sessions, over HTTP and over SSE: the name, the suffix of a pair with sessions, the SDK, the
/// program, and the era of our client.
pub(super) const SERVERS: [(&str, &str, OnSdk, &str, &str); 3] = [
    ("npm server", ": sessions", Peers::npm, "mcp_server_1.mjs", "auto"),
    ("PyPI server", ": handshake", Peers::pypi, "mcp_server.py", "legacy"),
    ("PyPI server 1", "", Peers::pypi_1, "mcp_server.py", "auto"),
];

pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = vec![
        pair("our MCP client, npm server-everything over HTTP", 60, |scratch| {
            everything(scratch, "streamableHttp", "/mcp", wire::sessions)
        }),
        pair("our MCP client, npm server-everything over SSE", 60, |scratch| {
            everything(scratch, "sse", "/sse", wire::sse)
        }),
        pair("our MCP client, npm server over HTTP: newest revision", 60, npm_modern),
        pair("our MCP client, npm server over HTTP: handshake, no session", 60, npm_handshake),
        pair("our MCP client, npm server over HTTP: cut, not resumable", 30, npm_cut),
        pair("our MCP client, PyPI server over HTTP: newest revision", 60, |scratch| {
            modern(scratch, scratch.peers().pypi("mcp_server.py", &["http"])).map(drop)
        }),
    ];
    for (name, with_sessions, server, program, era) in SERVERS {
        let command = move |scratch: &Scratch<'_>, transport| server(scratch.peers(), program, &[transport]);
        let over = |rest: String| format!("our MCP client, {name} over {rest}");
        pairs.extend([
            pair(over(format!("HTTP{with_sessions}")), 60, move |scratch| {
                sessions(scratch, command(scratch, "http"), era)
            }),
            pair(over("HTTP: cut and resumed".to_owned()), 60, move |scratch| {
                cut(scratch, command(scratch, "http"), era)
            }),
            pair(over("SSE".to_owned()), 60, move |scratch| sse(scratch, command(scratch, "sse"))),
        ]);
    }
    pairs
}

/// Starts npm's reference server, whose port is set by the environment and is not printed.
pub(super) fn start_everything<'a>(
    scratch: &'a Scratch<'a>,
    transport: &str,
    path: &str,
) -> Result<(Service<'a>, Proxy)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut command = vec!["env".to_owned(), format!("PORT={port}")];
    let program = "@modelcontextprotocol/server-everything/dist/index.js";
    command.extend(scratch.peers().package(program, &[transport]));
    let server = Service::start(scratch, command)?;
    server.expect("on port")?;
    let proxy = Proxy::new(&format!("http://127.0.0.1:{port}{path}"))?;
    Ok((server, proxy))
}

/// Checks npm's reference server.
fn everything(
    scratch: &Scratch<'_>,
    transport: &str,
    path: &str,
    expected: fn(&Proxy) -> Result<()>,
) -> Result<()> {
    let (_server, proxy) = start_everything(scratch, transport, path)?;
    let caller = Caller::new(scratch, proxy.url());
    caller.expect_tools(&["echo", "get-sum", "trigger-long-running-operation"])?;
    let echo = caller.text("echo", json!({ "message": "grüß dich 👋\n" }))?;
    ensure!(echo == "Echo: grüß dich 👋\n", "echo returned {echo:?}");
    let sum = caller.result("get-sum", json!({ "a": 2, "b": 40 }))?;
    ensure!(holds(&sum, "42"), "the sum is {sum}");
    caller.unknown()?;
    caller.steps("trigger-long-running-operation", json!({ "duration": 1, "steps": 4 }), 4)?;
    caller.interrupt("trigger-long-running-operation", json!({ "duration": 60, "steps": 120 }))?;
    expected(&proxy)
}

/// Interrupts a call. The server must receive the cancel.
fn cancel(caller: &Caller<'_>, server: &Service<'_>) -> Result<()> {
    caller.interrupt("slow", json!({ "seconds": 60, "steps": 120 }))?;
    server.expect("cancelled")?;
    Ok(())
}

/// A server of the newest revision, which our client must discover.
fn modern<'a>(scratch: &'a Scratch<'a>, command: Vec<String>) -> Result<(Service<'a>, Proxy)> {
    let (server, proxy) = Service::start_behind_proxy(scratch, command, "/mcp", &[])?;
    let caller = Caller::new(scratch, proxy.url());
    caller.check_tools()?;
    call_asking_tool(&caller, true)?;
    cancel(&caller, &server)?;
    wire::modern(&proxy)?;
    Ok((server, proxy))
}

fn npm_modern(scratch: &Scratch<'_>) -> Result<()> {
    let (_server, proxy) = modern(scratch, scratch.peers().npm("mcp_server.mjs", &["http"]))?;
    // This argument is repeated in a header, and the server refuses a call when they differ.
    let caller = Caller::new(scratch, proxy.url());
    for region in ["us-west1", "köln, süd "] {
        let weather = caller.text("weather", json!({ "region": region }))?;
        ensure!(weather == format!("{region}: sunny"), "the weather is {weather:?}");
    }
    let requests = proxy.requests();
    let repeated = requests.iter().any(|request| request.header("mcp-param-region") == "us-west1");
    ensure!(repeated, "the argument was not repeated in its header");
    Ok(())
}

/// This server has no sessions for clients that begin with `initialize`, so it does not receive cancels.
fn npm_handshake(scratch: &Scratch<'_>) -> Result<()> {
    let (_server, proxy) =
        Service::start_behind_proxy(scratch, scratch.peers().npm("mcp_server.mjs", &["http"]), "/mcp", &[])?;
    let caller = Caller::new(scratch, proxy.url()).era("legacy");
    caller.check_tools()?;
    caller.interrupt("slow", json!({ "seconds": 60, "steps": 120 }))?;
    let requests = proxy.requests();
    ensure!(requests.iter().any(|request| request.method() == "initialize"), "no handshake");
    ensure!(requests.iter().all(|request| request.verb() != "DELETE"), "there is no session to delete");
    Ok(())
}

/// A call whose stream is cut and cannot be resumed fails at once.
fn npm_cut(scratch: &Scratch<'_>) -> Result<()> {
    let (_server, proxy) =
        Service::start_behind_proxy(scratch, scratch.peers().npm("mcp_server.mjs", &["http"]), "/mcp", &[3])?;
    let last = Caller::new(scratch, proxy.url()).refused("slow", json!({ "seconds": 2, "steps": 10 }))?;
    ensure!(last["error"].is_object(), "a lost call has no result: {last}");
    Ok(())
}

/// A server with sessions.
fn sessions(scratch: &Scratch<'_>, command: Vec<String>, era: &'static str) -> Result<()> {
    let (server, proxy) = Service::start_behind_proxy(scratch, command, "/mcp", &[])?;
    let caller = Caller::new(scratch, proxy.url()).era(era);
    caller.check_tools()?;
    call_asking_tool(&caller, false)?;
    cancel(&caller, &server)?;
    wire::sessions(&proxy)?;
    // This tool ends the stream of its call before the response.
    caller.steps("hang-up", json!({}), 2)?;
    wire::resumed(&proxy)
}

/// A session whose connections are cut twice in the middle of a call.
fn cut(scratch: &Scratch<'_>, command: Vec<String>, era: &'static str) -> Result<()> {
    let (server, proxy) = Service::start_behind_proxy(scratch, command, "/mcp", &[3, 7])?;
    let caller = Caller::new(scratch, proxy.url()).era(era);
    caller.steps("slow", json!({ "seconds": 2, "steps": 10 }), 10)?;
    server.expect("resumed after")?;
    wire::resumed(&proxy)
}

/// The transport of 2024-11-05, which our client discovers by the server's refusals.
fn sse(scratch: &Scratch<'_>, command: Vec<String>) -> Result<()> {
    let (server, proxy) = Service::start_behind_proxy(scratch, command, "/sse", &[])?;
    let caller = Caller::new(scratch, proxy.url());
    caller.check_tools()?;
    call_asking_tool(&caller, false)?;
    cancel(&caller, &server)?;
    wire::sse(&proxy)
}
