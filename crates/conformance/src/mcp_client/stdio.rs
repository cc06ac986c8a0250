//! Checks of clients: stdio.

use std::time::Duration;

use serde_json::{Value, json};

use super::McpClient;
use super::opened::Opened;
use crate::check::{ANY, Check, STDIO, audit, check};
use crate::fault::Incoming;
use crate::faults;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    audit!("STD-01", each_message_is_one_line, STDIO, [
        "breaks a message into two lines" => faults::incoming(|incoming| match incoming {
            Incoming::Line(line) => {
                let (start, end) = line.split_at(line.len() / 2);
                vec![Incoming::Line(start.to_vec()), Incoming::Line(end.to_vec())]
            }
            other => vec![other],
        }),
    ]),
    audit!("STD-03", only_messages_are_written, STDIO, [
        "writes a log to the server" => faults::incoming(|incoming| match incoming {
            Incoming::Line(line) => vec![Incoming::Line(b"starting".to_vec()), Incoming::Line(line)],
            other => vec![other],
        }),
        "writes other JSON to the server" => faults::incoming(|incoming| match incoming {
            Incoming::Line(line) => vec![Incoming::Line(b"{\"level\":\"info\"}".to_vec()), Incoming::Line(line)],
            other => vec![other],
        }),
    ]),
    check!("STD-04", ends_of_lines_do_not_matter, STDIO, [
        "fails at a byte order mark" => faults::steps_fail(),
        "hangs at a blank line" => faults::steps_hang(),
    ]),
    check!("STD-05", sizes_do_not_matter, STDIO, [
        "fails at a long message" => faults::steps_fail(),
        "loses what comes in one piece" => faults::later_steps_hang(),
    ]),
    check!("STD-07", text_on_standard_error_is_no_error, STDIO, [
        "takes standard error for a failure" => faults::steps_fail(),
    ]),
    check!("STD-07b", much_text_on_standard_error_blocks_nothing, STDIO, [
        "does not read standard error" => faults::steps_hang(),
    ]),
    audit!("STD-08", no_responses_are_written, STDIO, [
        "answers a notification" => faults::says_at("notifications/message", |_| vec![
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}}),
        ]),
    ]),
    check!("STD-13", discovery_comes_first, STDIO, [
        "begins with initialize" => faults::says_before_call("server/discover", |_| vec![initialize()]),
    ]),
    check!("STD-14", a_discovered_server_needs_no_session, STDIO, [
        "begins a session anyway" => faults::says_before_call("tools/list", |_| vec![initialize()]),
        "goes on in another version" => faults::each_call("tools/list", |m| {
            m["params"]["_meta"][VERSION] = json!("2025-11-25");
        }),
    ]),
    check!("STD-15", a_refused_version_is_replaced, STDIO, [
        "begins a session instead" => {
            let mut asked = 0;
            faults::each_message(move |m| {
                asked += usize::from(m.get("id").is_some());
                if asked == 2 { *m = initialize() }
            })
        },
        "gives up" => {
            let mut asked = 0;
            faults::each_message(move |m| { asked += 1; if asked > 1 { *m = Value::Null } })
        },
    ]),
    check!("STD-16", any_other_answer_begins_a_session, STDIO, [
        "gives up" => faults::loses_call("initialize"),
        "begins a session after one code only" => {
            let mut sessions = 0;
            faults::each_call("initialize", move |m| { sessions += 1; if sessions > 1 { *m = Value::Null } })
        },
    ]),
    check!("STD-18", responses_find_their_requests, ANY, [
        "takes responses in the order of requests" => mixes_up(),
    ]),
    check!("STD-20", responses_find_their_requests, ANY, [
        "takes responses in the order of requests" => mixes_up(),
    ]),
];

/// How long a client may wait in vain for the answer to `server/discover`.
const UNANSWERED: Duration = Duration::from_secs(60);
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "client", "version": "1.0.0"},
    }})
}

fn mixes_up() -> Box<dyn crate::fault::Fault> {
    faults::each_outcome(|outcome| {
        if outcome.pointer("/result/content/0/text").is_some() {
            outcome["result"]["content"][0]["text"] = json!("0");
        }
    })
}

/// The lines that the client wrote.
fn lines(trace: &Trace) -> Vec<Vec<u8>> {
    let events = trace.events().into_iter();
    let lines = events.filter(|event| event.from == Sender::Subject && event.what == Part::Line);
    lines.map(|event| event.bytes).collect()
}

fn each_message_is_one_line(_: &McpClient, trace: &Trace) -> Outcome {
    for line in lines(trace) {
        let is_json = serde_json::from_slice::<Value>(&line).is_ok();
        ensure!(is_json, "a whole message on each line", "`{}`", String::from_utf8_lossy(&line));
    }
    Ok(())
}

fn only_messages_are_written(_: &McpClient, trace: &Trace) -> Outcome {
    for line in lines(trace) {
        let value: Value = serde_json::from_slice(&line).unwrap_or_default();
        let messages = value.as_array().cloned().unwrap_or_else(|| vec![value]);
        let are_messages = messages.iter().all(|message| message["jsonrpc"] == "2.0");
        ensure!(are_messages, "nothing but messages of MCP", "`{}`", String::from_utf8_lossy(&line));
    }
    Ok(())
}

fn no_responses_are_written(_: &McpClient, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        ensure!(message.get("method").is_some(), "requests and notifications only", "`{message}`");
    }
    Ok(())
}

fn response(request: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()
}

/// The byte order mark is at the start of all that the server writes.
async fn ends_of_lines_do_not_matter(client: McpClient) -> Outcome {
    let script = client.script();
    let left = client.script().leaves("server/discover").leaves("initialize").leaves("tools/list");
    let mut opened = client.open("list_tools", json!({}), left).await?;
    let mut start = "\u{feff}";
    loop {
        let request = next_request(&mut opened).await?;
        let method = request["method"].as_str().unwrap_or_default();
        let answer = match script.result(method) {
            Value::Null => {
                let error = json!({"code": -32601, "message": "no such method"});
                json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string()
            }
            result => response(&request, &result),
        };
        opened.server.send_bytes(format!("{start}{answer}\r\n\r\n\n").as_bytes()).await?;
        start = "\r\n\n";
        if method == "tools/list" {
            return opened.ok().await.map(drop);
        }
    }
}

async fn sizes_do_not_matter(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let mut result = client.script().result("tools/list");
    // The client's outcome is not to be as long.
    result["_meta"]["example.com/text"] = json!("x".repeat(3 << 20));
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
async fn several(opened: &mut Opened) -> Outcome<(Vec<crate::driver::StepId>, Vec<Value>)> {
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

/// Lists tools from a server that writes text on its standard error first.
async fn with_text(client: &McpClient, bytes: usize) -> Outcome {
    let mut played = client.play().await?;
    played.write_on_stderr(bytes)?;
    let mut opened = client.open_played(played, "list_tools", json!({}), client.script().answers()).await?;
    opened.ok().await.map(drop)
}

async fn text_on_standard_error_is_no_error(client: McpClient) -> Outcome {
    with_text(&client, 100).await
}

async fn much_text_on_standard_error_blocks_nothing(client: McpClient) -> Outcome {
    with_text(&client, 3 << 20).await
}

/// A client that knows no sessions need not ask at all.
async fn discovery_comes_first(client: McpClient) -> Outcome {
    let mut opened = client
        .open("list_tools", json!({}), client.script().leaves("tools/list").leaves("server/discover"))
        .await?;
    opened.server.wanted("a request", |message| message.get("id").is_some()).await?;
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

async fn a_refused_version_is_replaced(client: McpClient) -> Outcome {
    let (mut opened, request) = asking(&client).await?;
    let revision = client.revision().as_str();
    let data = json!({"supported": [revision], "requested": request["params"]["_meta"][VERSION]});
    let error = json!({"code": -32022, "message": "Unsupported protocol version", "data": data});
    opened.server.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await?;
    let next = next_request(&mut opened).await?;
    ensure!(next["method"] != "initialize", "a request without a session", "`{next}`");
    let version = &next["params"]["_meta"][VERSION];
    ensure!(*version == revision, format!("a request in {revision}, which the server supports"), "`{next}`");
    Ok(())
}

/// What a server of an older revision may answer to a method that it does not know.
async fn any_other_answer_begins_a_session(client: McpClient) -> Outcome {
    let error = |code: i64| json!({"error": {"code": code, "message": "refused"}});
    let mut answers: Vec<Value> = [-32601, -32602, -32600, -32000, 1].into_iter().map(error).collect();
    answers.push(json!({"result": {"unexpected": true}}));
    answers.push(Value::Null);
    for answer in answers {
        let (mut opened, request) = asking(&client).await?;
        if let Some(members) = answer.as_object() {
            let mut response = json!({"jsonrpc": "2.0", "id": request["id"]});
            for (name, value) in members {
                response[name] = value.clone();
            }
            opened.server.send(&response).await?;
        } else if client.setting.faults.is_none() {
            // The client chooses how long it waits.
            opened.server.allow_start(UNANSWERED);
        }
        let what = match &answer {
            Value::Null => "initialize when server/discover has no answer".to_owned(),
            answer => format!("initialize after the answer `{answer}` to server/discover"),
        };
        let next = opened
            .server
            .wanted(&what, |message| message.get("id").is_some() && message["method"] != "server/discover");
        let next = next.await?;
        ensure!(next["method"] == "initialize", what, "`{next}`");
    }
    Ok(())
}
