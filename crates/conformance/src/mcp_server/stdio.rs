//! Checks of servers: stdio.

use serde_json::{Value, json};

use super::Server;
use super::raw::{self, SILENCE, is_response, quick, still_works};
use crate::check::{Check, STDIO, audit, check};
use crate::conversation::Conversation;
use crate::fault::{Fault, Incoming};
use crate::faults;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    audit!("STD-01", one_message_a_line, STDIO, [
        "indents its messages" => indents(),
        "writes two messages on one line" => joins_lines(),
    ]),
    audit!("STD-02", only_messages, STDIO, [
        "logs to standard output" => logs("INFO listing tools"),
        "logs JSON to standard output" => logs("{\"level\":\"info\",\"text\":\"listing tools\"}"),
    ]),
    check!("STD-04", ends_of_lines, STDIO, [
        "takes a blank line for a broken message" => takes_blank_lines(),
        "does not read lines with a carriage return" => loses_response("carriage return"),
        "does not read a line with a byte order mark" => loses_response("byte order mark"),
    ]),
    check!("STD-05", large_and_many, STDIO, [
        "loses what is large" => loses_response("large"),
        "loses the last of many" => loses_response("many-99"),
    ]),
    check!("STD-06", lines_that_are_no_message, STDIO, [
        "calls it an invalid request" => faults::each_response(|m| if m["error"]["code"] == -32700 { m["error"]["code"] = json!(-32600); }),
        "says nothing" => faults::each_response(|m| if m["error"]["code"] == -32700 { *m = Value::Null; }),
    ]),
    audit!("STD-09", no_requests, STDIO, [
        "asks its client for folders" => faults::says_at("tools/list", |_| vec![json!({"jsonrpc": "2.0", "id": "a", "method": "roots/list"})]),
    ]),
    check!("STD-10", nothing_after_a_cancel, STDIO, [
        "goes on with what was cancelled" => faults::ignores("notifications/cancelled"),
    ]),
    check!("STD-17", both_kinds_of_client, STDIO, [
        "forgets the session" => faults::response_to("tools/list", |m| if m.pointer("/result/resultType").is_none() {
            *m = json!({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32602, "message": "no protocol version"}});
        }),
        "wants a session of every client" => faults::response_to("server/discover", |m| *m = json!({
            "jsonrpc": "2.0", "id": m["id"], "error": {"code": -32600, "message": "not initialized"},
        })),
    ]),
    check!("STD-18", requests_at_once, STDIO, [
        "does one thing after the other" => faults::loses_response_to("server/discover"),
    ]),
    check!("STD-19", acknowledged_first, STDIO, [
        "says that its tools have changed before it acknowledges" => faults::says_at("subscriptions/listen", |message| vec![json!({
            "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
            "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]}},
        })]),
        "acknowledges nothing" => faults::each_call("notifications/subscriptions/acknowledged", |m| *m = Value::Null),
    ]),
    check!("STD-20", responses_have_their_ids, STDIO, [
        "swaps the ids of two responses" => faults::each_response(|m| {
            let at = m["id"].as_str().and_then(|id| id.strip_prefix("concurrent-")?.parse::<u32>().ok());
            if let Some(at) = at {
                m["id"] = json!(format!("concurrent-{}", at ^ 1));
            }
        }),
    ]),
];

fn indents() -> Box<dyn Fault> {
    faults::incoming(|incoming| match incoming {
        Incoming::Line(line) => {
            let message: Value = serde_json::from_slice(&line).unwrap_or_default();
            let text = serde_json::to_string_pretty(&message).unwrap_or_default();
            text.lines().map(|line| Incoming::Line(line.into())).collect()
        }
        other => vec![other],
    })
}

fn joins_lines() -> Box<dyn Fault> {
    faults::each_line(|line| {
        let again = line.clone();
        line.extend(again);
    })
}

fn logs(text: &'static str) -> Box<dyn Fault> {
    faults::incoming(move |incoming| match incoming {
        Incoming::Line(line) => vec![Incoming::Line(text.into()), Incoming::Line(line)],
        other => vec![other],
    })
}

fn takes_blank_lines() -> Box<dyn Fault> {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "parse error"}});
    let say = move |message: &Value| vec![error.clone(); usize::from(message["id"] == "after blank lines")];
    faults::both(faults::says_at("ping", say.clone()), faults::says_at("server/discover", say))
}

fn loses_response(id: &'static str) -> Box<dyn Fault> {
    faults::each_response(move |message| {
        if message["id"] == id {
            *message = Value::Null;
        }
    })
}

/// The lines that the server wrote.
fn lines(trace: &Trace) -> Vec<Vec<u8>> {
    let events = trace.events().into_iter();
    let of_server = events.filter(|event| event.from == Sender::Subject && event.what == Part::Line);
    of_server.map(|event| event.bytes).collect()
}

fn one_message_a_line(_: &Server, trace: &Trace) -> Outcome {
    for line in lines(trace) {
        let text = String::from_utf8_lossy(&line);
        let trimmed = text.trim_start();
        let is_text = !(trimmed.starts_with(['{', '[', '}', ']', '"']));
        // What is no JSON from the beginning is not a broken message.
        let is_whole =
            serde_json::from_slice::<Value>(&line).is_ok_and(|value| value.is_object() || value.is_array());
        ensure!(is_text || is_whole, "one whole message on each line", "the line `{text}`");
        ensure!(!line.contains(&b'\n'), "no line feed within a message", "`{text}`");
    }
    Ok(())
}

fn only_messages(_: &Server, trace: &Trace) -> Outcome {
    for line in lines(trace) {
        let value: Value = serde_json::from_slice(&line).unwrap_or_default();
        let all = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        let is_message = |message: &Value| {
            message.get("jsonrpc").is_some()
                && ["method", "result", "error"].iter().any(|name| message.get(name).is_some())
        };
        let expected = "nothing but messages on standard output";
        ensure!(
            !all.is_empty() && all.iter().all(is_message),
            expected,
            "the line `{}`",
            String::from_utf8_lossy(&line)
        );
    }
    Ok(())
}

/// The first message on a connection, as bytes: initialize where there are sessions.
fn first_message(server: &Server, id: &str) -> Value {
    if server.revision().has_sessions() {
        let params = server.initialize(super::capabilities(server.revision()));
        json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
    } else {
        raw::quick_message(server, &json!(id))
    }
}

async fn has_result(conversation: &mut Conversation, id: &str) -> Outcome {
    let response = conversation.response(&json!(id)).await?;
    ensure!(response.get("result").is_some(), format!("a result for the request {id:?}"), "`{response}`");
    Ok(())
}

async fn ends_of_lines(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    let first = first_message(&server, "byte order mark");
    conversation.send_bytes(format!("\u{feff}{first}\n").as_bytes()).await?;
    has_result(&mut conversation, "byte order mark").await?;
    let second = raw::quick_message(&server, &json!("carriage return"));
    conversation.send_bytes(format!("{second}\r\n").as_bytes()).await?;
    has_result(&mut conversation, "carriage return").await?;
    conversation.send_bytes(b"\n\r\n  \n").await?;
    // What a server would say of the blank lines stands before the response, or soon behind it.
    let id = json!("after blank lines");
    let message = raw::quick_message(&server, &id);
    conversation.send(&message).await?;
    conversation.response(&id).await?;
    let is_allowed = |message: &Value| !is_response(message);
    conversation.silence(SILENCE, "no response to a blank line", is_allowed).await
}

async fn large_and_many(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let mut large = raw::quick_message(&server, &json!("large"));
    large["params"]["conformance"] = json!("x".repeat(3 << 20));
    let large = format!("{large}\n");
    for piece in large.as_bytes().chunks(1 << 12) {
        conversation.send_bytes(piece).await?;
    }
    has_result(&mut conversation, "large").await?;
    let many = |at| raw::quick_message(&server, &json!(format!("many-{at}"))).to_string() + "\n";
    let piece: String = (0..100).map(many).collect();
    conversation.send_bytes(piece.as_bytes()).await?;
    for at in 0..100 {
        has_result(&mut conversation, &format!("many-{at}")).await?;
    }
    Ok(())
}

async fn lines_that_are_no_message(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    for line in ["hello", "{\"jsonrpc\":", "Content-Length: 10", "{'jsonrpc': '2.0'}"] {
        let reaction = raw::react(&mut conversation, line.as_bytes(), 1).await?;
        reaction.has_error(-32700, &format!("the line `{line}`"))?;
        still_works(&server, &mut conversation).await?;
    }
    Ok(())
}

fn no_requests(server: &Server, trace: &Trace) -> Outcome {
    if !super::exchanges::is_in_revision(server, trace) {
        return Ok(());
    }
    for message in trace.messages(Sender::Subject) {
        let is_request = message.get("method").is_some() && message.get("id").is_some();
        ensure!(!is_request, "no request on standard output", "`{message}`");
    }
    Ok(())
}

async fn nothing_after_a_cancel(server: Server) -> Outcome {
    server.tool("slow")?;
    let mut conversation = server.open().await?;
    super::cancellation::is_stopped(&server, &mut conversation, &raw::unique()?).await
}

async fn both_kinds_of_client(server: Server) -> Outcome {
    let mut stateful = server.connect().await?;
    let version = crate::revision::Revision::Mcp20251125;
    let mut params = server.initialize(super::capabilities(version));
    params["protocolVersion"] = json!(version.as_str());
    let initialized = stateful.request("initialize", params).await.map_err(Stop::while_preparing)?;
    if initialized.get("result").is_none() {
        return Err(Stop::not_applicable("the server has no sessions"));
    }
    stateful.notify("notifications/initialized", json!({})).await?;
    let result = stateful.ok("ping", json!({})).await?;
    ensure!(
        result.get("resultType").is_none(),
        "a result of the older revision after initialize",
        "`{result}`"
    );
    if initialized.pointer("/result/capabilities/tools").is_some() {
        let result = stateful.ok("tools/list", json!({})).await?;
        ensure!(
            result.get("resultType").is_none(),
            "a list of tools of the older revision after initialize",
            "`{result}`"
        );
    }
    let mut stateless = server.connect().await?;
    stateless.set_meta(server.meta(super::capabilities(server.revision())));
    let result = stateless.ok("server/discover", json!({})).await?;
    ensure!(result["resultType"].is_string(), "a result without a session", "`{result}`");
    Ok(())
}

async fn requests_at_once(server: Server) -> Outcome {
    let tool = raw::tool_with_key(&server, "slow", &raw::unique()?)?;
    let mut conversation = server.open().await?;
    let slow = conversation.start("tools/call", tool).await?;
    let id = conversation.start(quick(&server), json!({})).await?;
    conversation.response(&id).await?;
    let is_late = conversation.queued().any(|message| message["id"] == slow);
    ensure!(
        !is_late,
        "the response to a quick request while a slow call goes on",
        "it came after the response to the slow call"
    );
    let response = conversation.response(&slow).await?;
    ensure!(response.get("result").is_some(), "a result of the slow call as well", "`{response}`");
    Ok(())
}

async fn responses_have_their_ids(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let id = |at: usize| json!(format!("concurrent-{at}"));
    let mut piece = String::new();
    for at in 0..20 {
        let method = if at % 2 == 0 { quick(&server) } else { "conformance/unknown" };
        piece += &raw::message(&server, &id(at), method, json!({})).to_string();
        piece.push('\n');
    }
    conversation.send_bytes(piece.as_bytes()).await?;
    for at in 0..20 {
        let response = conversation.response(&id(at)).await?;
        let is_right = response.get("result").is_some() == (at % 2 == 0);
        ensure!(is_right, format!("the response to the request {}", id(at)), "`{response}`");
    }
    Ok(())
}

/// Opens two subscriptions while the list of tools changes, if the profile has a tool for that.
async fn acknowledged_first(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let change = server.tool("changes_tools").ok();
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(conversation.start("subscriptions/listen", filter.clone()).await?);
        if let Some(tool) = &change {
            conversation.start("tools/call", tool.clone()).await?;
        }
    }
    still_works(&server, &mut conversation).await.map_err(Stop::while_preparing)?;
    let arrived = conversation.listen(SILENCE * 2).await?;
    let messages: Vec<&Value> = arrived.iter().map(|arrived| &arrived.message).collect();
    if let Some(error) = messages.iter().find(|message| message["error"]["code"] == -32601) {
        return Err(Stop::not_applicable(format!("the server has no subscriptions: `{error}`")));
    }
    for id in ids {
        let subscription = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
        let first = messages.iter().find(|message| message.pointer(subscription) == Some(&id));
        let expected = format!("an acknowledgement as the first notification of the subscription {id}");
        let Some(first) = first else {
            return Err(Stop::failed(expected, "no notification of it"));
        };
        let is_acknowledged = first["method"] == "notifications/subscriptions/acknowledged";
        ensure!(is_acknowledged, expected, "`{first}`");
    }
    Ok(())
}
