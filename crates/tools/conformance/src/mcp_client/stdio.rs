//! Checks of clients: stdio.

use std::time::Duration;

use serde_json::{Value, json};

use super::McpClient;
use super::opened::{Opened, QUIET};
use crate::check::{ANY, Check, STDIO, audit, check};
use crate::link::lines::odd_lines;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    audit!(each_message_is_one_line, STDIO),
    audit!(only_messages_are_written, STDIO),
    check!(ends_of_lines_do_not_matter, STDIO),
    check!(sizes_do_not_matter, STDIO),
    check!(text_on_standard_error_is_no_error, STDIO),
    check!(much_text_on_standard_error_blocks_nothing, STDIO),
    audit!(no_responses_are_written, STDIO),
    check!(discovery_comes_first, STDIO),
    check!(a_discovered_server_needs_no_session, STDIO),
    check!(a_refused_version_begins_no_session, STDIO),
    check!(sessions_depend_on_no_single_code, STDIO),
    check!(any_other_answer_begins_a_session, STDIO),
    check!(responses_find_their_requests, ANY),
];

/// How long a client may wait in vain for the answer to `server/discover`.
const UNANSWERED: Duration = Duration::from_secs(60);
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn each_message_is_one_line(_: &McpClient, trace: &Trace) -> Outcome {
    let broken = odd_lines(trace).broken;
    let Some(line) = broken.first() else { return Ok(()) };
    Err(Stop::failed("one whole message on each line", format!("the line `{line}`")))
}

fn only_messages_are_written(_: &McpClient, trace: &Trace) -> Outcome {
    let other = odd_lines(trace).other;
    let Some(line) = other.first() else { return Ok(()) };
    Err(Stop::failed("only messages on the server's standard input", format!("the line `{line}`")))
}

fn no_responses_are_written(_: &McpClient, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let is_response = message.get("result").is_some() || message.get("error").is_some();
        ensure!(!is_response, "no response on the server's standard input", "`{message}`");
    }
    Ok(())
}

fn response(request: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()
}

async fn ends_of_lines_do_not_matter(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let line = response(&request, &client.script().result("tools/list"));
    opened.server.send_bytes(format!("{line}\r\n").as_bytes()).await?;
    opened.ok().await.map(drop)
}

async fn sizes_do_not_matter(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let mut result = client.script().result("tools/list");
    // More than a pipe holds, so that no read returns it whole. The client's outcome is not to be as long.
    result["_meta"]["example.com/text"] = json!("x".repeat(200_000));
    let line = response(&request, &result) + "\n";
    let (small, large) = line.as_bytes().split_at(2000);
    for piece in small.chunks(10).chain(large.chunks(16 << 10)) {
        opened.server.send_bytes(piece).await?;
    }
    opened.ok().await?;
    if opened.takes_steps().is_err() {
        return Ok(());
    }
    opened.server.answer_with(client.script().leaves("tools/call").answers());
    let (steps, requests) = several(&mut opened).await?;
    let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
    let answers = requests.iter().map(|request| response(request, &client.script().result("tools/call")));
    let lines: Vec<String> = answers.flat_map(|answer| [message.to_string(), answer]).collect();
    opened.server.send_bytes(format!("{}\n", lines.join("\n")).as_bytes()).await?;
    for step in steps {
        opened.ok_of(step).await?;
    }
    Ok(())
}

/// Calls of a tool that wait for their responses.
async fn several(opened: &mut Opened) -> Outcome<(Vec<crate::subject::driver::StepId>, Vec<Value>)> {
    let (mut steps, mut requests) = (Vec::new(), Vec::new());
    for number in 0..5 {
        let params = json!({"tool": "echo", "arguments": {"text": number.to_string()}});
        steps.push(opened.then("call_tool", params).await?);
        requests.push(opened.server.call("tools/call").await.map_err(Stop::while_preparing)?);
    }
    Ok((steps, requests))
}

async fn responses_find_their_requests(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script().leaves("tools/call")).await?;
    let (steps, requests) = several(&mut opened).await?;
    for request in requests.iter().rev() {
        let text = json!([{"type": "text", "text": request["params"]["arguments"]["text"]}]);
        let result = client.script().complete("tools/call", json!({"content": text}));
        opened.server.reply(request, result).await?;
    }
    for (number, step) in steps.into_iter().enumerate() {
        let called = opened.ok_of(step).await?;
        let text = &called["content"][0]["text"];
        ensure!(
            text.as_str() == Some(number.to_string().as_str()),
            format!("the result of call {number}"),
            "`{called}`"
        );
    }
    Ok(())
}

/// The outcome of a client whose server writes text on its standard error before it reads anything.
async fn with_text(client: &McpClient, bytes: usize) -> Outcome<Value> {
    let mut played = client.play().await?;
    played.write_on_stderr(bytes)?;
    let mut opened = client.open_played(played, "list_tools", json!({}), client.script().answers()).await?;
    opened.outcome(opened.step).await
}

async fn text_on_standard_error_is_no_error(client: McpClient) -> Outcome {
    let outcome = with_text(&client, 100).await.map_err(Stop::while_preparing)?;
    let what = "a client that goes on although the server writes text on its standard error";
    ensure!(outcome.get("error").is_none(), what, "`{outcome}`");
    Ok(())
}

/// A server that writes more than the pipe holds connects only once the client reads.
async fn much_text_on_standard_error_blocks_nothing(client: McpClient) -> Outcome {
    let what = "the end of the step of a client whose server writes 3 MiB on its standard error";
    let outcome = with_text(&client, 3 << 20).await.map_err(|stop| match stop {
        Stop::Failed(failure) => Stop::failed(what, failure.seen),
        Stop::Inconclusive(seen) => Stop::failed(what, seen),
        other => other,
    })?;
    match outcome.get("error") {
        None => Ok(()),
        Some(error) => Err(Stop::inconclusive(format!("the step failed: `{error}`"))),
    }
}

/// A client that knows no sessions need not ask at all.
async fn discovery_comes_first(client: McpClient) -> Outcome {
    let mut opened = client
        .open("list_tools", json!({}), client.script().leaves("tools/list").leaves("server/discover"))
        .await?;
    let request = opened.server.wanted("a request", |message| message.get("id").is_some()).await;
    request.map_err(Stop::while_preparing)?;
    let first = opened.server.asked.first().cloned().unwrap_or_default();
    match first["method"].as_str() {
        Some("server/discover") => Ok(()),
        Some("initialize") => Err(Stop::failed("server/discover as the first request", format!("`{first}`"))),
        _ => Err(Stop::not_applicable("the client does not ask what the server supports")),
    }
}

async fn a_discovered_server_needs_no_session(client: McpClient) -> Outcome {
    let (mut opened, request) = asking(&client).await?;
    opened.server.reply(&request, client.script().result("server/discover")).await?;
    let next = next_request(&mut opened).await?;
    let revision = client.revision();
    let version = &next["params"]["_meta"][VERSION];
    ensure!(
        *version == revision.as_str(),
        format!("a request in {revision}, which the server supports"),
        "`{next}`"
    );
    Ok(())
}

/// A client that asks what the server supports, and its request.
async fn asking(client: &McpClient) -> Outcome<(Opened, Value)> {
    let script = client.script().leaves("server/discover").leaves("initialize").leaves("tools/list");
    let mut opened = client.open("list_tools", json!({}), script).await?;
    let request = next_request(&mut opened).await.map_err(Stop::while_preparing)?;
    if request["method"] != "server/discover" {
        return Err(Stop::not_applicable("the client does not ask what the server supports"));
    }
    Ok((opened, request))
}

/// The next request of those that matter here.
async fn next_request(opened: &mut Opened) -> Outcome<Value> {
    let wanted = ["server/discover", "initialize", "tools/list"];
    let what = "another request";
    opened
        .server
        .wanted(what, |message| message["method"].as_str().is_some_and(|name| wanted.contains(&name)))
        .await
}

/// The suite knows one version without sessions, so the client has no other version to retry with.
async fn a_refused_version_begins_no_session(client: McpClient) -> Outcome {
    let (mut opened, request) = asking(&client).await?;
    let data = json!({"supported": ["2099-01-01"], "requested": request["params"]["_meta"][VERSION]});
    let error = json!({"code": -32022, "message": "Unsupported protocol version", "data": data});
    opened.server.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await?;
    opened.server.serve(QUIET * 3).await?;
    let session = opened.server.asked.iter().find(|request| request["method"] == "initialize");
    let Some(session) = session else { return Ok(()) };
    Err(Stop::failed("no initialize after error -32022", format!("`{session}`")))
}

/// Codes with which a server of an older revision may refuse a method that it does not know.
pub(crate) const CODES: &[i64] = &[-32601, -32602, -32600, -32000, 1];

/// Whether a client sends initialize after an error of server/discover with a code, or after none at all.
async fn begins_session(client: &McpClient, code: Option<i64>) -> Outcome<bool> {
    let (mut opened, request) = asking(client).await?;
    if let Some(code) = code {
        opened.server.refuse(&request, code, "refused").await?;
    } else if client.setting.faults.is_none() {
        // The client chooses how long it waits.
        opened.server.allow(UNANSWERED);
    }
    match opened.server.call("initialize").await {
        Ok(_) => Ok(true),
        Err(Stop::Failed(_)) => Ok(false),
        Err(other) => Err(other),
    }
}

/// The codes after which the client sends initialize.
async fn codes_of_sessions(client: &McpClient) -> Outcome<Vec<i64>> {
    let mut codes = Vec::new();
    for code in CODES {
        if begins_session(client, Some(*code)).await? {
            codes.push(*code);
        }
    }
    if codes.is_empty() {
        return Err(Stop::not_applicable("the client does not fall back to initialize"));
    }
    Ok(codes)
}

async fn sessions_depend_on_no_single_code(client: McpClient) -> Outcome {
    let codes = codes_of_sessions(&client).await?;
    let what = format!("initialize after more than one of the errors {CODES:?} of server/discover");
    ensure!(codes.len() > 1, what, "initialize after {codes:?} only");
    Ok(())
}

async fn any_other_answer_begins_a_session(client: McpClient) -> Outcome {
    let codes = codes_of_sessions(&client).await?;
    if codes.len() == 1 {
        return Err(Stop::inconclusive(format!("the client sends initialize after {codes:?} only")));
    }
    let what = format!("initialize after each of the errors {CODES:?} of server/discover");
    ensure!(codes == CODES, what, "initialize after {codes:?} only");
    let is_begun = begins_session(&client, None).await?;
    ensure!(is_begun, "initialize when server/discover has no answer", "the client is silent");
    Ok(())
}
