//! Our client, our agent, and the MCP servers of other projects behind it.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::mcp_client::{everything, files};
use crate::interop::chat::{Chat, turn};
use crate::interop::pair::{Pair, pair};
use crate::interop::scratch::Scratch;
use crate::interop::service::Service;

pub(super) fn pairs() -> Vec<Pair> {
    vec![
        pair("our client, our agent, both npm servers: list", 60, list),
        pair("our client, our agent, both npm servers: call", 90, call),
        pair("our client, our agent, both npm servers: failed call", 60, failed_call),
        pair("our client, our agent, PyPI server", 60, pypi),
        pair("our client, our agent, npm servers over HTTP and SSE", 60, http),
    ]
}

/// A turn of our agent with both npm servers.
fn chain(scratch: &Scratch<'_>, prompt: &str) -> Result<Chat> {
    let everything = format!("everything={}", everything(scratch));
    let files = format!("files={}", files(scratch));
    turn(scratch, &[], &["--yes", "--mcp", &everything, "--mcp", &files], prompt)
}

/// The name under which our agent offers a tool, which may begin with the name of its server.
fn offered(chat: &Chat, tool: &str) -> Result<String> {
    let shown = chat.updates.iter().map(Value::to_string).collect::<String>() + &chat.text();
    let mut words = shown.split(|c: char| !(c.is_alphanumeric() || "_-./:".contains(c)));
    let name = words.find(|word| word.ends_with(tool));
    Ok(name.with_context(|| format!("{tool} is not offered, but {}", chat.text()))?.to_owned())
}

fn list(scratch: &Scratch<'_>) -> Result<()> {
    let chat = chain(scratch, "/tools")?;
    for tool in ["echo", "get-sum", "read_text_file", "list_directory"] {
        offered(&chat, tool)?;
    }
    Ok(())
}

fn call(scratch: &Scratch<'_>) -> Result<()> {
    let tools = chain(scratch, "/tools")?;
    let arguments = json!({ "message": "through three programs" });
    let chat = chain(scratch, &format!("/call {} {arguments}", offered(&tools, "echo")?))?;
    chat.expect("Echo: through three programs")?;
    chat.expect_tool_call("completed")?;
    fs::write(scratch.file("note.txt"), "a note for the chain")?;
    let arguments = json!({ "path": scratch.file("note.txt") });
    let chat = chain(scratch, &format!("/call {} {arguments}", offered(&tools, "read_text_file")?))?;
    chat.expect("a note for the chain")
}

fn failed_call(scratch: &Scratch<'_>) -> Result<()> {
    let tools = chain(scratch, "/tools")?;
    let arguments = json!({ "path": scratch.file("../no-such-file") });
    let chat = chain(scratch, &format!("/call {} {arguments}", offered(&tools, "read_text_file")?))?;
    chat.expect_tool_call("failed")
}

fn pypi(scratch: &Scratch<'_>) -> Result<()> {
    let server = format!("pypi={}", crate::interop::peers::line(&scratch.peers().pypi("mcp_server.py", &[])));
    let chat = turn(scratch, &[], &["--yes", "--mcp", &server], r#"/call add {"a": 2, "b": 40}"#)?;
    ensure!(chat.expect("42").is_ok(), "the sum is {:?}", chat.text());
    Ok(())
}

fn http(scratch: &Scratch<'_>) -> Result<()> {
    let start =
        |program: &str, transport: &str| Service::start(scratch, scratch.peers().npm(program, &[transport]));
    let servers = [
        start("mcp_server.mjs", "http")?,
        start("mcp_server_1.mjs", "http")?,
        start("mcp_server_1.mjs", "sse")?,
    ];
    let mut options = vec!["--yes".to_owned()];
    for (name, (server, path)) in
        ["new", "old", "older"].iter().zip(servers.iter().zip(["/mcp", "/mcp", "/sse"]))
    {
        options.extend(["--mcp".to_owned(), format!("{name}={}", server.url(path)?)]);
    }
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let chat = turn(scratch, &[], &options, "/tools")?;
    for server in ["new", "old", "older"] {
        let tool = format!("{server}__add");
        let arguments = json!({ "a": 2, "b": 40 });
        let chat = turn(scratch, &[], &options, &format!("/call {} {arguments}", offered(&chat, &tool)?))?;
        chat.expect("42")?;
        chat.expect_tool_call("completed")?;
    }
    Ok(())
}
