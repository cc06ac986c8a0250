//! Our MCP client with the servers of others, over HTTP.

use std::net::TcpListener;

use anyhow::{Result, ensure};
use serde_json::json;

use super::Pair;
use super::caller::Caller;
use super::chat::holds;
use super::mcp_client::asked;
use super::proxy::Proxy;
use super::scratch::Scratch;
use super::service::Service;
use super::wire;

pub(super) const PAIRS: &[Pair] = &[
    Pair {
        name: "our MCP client, npm server-everything over HTTP",
        limit: 60,
        check: |scratch| everything(scratch, "streamableHttp", "/mcp", wire::sessions),
    },
    Pair {
        name: "our MCP client, npm server-everything over SSE",
        limit: 60,
        check: |scratch| everything(scratch, "sse", "/sse", wire::sse),
    },
    Pair { name: "our MCP client, npm server over HTTP: newest revision", limit: 60, check: npm_stateless },
    Pair {
        name: "our MCP client, npm server over HTTP: handshake, no session",
        limit: 60,
        check: npm_handshake,
    },
    Pair { name: "our MCP client, npm server over HTTP: cut, not resumable", limit: 30, check: npm_cut },
    Pair {
        name: "our MCP client, npm server over HTTP: sessions",
        limit: 60,
        check: |scratch| sessions(scratch, scratch.peers().npm("mcp_server_1.mjs", &["http"]), "auto"),
    },
    Pair {
        name: "our MCP client, npm server over HTTP: cut and resumed",
        limit: 60,
        check: |scratch| cut(scratch, scratch.peers().npm("mcp_server_1.mjs", &["http"]), "auto"),
    },
    Pair {
        name: "our MCP client, npm server over SSE",
        limit: 60,
        check: |scratch| sse(scratch, scratch.peers().npm("mcp_server_1.mjs", &["sse"])),
    },
    Pair {
        name: "our MCP client, PyPI server over HTTP: newest revision",
        limit: 60,
        check: |scratch| stateless(scratch, scratch.peers().pypi("mcp_server.py", &["http"])).map(drop),
    },
    Pair {
        name: "our MCP client, PyPI server over HTTP: handshake",
        limit: 60,
        check: |scratch| sessions(scratch, scratch.peers().pypi("mcp_server.py", &["http"]), "legacy"),
    },
    Pair {
        name: "our MCP client, PyPI server over HTTP: cut and resumed",
        limit: 60,
        check: |scratch| cut(scratch, scratch.peers().pypi("mcp_server.py", &["http"]), "legacy"),
    },
    Pair {
        name: "our MCP client, PyPI server over SSE",
        limit: 60,
        check: |scratch| sse(scratch, scratch.peers().pypi("mcp_server.py", &["sse"])),
    },
    Pair {
        name: "our MCP client, PyPI server 1 over HTTP",
        limit: 60,
        check: |scratch| sessions(scratch, scratch.peers().pypi_1("mcp_server.py", &["http"]), "auto"),
    },
    Pair {
        name: "our MCP client, PyPI server 1 over HTTP: cut and resumed",
        limit: 60,
        check: |scratch| cut(scratch, scratch.peers().pypi_1("mcp_server.py", &["http"]), "auto"),
    },
    Pair {
        name: "our MCP client, PyPI server 1 over SSE",
        limit: 60,
        check: |scratch| sse(scratch, scratch.peers().pypi_1("mcp_server.py", &["sse"])),
    },
];

/// Starts npm's reference server, which listens where the environment says, and does not say where that is.
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

/// What our client does with npm's reference server.
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
    ensure!(echo == "Echo: grüß dich 👋\n", "echo said {echo:?}");
    let sum = caller.result("get-sum", json!({ "a": 2, "b": 40 }))?;
    ensure!(holds(&sum, "42"), "the sum is {sum}");
    caller.refused("no-such-tool", json!({}))?;
    caller.steps("trigger-long-running-operation", json!({ "duration": 1, "steps": 4 }), 4)?;
    caller.interrupt("trigger-long-running-operation", json!({ "duration": 60, "steps": 120 }))?;
    expected(&proxy)
}

/// Interrupts a call, of which the server must hear.
fn cancel(caller: &Caller<'_>, server: &Service<'_>) -> Result<()> {
    caller.interrupt("slow", json!({ "seconds": 60, "steps": 120 }))?;
    server.expect("cancelled")?;
    Ok(())
}

/// A server that is found to speak the newest revision.
fn stateless<'a>(scratch: &'a Scratch<'a>, command: Vec<String>) -> Result<(Service<'a>, Proxy)> {
    let server = Service::start(scratch, command)?;
    let proxy = Proxy::new(&server.url("/mcp")?)?;
    let caller = Caller::new(scratch, proxy.url());
    caller.paces()?;
    asked(&caller, true)?;
    cancel(&caller, &server)?;
    wire::stateless(&proxy)?;
    Ok((server, proxy))
}

fn npm_stateless(scratch: &Scratch<'_>) -> Result<()> {
    let (_server, proxy) = stateless(scratch, scratch.peers().npm("mcp_server.mjs", &["http"]))?;
    // This argument stands in a header too, and the server refuses a call where both are not the same.
    let caller = Caller::new(scratch, proxy.url());
    for region in ["us-west1", "köln, süd "] {
        let weather = caller.text("weather", json!({ "region": region }))?;
        ensure!(weather == format!("{region}: sunny"), "the weather is {weather:?}");
    }
    let requests = proxy.requests();
    let told = requests.iter().any(|request| request.header("mcp-param-region") == "us-west1");
    ensure!(told, "the argument was not repeated in its header");
    Ok(())
}

/// This server gives no session to who begins with `initialize`, so that it cannot hear of a cancelled call either.
fn npm_handshake(scratch: &Scratch<'_>) -> Result<()> {
    let server = Service::start(scratch, scratch.peers().npm("mcp_server.mjs", &["http"]))?;
    let proxy = Proxy::new(&server.url("/mcp")?)?;
    let caller = Caller::new(scratch, proxy.url()).era("legacy");
    caller.paces()?;
    caller.interrupt("slow", json!({ "seconds": 60, "steps": 120 }))?;
    let requests = proxy.requests();
    ensure!(requests.iter().any(|request| request.method() == "initialize"), "no handshake");
    ensure!(requests.iter().all(|request| request.verb != "DELETE"), "there is no session to delete");
    Ok(())
}

/// Without events to take up again, a call whose stream is cut has failed, and soon.
fn npm_cut(scratch: &Scratch<'_>) -> Result<()> {
    let server = Service::start(scratch, scratch.peers().npm("mcp_server.mjs", &["http"]))?;
    let proxy = Proxy::cutting(&server.url("/mcp")?, &[3])?;
    let last = Caller::new(scratch, proxy.url()).refused("slow", json!({ "seconds": 2, "steps": 10 }))?;
    ensure!(last["error"].is_object(), "a lost call has no result: {last}");
    Ok(())
}

/// A server that gives us a session.
fn sessions(scratch: &Scratch<'_>, command: Vec<String>, era: &'static str) -> Result<()> {
    let server = Service::start(scratch, command)?;
    let proxy = Proxy::new(&server.url("/mcp")?)?;
    let caller = Caller::new(scratch, proxy.url()).era(era);
    caller.paces()?;
    asked(&caller, false)?;
    cancel(&caller, &server)?;
    wire::sessions(&proxy)?;
    // Here it is the server that ends the stream of a call before its answer.
    caller.steps("hang-up", json!({}), 2)?;
    wire::resumed(&proxy)
}

/// A session whose connections are cut twice in the middle of a call.
fn cut(scratch: &Scratch<'_>, command: Vec<String>, era: &'static str) -> Result<()> {
    let server = Service::start(scratch, command)?;
    let proxy = Proxy::cutting(&server.url("/mcp")?, &[3, 7])?;
    let caller = Caller::new(scratch, proxy.url()).era(era);
    caller.steps("slow", json!({ "seconds": 2, "steps": 10 }), 10)?;
    server.expect("resumed after")?;
    wire::resumed(&proxy)
}

/// The transport of 2024-11-05, which is found out by what the server refuses.
fn sse(scratch: &Scratch<'_>, command: Vec<String>) -> Result<()> {
    let server = Service::start(scratch, command)?;
    let proxy = Proxy::new(&server.url("/sse")?)?;
    let caller = Caller::new(scratch, proxy.url());
    caller.paces()?;
    asked(&caller, false)?;
    cancel(&caller, &server)?;
    wire::sse(&proxy)
}
