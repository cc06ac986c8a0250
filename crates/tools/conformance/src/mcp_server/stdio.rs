//! Checks of servers: stdio.

use serde_json::json;

use super::Server;
use super::raw::{self, is_response, quick, still_works};
use crate::check::{Check, STDIO, audit, check, shared};
use crate::conversation::Conversation;
use crate::link::lines::odd_lines;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    audit!(one_message_a_line, STDIO),
    audit!(only_messages, STDIO),
    shared!(ends_of_lines, STDIO),
    shared!(large_and_many, STDIO),
    audit!(no_requests, STDIO),
    check!(nothing_after_a_cancel, STDIO),
    check!(both_kinds_of_client, STDIO),
    check!(requests_at_once, STDIO),
];

fn one_message_a_line(_: &Server, trace: &Trace) -> Outcome {
    let broken = odd_lines(trace).broken;
    let Some(line) = broken.first() else { return Ok(()) };
    Err(Stop::failed("one whole message on each line", format!("the line `{line}`")))
}

fn only_messages(_: &Server, trace: &Trace) -> Outcome {
    let other = odd_lines(trace).other;
    let Some(line) = other.first() else { return Ok(()) };
    Err(Stop::failed("only messages on standard output", format!("the line `{line}`")))
}

async fn has_result(conversation: &mut Conversation, id: &str) -> Outcome {
    let response = conversation.response(&json!(id)).await?;
    ensure!(response.get("result").is_some(), format!("a result for the request {id:?}"), "`{response}`");
    Ok(())
}

async fn ends_of_lines(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    still_works(&server, &mut conversation).await.map_err(Stop::while_preparing)?;
    let message = raw::quick_message(&server, &json!("carriage return"));
    conversation.send_bytes(format!("{message}\r\n").as_bytes()).await?;
    has_result(&mut conversation, "carriage return").await
}

async fn large_and_many(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    still_works(&server, &mut conversation).await.map_err(Stop::while_preparing)?;
    // Several writes, and less than a server may allow for `_meta`.
    let mut message = raw::quick_message(&server, &json!("pieces"));
    message["params"]["_meta"]["example.com/text"] = json!("x".repeat(40_000));
    for piece in format!("{message}\n").as_bytes().chunks(1 << 10) {
        conversation.send_bytes(piece).await?;
    }
    has_result(&mut conversation, "pieces").await?;
    let many = |at| raw::quick_message(&server, &json!(format!("many-{at}"))).to_string() + "\n";
    let piece: String = (0..100).map(many).collect();
    conversation.send_bytes(piece.as_bytes()).await?;
    for at in 0..100 {
        has_result(&mut conversation, &format!("many-{at}")).await?;
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
    super::utilities::cancellation::is_stopped(&server, &mut conversation, &raw::unique()?).await
}

async fn both_kinds_of_client(server: Server) -> Outcome {
    let mut legacy = server.connect().await?;
    let version = crate::requirements::revision::Revision::Mcp20251125;
    let mut params = server.initialize(super::capabilities(version));
    params["protocolVersion"] = json!(version.as_str());
    let initialized = legacy.request("initialize", params).await.map_err(Stop::while_preparing)?;
    if initialized.get("result").is_none() {
        return Err(Stop::not_applicable("the server has no sessions"));
    }
    legacy.notify("notifications/initialized", json!({})).await?;
    let mut methods = vec!["ping"];
    if initialized.pointer("/result/capabilities/tools").is_some() {
        methods.push("tools/list");
    }
    for method in methods {
        let response = legacy.request(method, json!({})).await.map_err(Stop::while_preparing)?;
        let expected = format!("a result of {method} without `_meta` after initialize");
        ensure!(response.get("result").is_some(), expected, "`{response}`");
    }
    let mut modern = server.connect().await?;
    modern.set_meta(server.meta(super::capabilities(server.revision())));
    let response = modern.request("server/discover", json!({})).await.map_err(Stop::while_preparing)?;
    let expected = "a result for a request with a protocol version in `_meta`, without a session";
    ensure!(response.get("result").is_some(), expected, "`{response}`");
    Ok(())
}

/// No page demands that a server handles them at the same time.
async fn requests_at_once(server: Server) -> Outcome {
    let tool = raw::tool_with_key(&server, "slow", &raw::unique()?)?;
    let mut conversation = server.open().await?;
    let slow = conversation.start("tools/call", tool).await?;
    let quick = conversation.start(quick(&server), json!({})).await?;
    conversation.response(&slow).await.map_err(Stop::while_preparing)?;
    let expected = "the response to a request that was sent while a call was open";
    conversation.wanted(expected, |message| is_response(message) && message["id"] == quick).await.map(drop)
}
