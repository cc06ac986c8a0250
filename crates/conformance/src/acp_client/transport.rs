//! The bytes that clients write, over stdio.

use serde_json::{Value, json};

use super::AcpClient;
use super::mutants;
use super::run::{QUIET, audited, speaks};
use crate::check::{Check, STDIO, audit, check};
use crate::faults;
use crate::trace::{Part, Sender, Trace, message_of};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<AcpClient>] = &[
    audit!("TR-01", lines_are_utf8, STDIO, [
        "writes Latin-1" => faults::each_line(|line| line.push(0xe9)),
    ]),
    check!("TR-02", one_message_is_one_line, STDIO, [
        "writes a line end inside a string" => faults::each_line(|line| {
            let text = String::from_utf8_lossy(line).replace("\\n", "\n");
            *line = text.into_bytes();
        }),
    ]),
    audit!("TR-04", only_messages_on_stdin, STDIO, [
        "writes a greeting" => faults::each_line(|line| if line.starts_with(b"{") { line.insert(0, b'x') }),
        "writes JSON that is no message" => faults::each_message(|message| *message = json!("ready")),
    ]),
    check!("TR-05", bears_a_loud_agent, STDIO, [
        "stops when its agent has written much to standard error" => mutants::dies_at(|_| true),
    ]),
    check!("TR-06", refuses_an_array, STDIO, [
        "says nothing" => faults::each_response(|response| if response["id"].is_null() { *response = Value::Null }),
        "answers with another code" => faults::each_response(|response| {
            if response["id"].is_null() {
                response["error"]["code"] = json!(-32700);
            }
        }),
    ]),
    check!("TR-07", can_be_reached_over_stdio, STDIO, [
        "writes nothing" => faults::each_line(Vec::clear),
    ]),
];

fn lines_are_utf8(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for event in trace.events() {
        if event.from == Sender::Subject && event.what == Part::Line {
            let text = String::from_utf8_lossy(&event.bytes);
            ensure!(std::str::from_utf8(&event.bytes).is_ok(), "every message is valid UTF-8", "`{text}`");
        }
    }
    Ok(())
}

async fn one_message_is_one_line(client: AcpClient) -> Outcome {
    let text = "one\ntwo \u{2028} three";
    let script = client.script().leaves("session/prompt");
    let (mut run, _) = client.begin("prompt", json!({"text": text}), script).await?;
    let prompt = run.first("session/prompt").await.map_err(|stop| match run.agent.texts.first() {
        Some(line) => Stop::failed(
            "a message on one line, with the line ends of its strings escaped",
            format!("the line `{}`", String::from_utf8_lossy(line)),
        ),
        None => stop.while_preparing(),
    })?;
    let sent = prompt["params"]["prompt"].to_string();
    ensure!(sent.contains("one") && sent.contains("three"), "the whole prompt in one message", "`{prompt}`");
    Ok(())
}

fn only_messages_on_stdin(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for event in trace.events() {
        if event.from == Sender::Subject && event.what == Part::Line {
            let text = String::from_utf8_lossy(&event.bytes);
            let message = message_of(&event).unwrap_or_default();
            let is_message = message["jsonrpc"] == "2.0"
                && (message["method"].is_string()
                    || message.get("result").is_some()
                    || message["error"].is_object());
            ensure!(is_message, "JSON-RPC messages alone on the agent's standard input", "`{text}`");
        }
    }
    Ok(())
}

/// The stand-in has written 1 MiB to its standard error when the conversation begins.
async fn bears_a_loud_agent(client: AcpClient) -> Outcome {
    let mut played = client.play_loudly().await?;
    played.driver.start("prompt", json!({"text": "hello"})).await?;
    let mut agent = played.accept().await?;
    let initialize = agent.call("initialize").await?;
    speaks(client.revision(), &initialize)?;
    let mut answers = client.script().leaves("session/prompt").answers();
    if let Some(Ok(result)) = answers(&initialize) {
        agent.reply(&initialize, result).await?;
    }
    agent.answer_with(answers);
    agent.call("session/prompt").await.map(drop)
}

async fn refuses_an_array(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let batch = json!([
        {"jsonrpc": "2.0", "id": "first", "method": "_conformance/first"},
        {"jsonrpc": "2.0", "id": "second", "method": "_conformance/second"},
    ]);
    turn.run.agent.send_bytes(format!("{batch}\n").as_bytes()).await?;
    let response = turn
        .run
        .agent
        .wanted("a response to an array of requests", |message| message.get("method").is_none())
        .await?;
    let code = &response["error"]["code"];
    ensure!(
        response["id"].is_null() && *code == -32600,
        "one error with the code -32600 and the id null as the response to an array",
        "`{response}`"
    );
    turn.run
        .agent
        .silence(QUIET, "one response to an array", |message| message.get("method").is_some())
        .await?;
    turn.run.is_alive().await
}

async fn can_be_reached_over_stdio(client: AcpClient) -> Outcome {
    client.begin_silently("prompt", json!({"text": "hello"})).await.map(drop)
}
