//! Our MCP server with the clients of other projects, which do the checking.

use anyhow::{Result, ensure};

use super::chat::holds;
use super::pair::{Pair, pair};
use super::peers::Peers;
use super::proxy::Proxy;
use super::scratch::Scratch;
use super::service::Service;
use super::wire;

/// Makes the command line of a client, of its program and arguments.
type Client = fn(&Peers, &str, &[&str]) -> Vec<String>;

pub(super) const PAIRS: &[Pair] = &[
    pair("our MCP server, PyPI client: newest revision", 60, |scratch| {
        stdio(scratch, Peers::pypi, "mcp_client.py", "auto")
    }),
    pair("our MCP server, PyPI client: handshake", 60, |scratch| {
        stdio(scratch, Peers::pypi, "mcp_client.py", "legacy")
    }),
    pair("our MCP server, PyPI client 1", 60, |scratch| {
        stdio(scratch, Peers::pypi_1, "mcp_client_1.py", "stdio")
    }),
    pair("our MCP server, npm client: newest revision", 60, |scratch| {
        stdio(scratch, Peers::npm, "mcp_client.mjs", "auto")
    }),
    pair("our MCP server, npm client: handshake", 60, |scratch| {
        stdio(scratch, Peers::npm, "mcp_client.mjs", "legacy")
    }),
    pair("our MCP server, npm inspector", 60, inspector_stdio),
    pair("our MCP server over HTTP, npm client: newest revision", 60, |scratch| {
        http(scratch, Peers::npm, &["mcp_client.mjs", "auto"], wire::modern)
    }),
    pair("our MCP server over HTTP, npm client: handshake", 60, |scratch| {
        http(scratch, Peers::npm, &["mcp_client.mjs", "legacy"], wire::sessions)
    }),
    pair("our MCP server over HTTP, npm client: cut and resumed", 60, |scratch| {
        cut(scratch, Peers::npm, "mcp_client.mjs", &[3, 7])
    }),
    pair("our MCP server over HTTP, npm client 1", 60, |scratch| {
        http(scratch, Peers::npm, &["mcp_client_1.mjs", "http"], wire::sessions)
    }),
    pair("our MCP server over HTTP, npm client 1: cut and resumed", 60, |scratch| {
        cut(scratch, Peers::npm, "mcp_client_1.mjs", &[3, 7])
    }),
    pair("our MCP server over SSE, npm client 1", 60, |scratch| sse(scratch, Peers::npm, "mcp_client_1.mjs")),
    pair("our MCP server over HTTP, PyPI client: newest revision", 60, |scratch| {
        http(scratch, Peers::pypi, &["mcp_client.py", "auto"], wire::modern)
    }),
    pair("our MCP server over HTTP, PyPI client: handshake", 60, |scratch| {
        http(scratch, Peers::pypi, &["mcp_client.py", "legacy"], wire::sessions)
    }),
    pair("our MCP server over HTTP, PyPI client: cut and resumed", 60, |scratch| {
        cut(scratch, Peers::pypi, "mcp_client.py", &[3])
    }),
    pair("our MCP server over SSE, PyPI client", 60, |scratch| sse(scratch, Peers::pypi, "mcp_client.py")),
    pair("our MCP server over HTTP, PyPI client 1", 60, |scratch| {
        http(scratch, Peers::pypi_1, &["mcp_client_1.py", "http"], wire::sessions)
    }),
    pair("our MCP server over HTTP, PyPI client 1: cut and resumed", 60, |scratch| {
        cut(scratch, Peers::pypi_1, "mcp_client_1.py", &[3])
    }),
    pair("our MCP server over SSE, PyPI client 1", 60, |scratch| {
        sse(scratch, Peers::pypi_1, "mcp_client_1.py")
    }),
    pair("our MCP server over HTTP, npm inspector: newest revision", 60, |scratch| {
        inspector_http(scratch, "modern")
    }),
    pair("our MCP server over HTTP, npm inspector: handshake", 60, |scratch| {
        inspector_http(scratch, "legacy")
    }),
    pair("our MCP server over SSE, npm inspector", 60, inspector_sse),
];

/// A client that starts our server. `mode` is the client's way to agree on a revision.
fn stdio(scratch: &Scratch<'_>, client: Client, program: &str, mode: &str) -> Result<()> {
    let mut words = vec![mode.to_owned()];
    words.extend(scratch.peers().agentwire(&["server", "--stdio"]));
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    scratch.run(&client(scratch.peers(), program, &words))?.expect_code(0)
}

/// Serves at `--http` or `--sse`.
fn serve<'a>(scratch: &'a Scratch<'a>, option: &str) -> Result<(Service<'a>, String)> {
    let server = Service::start(scratch, scratch.peers().agentwire(&["server", option, "127.0.0.1:0"]))?;
    let url = server.url(if option == "--sse" { "/sse" } else { "/mcp" })?;
    Ok((server, url))
}

/// Stops our server by SIGTERM, which its exit code must say.
fn stop(server: Service<'_>) -> Result<()> {
    let code = server.stop()?;
    ensure!(code == Some(143), "our server ended with {code:?} instead of 143");
    Ok(())
}

/// A client that connects to our server's URL, and a check of its requests.
fn http(
    scratch: &Scratch<'_>,
    client: Client,
    [program, mode]: &[&str; 2],
    expected: fn(&Proxy) -> Result<()>,
) -> Result<()> {
    let (server, url) = serve(scratch, "--http")?;
    let proxy = Proxy::new(&url)?;
    scratch.run(&client(scratch.peers(), program, &[mode, proxy.url()]))?.expect_code(0)?;
    expected(&proxy)?;
    stop(server)
}

/// The same with connections that are cut in the middle of a call. For PyPI's clients they are cut once: after a second cut
/// they resume from the first one, and receive events twice from any server.
fn cut(scratch: &Scratch<'_>, client: Client, program: &str, cuts: &'static [usize]) -> Result<()> {
    let (server, url) = serve(scratch, "--http")?;
    let proxy = Proxy::cutting(&url, cuts)?;
    scratch.run(&client(scratch.peers(), program, &["resume", proxy.url()]))?.expect_code(0)?;
    wire::resumed(&proxy)?;
    stop(server)
}

/// The transport of 2024-11-05.
fn sse(scratch: &Scratch<'_>, client: Client, program: &str) -> Result<()> {
    let (server, url) = serve(scratch, "--sse")?;
    let proxy = Proxy::new(&url)?;
    scratch.run(&client(scratch.peers(), program, &["sse", proxy.url()]))?.expect_code(0)?;
    wire::sse(&proxy)?;
    stop(server)
}

/// Checks a server with the inspector's command line.
fn inspect(scratch: &Scratch<'_>, target: &[&str]) -> Result<()> {
    let ask = |words: &[&str]| {
        let outcome = scratch.run(&scratch.peers().inspector(&[target, words].concat()))?;
        outcome.expect_code(0)?;
        anyhow::Ok(outcome.json()?.pop().unwrap_or_default())
    };
    let tools = ask(&["--method", "tools/list", "--strict"])?;
    ensure!(holds(&tools, "cancelled-count"), "the tools are {tools}");
    let call = ["--method", "tools/call", "--tool-name"];
    let sum = ask(&[&call[..], &["add", "--tool-args-json", r#"{"a":2,"b":40}"#]].concat())?;
    ensure!(sum["result"]["structuredContent"]["sum"] == 42, "the sum is {sum}");
    let slow = ask(&[&call[..], &["slow", "--tool-args-json", r#"{"seconds":0.4,"steps":4}"#]].concat())?;
    ensure!(holds(&slow, "took 0.4 s"), "the slow call ended with {slow}");
    let prompt = ask(&["--method", "prompts/get", "--prompt-name", "greet", "--prompt-args", "name=Ada"])?;
    ensure!(holds(&prompt, "Ada"), "the prompt is {prompt}");
    Ok(())
}

fn inspector_stdio(scratch: &Scratch<'_>) -> Result<()> {
    let server = scratch.peers().agentwire(&["server"]);
    inspect(scratch, &server.iter().map(String::as_str).collect::<Vec<_>>())
}

fn inspector_http(scratch: &Scratch<'_>, era: &str) -> Result<()> {
    let (server, url) = serve(scratch, "--http")?;
    let proxy = Proxy::new(&url)?;
    inspect(scratch, &["--server-url", proxy.url(), "--transport", "http", "--protocol-era", era])?;
    let modern = proxy.requests().iter().all(|request| request.method() != "initialize");
    ensure!(modern == (era == "modern"), "not the requested era");
    stop(server)
}

fn inspector_sse(scratch: &Scratch<'_>) -> Result<()> {
    let (server, url) = serve(scratch, "--sse")?;
    let proxy = Proxy::new(&url)?;
    inspect(scratch, &["--server-url", proxy.url(), "--transport", "sse"])?;
    wire::sse(&proxy)?;
    stop(server)
}
