//! Checks of agents: lines on standard input and output.

use std::time::Duration;

use serde_json::{Value, json};

use super::Agent;
use crate::check::{Check, STDIO, audit, check};
use crate::faults;
use crate::subject::CommandLine;
use crate::trace::{Part, Sender, Trace, TraceEvent};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    audit!("TR-01", lines_are_utf8, STDIO, [
        "writes Latin-1" => faults::each_line(|line| if let Some(at) = line.iter().position(|byte| *byte == b'"') { line.insert(at + 1, 0xe9) }),
    ]),
    audit!("TR-02", a_line_is_one_message, STDIO, [
        "prints JSON over several lines" => faults::each_line(|line| line.truncate(line.len() / 2)),
        "ends lines with a carriage return inside of the message" => faults::each_line(|line| line.extend(b"\r\n{}")),
    ]),
    audit!("TR-03", stdout_carries_messages_only, STDIO, [
        "prints its log to standard output" => logs(),
        "prints JSON that is no message" => faults::each_message(|m| *m = json!({"level": "info", "event": m})),
    ]),
    check!("TR-05", works_without_stderr, STDIO, [
        "ends where nobody reads its log" => faults::loses_response_to("initialize"),
    ]),
    check!("TR-06", an_array_is_refused_once, STDIO, [
        "answers each member" => faults::each_message(|m| if m["error"]["code"] == -32600 && m["id"].is_null() { *m = json!([m, m]) }),
        "answers with an id" => faults::each_message(|m| if m["error"]["code"] == -32600 && m["id"].is_null() { m["id"] = json!(1) }),
    ]),
    check!("TR-07", speaks_on_stdio, STDIO, ["is silent" => faults::each_line(Vec::clear)]),
    check!("TR-10", exits_when_stdin_closes, STDIO, ["goes on" => faults::never_closes()]),
];

fn logs() -> Box<dyn crate::fault::Fault> {
    faults::each_line(|line| *line = [b"INFO ", line.as_slice()].concat())
}

fn lines(trace: &Trace) -> Outcome<Vec<TraceEvent>> {
    let events = trace.events().into_iter();
    let lines: Vec<_> =
        events.filter(|event| event.from == Sender::Subject && event.what == Part::Line).collect();
    if lines.is_empty() { Err(Stop::inconclusive("the agent wrote nothing")) } else { Ok(lines) }
}

fn lines_are_utf8(_: &Agent, trace: &Trace) -> Outcome {
    for line in lines(trace)? {
        let text = String::from_utf8_lossy(&line.bytes);
        ensure!(std::str::from_utf8(&line.bytes).is_ok(), "lines of valid UTF-8", "`{text}`");
    }
    Ok(())
}

fn a_line_is_one_message(_: &Agent, trace: &Trace) -> Outcome {
    for line in lines(trace)? {
        let text = String::from_utf8_lossy(&line.bytes);
        // Other text is the concern of TR-03.
        let is_json = text.trim_start().starts_with(['{', '[', '}', ']', '"']);
        let is_whole = serde_json::from_slice::<Value>(&line.bytes).is_ok() && !line.bytes.contains(&b'\n');
        ensure!(!is_json || is_whole, "one message on each line", "`{}`", text.escape_debug());
    }
    Ok(())
}

fn stdout_carries_messages_only(_: &Agent, trace: &Trace) -> Outcome {
    for line in lines(trace)? {
        let text = String::from_utf8_lossy(&line.bytes);
        let message: Value = serde_json::from_slice(&line.bytes).unwrap_or_default();
        let messages = message.as_array().map_or(std::slice::from_ref(&message), Vec::as_slice);
        let are_messages = messages.iter().all(|message| message["jsonrpc"] == "2.0");
        ensure!(are_messages, "nothing but JSON-RPC messages on standard output", "`{text}`");
    }
    Ok(())
}

/// Nothing reads the log. A program that cannot write it goes on.
async fn works_without_stderr(agent: Agent) -> Outcome {
    let silent = agent.start_as(|command| {
        if !cfg!(unix) {
            return command;
        }
        let words = std::iter::once(&command.program).chain(&command.arguments).cloned();
        let shell = ["sh", "-c", "exec \"$@\" 2>/dev/null", "sh"].map(str::to_owned);
        let wrapped = CommandLine::new(shell.into_iter().chain(words));
        CommandLine { env: command.env.clone(), folder: command.folder.clone(), ..wrapped.unwrap_or(command) }
    });
    let mut conversation = silent.await?;
    let capabilities = super::capabilities(agent.revision());
    let response = conversation.request("initialize", agent.initialize(capabilities)).await?;
    ensure!(response.get("result").is_some(), "a result of initialize", "`{response}`");
    Ok(())
}

async fn an_array_is_refused_once(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "_conformance/unknown", "params": {}});
    let second = json!({"jsonrpc": "2.0", "id": 2, "method": "_conformance/unknown", "params": {}});
    conversation.send(&json!([request, second])).await?;
    let response = conversation.wanted("a response to an array of requests", |m| m.get("method").is_none());
    let response = response.await?;
    let is_refused = response["id"].is_null() && response["error"]["code"] == -32600;
    ensure!(is_refused, "an error with the code -32600 and the id null for an array", "`{response}`");
    let only = "one response to an array of requests";
    conversation.silence(Duration::from_millis(300), only, |m| m.get("method").is_some()).await
}

async fn speaks_on_stdio(agent: Agent) -> Outcome {
    let mut conversation = agent.start().await?;
    let capabilities = super::capabilities(agent.revision());
    conversation.request("initialize", agent.initialize(capabilities)).await?;
    Ok(())
}

async fn exits_when_stdin_closes(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    conversation.close();
    let within = conversation.wait();
    conversation.end(within).await?;
    let exit = conversation.link.wait(within).await;
    ensure!(exit.is_some(), "the agent exits after its standard input was closed", "it runs");
    Ok(())
}
