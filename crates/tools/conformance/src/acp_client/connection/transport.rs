//! The bytes that clients write, over stdio.

use serde_json::json;

use crate::acp_client::AcpClient;
use crate::acp_client::run::{audited, speaks};
use crate::acp_messages::{self, Line};
use crate::check::{Check, STDIO, audit, check};
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    audit!(lines_are_utf8, STDIO),
    check!(one_message_is_one_line, STDIO),
    audit!(only_messages_on_stdin, STDIO),
    check!(bears_a_loud_agent, STDIO),
    audit!(a_line_is_no_array, STDIO),
    check!(can_be_reached_over_stdio, STDIO),
];

fn lines_are_utf8(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for (line, text) in acp_messages::lines(trace) {
        ensure!(line != Line::Garbled, "every message is valid UTF-8", "`{text}`");
    }
    Ok(())
}

async fn one_message_is_one_line(client: AcpClient) -> Outcome {
    let text = "one\ntwo \u{2028} three";
    let script = client.script().leaves("session/prompt");
    let prompted = async {
        let (mut run, _) = client.begin("prompt", json!({"text": text}), script).await?;
        run.first("session/prompt").await.map_err(Stop::while_preparing)
    };
    let prompted = prompted.await;
    for (line, text) in acp_messages::lines(&client.setting.trace) {
        let what = "a message on one line, with the line ends of its strings escaped";
        ensure!(line != Line::Fragment, what, "the line `{text}`");
    }
    let sent = prompted?["params"]["prompt"].to_string();
    if sent.contains("one") && sent.contains("three") {
        return Ok(());
    }
    Err(Stop::inconclusive(format!("the client's prompt is not the whole text: `{sent}`")))
}

fn only_messages_on_stdin(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for (line, text) in acp_messages::lines(trace) {
        ensure!(line != Line::Other, "only protocol messages on the agent's stdin", "`{text}`");
    }
    Ok(())
}

fn a_line_is_no_array(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for (line, text) in acp_messages::lines(trace) {
        let is_array = line == Line::Message && text.trim_start().starts_with('[');
        ensure!(!is_array, "one request, notification or response on each line", "`{text}`");
    }
    Ok(())
}

/// The stand-in has written 1 MiB to its standard error when the conversation begins.
async fn bears_a_loud_agent(client: AcpClient) -> Outcome {
    // The same with a quiet agent.
    client.prompted(client.script()).await?;
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

async fn can_be_reached_over_stdio(client: AcpClient) -> Outcome {
    client.begin_silently("prompt", json!({"text": "hello"})).await.map(drop)
}
