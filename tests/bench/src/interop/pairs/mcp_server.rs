//! Our MCP server with the clients of other projects, which do the checking.

use anyhow::{Result, ensure};

use crate::interop::chat::holds;
use crate::interop::pair::{Pair, pair};
use crate::interop::peers::{OnSdk, Peers};
use crate::interop::proxy::Proxy;
use crate::interop::scratch::Scratch;
use crate::interop::service::Service;
use crate::interop::wire;

/// Checks the requests of a client.
type Expected = fn(&Proxy) -> Result<()>;

const HTTP: &str = "--http";
const SSE: &str = "--sse";

/// Clients of the newest SDKs and of those before, which start our server.
const OVER_STDIO: [(&str, OnSdk, &str, &str); 5] = [
    ("PyPI client: newest revision", Peers::pypi, "mcp_client.py", "auto"),
    ("PyPI client: handshake", Peers::pypi, "mcp_client.py", "legacy"),
    ("PyPI client 1", Peers::pypi_1, "mcp_client_1.py", "stdio"),
    ("npm client: newest revision", Peers::npm, "mcp_client.mjs", "auto"),
    ("npm client: handshake", Peers::npm, "mcp_client.mjs", "legacy"),
];

/// A client that connects to our server: its name, our option, the program, its mode, the cuts, and the check of its requests.
type Row = (&'static str, &'static str, OnSdk, &'static str, &'static str, &'static [usize], Expected);

/// Clients that connect to its URL. The connections of those with numbers are cut in the middle of a call. For PyPI's clients they
/// are cut once: after a second cut they resume from the first one, and receive events twice from any server.
const BY_URL: [Row; 13] = [
    ("npm client: newest revision", HTTP, Peers::npm, "mcp_client.mjs", "auto", &[], wire::modern),
    ("npm client: handshake", HTTP, Peers::npm, "mcp_client.mjs", "legacy", &[], wire::sessions),
    ("npm client: cut and resumed", HTTP, Peers::npm, "mcp_client.mjs", "resume", &[3, 7], wire::resumed),
    ("npm client 1", HTTP, Peers::npm, "mcp_client_1.mjs", "http", &[], wire::sessions),
    ("npm client 1: cut and resumed", HTTP, Peers::npm, "mcp_client_1.mjs", "resume", &[3, 7], wire::resumed),
    ("npm client 1", SSE, Peers::npm, "mcp_client_1.mjs", "sse", &[], wire::sse),
    ("PyPI client: newest revision", HTTP, Peers::pypi, "mcp_client.py", "auto", &[], wire::modern),
    ("PyPI client: handshake", HTTP, Peers::pypi, "mcp_client.py", "legacy", &[], wire::sessions),
    ("PyPI client: cut and resumed", HTTP, Peers::pypi, "mcp_client.py", "resume", &[3], wire::resumed),
    ("PyPI client", SSE, Peers::pypi, "mcp_client.py", "sse", &[], wire::sse),
    ("PyPI client 1", HTTP, Peers::pypi_1, "mcp_client_1.py", "http", &[], wire::sessions),
    ("PyPI client 1: cut and resumed", HTTP, Peers::pypi_1, "mcp_client_1.py", "resume", &[3], wire::resumed),
    ("PyPI client 1", SSE, Peers::pypi_1, "mcp_client_1.py", "sse", &[], wire::sse),
];

pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (name, client, program, mode) in OVER_STDIO {
        let name = format!("our MCP server, {name}");
        pairs.push(pair(name, 60, move |scratch| stdio(scratch, client, program, mode)));
    }
    pairs.push(pair("our MCP server, npm inspector", 60, inspector_stdio));
    for (name, option, client, program, mode, cuts, expected) in BY_URL {
        let name = format!("our MCP server over {}, {name}", option.trim_start_matches('-').to_uppercase());
        let check = move |scratch: &Scratch<'_>| {
            let (server, url) = serve(scratch, option)?;
            let proxy = Proxy::cutting(&url, cuts)?;
            scratch.run(&client(scratch.peers(), program, &[mode, proxy.url()]))?.expect_code(0)?;
            expected(&proxy)?;
            stop(server)
        };
        pairs.push(pair(name, 60, check));
    }
    for (name, era) in [("newest revision", "modern"), ("handshake", "legacy")] {
        let name = format!("our MCP server over HTTP, npm inspector: {name}");
        pairs.push(pair(name, 60, move |scratch| inspector_http(scratch, era)));
    }
    pairs.push(pair("our MCP server over SSE, npm inspector", 60, inspector_sse));
    pairs
}

/// A client that starts our server. `mode` is the client's way to agree on a revision.
fn stdio(scratch: &Scratch<'_>, client: OnSdk, program: &str, mode: &str) -> Result<()> {
    let mut words = vec![mode.to_owned()];
    words.extend(scratch.peers().agentwire(&["server", "--stdio"]));
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    scratch.run(&client(scratch.peers(), program, &words))?.expect_code(0)
}

/// Serves at `--http` or `--sse`.
fn serve<'a>(scratch: &'a Scratch<'a>, option: &str) -> Result<(Service<'a>, String)> {
    let server = Service::start(scratch, scratch.peers().agentwire(&["server", option, "127.0.0.1:0"]))?;
    let url = server.url(if option == SSE { "/sse" } else { "/mcp" })?;
    Ok((server, url))
}

/// Stops our server by SIGTERM, which its exit code must say.
fn stop(server: Service<'_>) -> Result<()> {
    let code = server.stop()?;
    ensure!(code == Some(143), "our server ended with {code:?} instead of 143");
    Ok(())
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
    let (server, url) = serve(scratch, HTTP)?;
    let proxy = Proxy::new(&url)?;
    inspect(scratch, &["--server-url", proxy.url(), "--transport", "http", "--protocol-era", era])?;
    let modern = proxy.requests().iter().all(|request| request.method() != "initialize");
    ensure!(modern == (era == "modern"), "not the requested era");
    stop(server)
}

fn inspector_sse(scratch: &Scratch<'_>) -> Result<()> {
    let (server, url) = serve(scratch, SSE)?;
    let proxy = Proxy::new(&url)?;
    inspect(scratch, &["--server-url", proxy.url(), "--transport", "sse"])?;
    wire::sse(&proxy)?;
    stop(server)
}
