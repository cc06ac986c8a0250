//! Whether a program that was built does what it is for, whoever made it.

use std::io::Write;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::http::form::{Client, Form};
use super::super::http::response::Connection;
use super::super::http::{end, start};
use super::super::mcp::greet;
use super::super::process::Process;
use super::super::subject::Launch;
use super::super::wire::{call, request};
use super::stand_in;

/// A server that adds: it lists one tool with a schema, and that gives 42.
pub(super) fn as_server_over_stdio(launch: &Launch) -> Result<()> {
    let mut server = greet(launch)?;
    let behaves = behaves(|request| Ok(json!({ "result": call(&mut server, request, drop)? })));
    end(server, behaves)
}

/// The same in a session over HTTP.
pub(super) fn as_server_over_http(launch: &Launch) -> Result<()> {
    let (server, address) = start(launch, Form::SessionEvents, None)?;
    let behaves = (|| {
        let mut connection = Connection::open(address)?;
        let mut client = Client::new(address, Form::SessionEvents);
        client.greet(&mut connection)?;
        behaves(|request| {
            let response = connection.exchange(&client.message(request))?;
            client.messages(response)?.pop().context("no answer")
        })
    })();
    end(server, behaves)
}

fn behaves(mut ask: impl FnMut(&Value) -> Result<Value>) -> Result<()> {
    let answer = ask(&request(2, "tools/list", json!({})))?;
    ensure!(is_list(&answer["result"]), "tools/list was answered by {answer}");
    let arguments = json!({ "name": "add", "arguments": { "a": 40, "b": 2 } });
    let answer = ask(&request(3, "tools/call", arguments))?;
    ensure!(is_sum(&answer["result"]), "tools/call was answered by {answer}");
    Ok(())
}

/// One tool, `add`, of two integers that must be there.
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

/// A client that says what 40 and 2 are by the tool of a server, and that speaks TLS to an `https` URL.
pub(super) fn as_client_over_http(launch: &Launch) -> Result<()> {
    let server = stand_in::Server::start()?;
    let mut client = Process::start(launch, &[server.url()])?;
    let said = client.lines.next().map(<[u8]>::to_vec);
    let behaves = said.map_err(Into::into).and_then(|said| {
        ensure!(said == b"42", "the client said {:?}", String::from_utf8_lossy(&said));
        Ok(())
    });
    end(client, behaves)?;
    ensure!(server.calls() == 1, "the client called the tool {} times", server.calls());
    let listener = stand_in::TlsListener::start()?;
    let mut client = Process::start(launch, &[listener.url()])?;
    // It goes in vain, and the client says so by its exit.
    let _ = client.input.flush();
    let greeted = listener.begins_tls();
    drop(client);
    ensure!(greeted?, "the client does not begin with TLS where the URL is https");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tool_that_adds_two_integers_will_do() {
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
    fn only_42_will_do() {
        let result = |text: &str, fails: bool| json!({ "content": [{ "type": "text", "text": text }], "isError": fails });
        assert!(is_sum(&result("42", false)));
        assert!(!is_sum(&result("42", true)) && !is_sum(&result("41", false)));
    }
}
