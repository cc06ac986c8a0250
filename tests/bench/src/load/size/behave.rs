//! Checks that a built program does what it is for.

use std::io::Write;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::stand_in;
use crate::load::http::form::{Client, Form};
use crate::load::http::response::Connection;
use crate::load::http::server::start;
use crate::load::process::Launch;
use crate::load::process::Process;
use crate::load::stdio::mcp::open_session;
use crate::load::stdio::wire::{call, request};

/// A server over stdio that lists one tool with a schema, whose result is 42.
pub(super) fn as_server_over_stdio(launch: &Launch) -> Result<()> {
    let mut server = open_session(launch)?;
    let checked = check(|request| Ok(json!({ "result": call(&mut server, request, drop)? })));
    server.finish(checked)
}

/// The same in a session over HTTP.
pub(super) fn as_server_over_http(launch: &Launch) -> Result<()> {
    let (server, address) = start(launch, Form::SessionEvents, None)?;
    let checked = (|| {
        let mut connection = Connection::open(address)?;
        let mut client = Client::new(address, Form::SessionEvents);
        client.open_session(&mut connection)?;
        check(|request| {
            let response = connection.exchange(&client.message(request))?;
            client.messages(response)?.pop().context("no answer")
        })
    })();
    server.finish(checked)
}

fn check(mut ask: impl FnMut(&Value) -> Result<Value>) -> Result<()> {
    let answer = ask(&request(2, "tools/list", json!({})))?;
    ensure!(is_list(&answer["result"]), "tools/list was answered by {answer}");
    let arguments = json!({ "name": "add", "arguments": { "a": 40, "b": 2 } });
    let answer = ask(&request(3, "tools/call", arguments))?;
    ensure!(is_sum(&answer["result"]), "tools/call was answered by {answer}");
    Ok(())
}

/// One tool, `add`, of two required integers.
fn is_list(result: &Value) -> bool {
    let [tool] = result["tools"].as_array().map(Vec::as_slice).unwrap_or_default() else { return false };
    let schema = &tool["inputSchema"];
    let has = |name: &str| {
        let required =
            schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
        required && schema["properties"][name]["type"] == "integer"
    };
    tool["name"] == "add" && tool["description"].is_string() && has("a") && has("b")
}

fn is_sum(result: &Value) -> bool {
    let [block] = result["content"].as_array().map(Vec::as_slice).unwrap_or_default() else { return false };
    block["type"] == "text" && block["text"] == "42" && result["isError"] != true
}

/// A client that prints the sum of 40 and 2 by the tool of a server, and that starts TLS for an `https` URL.
pub(super) fn as_client_over_http(launch: &Launch) -> Result<()> {
    let server = stand_in::Server::start()?;
    let mut client = Process::start(launch, &[server.url()])?;
    let line = client.lines.next().map(<[u8]>::to_vec);
    let checked = line.map_err(Into::into).and_then(|line| {
        ensure!(line == b"42", "the client printed {:?}", String::from_utf8_lossy(&line));
        Ok(())
    });
    client.finish(checked)?;
    ensure!(server.calls() == 1, "the client called the tool {} times", server.calls());
    let listener = stand_in::TlsListener::start()?;
    let mut client = Process::start(launch, &[listener.url()])?;
    // The client may have exited already.
    let _ = client.input.flush();
    let begins_tls = listener.begins_tls();
    drop(client);
    ensure!(begins_tls?, "the client does not begin with TLS where the URL is https");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_tool_of_two_integers_passes() {
        let tools = |required: Value, kind: &str| {
            let properties = json!({ "a": { "type": kind }, "b": { "type": "integer" } });
            let schema = json!({ "type": "object", "properties": properties, "required": required });
            json!({ "tools": [{ "name": "add", "description": "Adds", "inputSchema": schema }] })
        };
        assert!(is_list(&tools(json!(["a", "b"]), "integer")));
        assert!(!is_list(&tools(json!(["a"]), "integer")));
        assert!(!is_list(&tools(json!(["a", "b"]), "string")));
        assert!(!is_list(&json!({ "tools": [] })));
    }

    #[test]
    fn only_42_passes() {
        let result = |text: &str, fails: bool| json!({ "content": [{ "type": "text", "text": text }], "isError": fails });
        assert!(is_sum(&result("42", false)));
        assert!(!is_sum(&result("42", true)) && !is_sum(&result("41", false)));
    }
}
