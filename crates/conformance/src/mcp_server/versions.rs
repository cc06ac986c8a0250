//! Checks of servers: which version `initialize` agrees on, and requests of the server that stay unanswered.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::raw::{SILENCE, still_works};
use super::{Server, answers};
use crate::check::{ANY, Check, check};
use crate::conversation::Conversation;
use crate::fault::Fault;
use crate::faults;
use crate::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    check!("LIF-09", supported_version, ANY, [
        "answers with another version the second time" => {
            let mut count = 0;
            faults::result_of("initialize", move |result| {
                count += 1;
                if count > 2 {
                    result["protocolVersion"] = json!("2024-01-01");
                }
            })
        },
    ]),
    check!("LIF-10", unsupported_version, ANY, [
        "repeats any version" => answers_version("1999-01-01"),
        "answers with a version that no server has" => answers_version("latest"),
    ]),
    check!("LIF-10b", newest_version, ANY, [
        "offers its oldest version" => answers_unsupported("2024-11-05"),
    ]),
    check!("LIF-16", requests_time_out, ANY, [
        "does not cancel" => never_cancels(),
        "cancels another request" => faults::each_call("notifications/cancelled", |m| m["params"]["requestId"] = json!("other")),
    ]),
    check!("LIF-17", waiting_ends, ANY, [
        "waits for ever" => faults::loses_response_to("tools/call"),
    ]),
    check!("LIF-19b", progress_does_not_help, ANY, [
        "waits as long as there is progress" => faults::loses_response_to("tools/call"),
    ]),
    check!("CAN-12b", requests_time_out, ANY, [
        "does not cancel" => never_cancels(),
        "waits for ever" => faults::both(never_cancels(), faults::loses_response_to("tools/call")),
    ]),
    check!("CAN-06b", late_responses_are_ignored, ANY, [
        "answers a late response with an error" => faults::says_at("conformance/late", |_| vec![
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "unexpected response"}}),
        ]),
        "is unusable afterwards" => faults::loses_response_to("ping"),
    ]),
];

fn answers_version(version: &'static str) -> Box<dyn Fault> {
    faults::result_of("initialize", move |result| result["protocolVersion"] = json!(version))
}

/// Answers with a version where the suite asks for one of the last century.
fn answers_unsupported(version: &'static str) -> Box<dyn Fault> {
    let asked: Arc<Mutex<Option<Value>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let notes = faults::says_at("initialize", move |message| {
        let is_unsupported = message["params"]["protocolVersion"] == "1999-01-01";
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = is_unsupported.then(|| message["id"].clone());
        Vec::new()
    });
    let edits = faults::response_to("initialize", move |message| {
        if asked.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(&message["id"]) {
            message["result"]["protocolVersion"] = json!(version);
        }
    });
    faults::both(notes, edits)
}

fn never_cancels() -> Box<dyn Fault> {
    faults::each_call("notifications/cancelled", |message| *message = Value::Null)
}

/// The version that the server answers with on a connection of its own.
async fn agreed(server: &Server, version: &str) -> Outcome<String> {
    let mut conversation = server.connect().await?;
    let mut params = server.initialize(super::capabilities(server.revision()));
    params["protocolVersion"] = json!(version);
    let result = conversation.ok("initialize", params).await?;
    let agreed = result["protocolVersion"].as_str().map(str::to_owned);
    agreed.ok_or_else(|| Stop::failed("a text as the `protocolVersion`", format!("`{result}`")))
}

/// A version is supported if the server has ever agreed on it or offered it.
async fn supported_version(server: Server) -> Outcome {
    let version = server.revision().as_str();
    let offered = agreed(&server, "1999-01-01").await?;
    let answers = [agreed(&server, version).await?, agreed(&server, version).await?];
    if offered != version && answers.iter().all(|answer| answer != version) {
        return Err(Stop::not_applicable(format!("the server does not support {version}")));
    }
    for answer in answers {
        ensure!(answer == version, format!("the version {version}, which the server supports"), "{answer:?}");
    }
    let again = agreed(&server, &offered).await?;
    ensure!(again == offered, format!("the version {offered}, which the server has offered"), "{again:?}");
    Ok(())
}

async fn unsupported_version(server: Server) -> Outcome {
    for version in ["1999-01-01", "zzz", ""] {
        let offered = agreed(&server, version).await?;
        let known =
            Revision::MCP.iter().any(|revision| revision.has_sessions() && revision.as_str() == offered);
        ensure!(known, format!("a version that has initialize, in reply to {version:?}"), "{offered:?}");
    }
    Ok(())
}

async fn newest_version(server: Server) -> Outcome {
    let offered = agreed(&server, "1999-01-01").await.map_err(Stop::while_preparing)?;
    let mut newest = String::new();
    for revision in Revision::MCP.iter().filter(|revision| revision.has_sessions()) {
        let answer = agreed(&server, revision.as_str()).await.map_err(Stop::while_preparing)?;
        if answer == revision.as_str() {
            revision.as_str().clone_into(&mut newest);
        }
    }
    if newest.is_empty() {
        return Err(Stop::not_applicable("the server agrees on no version that the suite knows"));
    }
    ensure!(
        offered == newest,
        format!("the newest version that the server supports, {newest}"),
        "{offered:?}"
    );
    Ok(())
}

/// Calls the tool that waits for a short time only; returns the id of the call and the request that stays unanswered.
async fn unanswered(server: &Server) -> Outcome<(Conversation, Value, Value)> {
    let tool = server.tool("impatient")?;
    let mut conversation = server.open().await?;
    conversation
        .answer_with(|request| if request["method"] == "ping" { answers::answer(request) } else { None });
    let id = conversation.start("tools/call", tool).await?;
    let is_request = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
    let asked = conversation.wanted("a request of the tool", is_request).await;
    Ok((conversation, id, asked.map_err(Stop::while_preparing)?))
}

async fn requests_time_out(server: Server) -> Outcome {
    let (mut conversation, id, asked) = unanswered(&server).await?;
    let cancelled = conversation.call("notifications/cancelled").await?;
    ensure!(
        cancelled["params"]["requestId"] == asked["id"],
        format!("a cancelled notification for the request {}", asked["id"]),
        "`{cancelled}`"
    );
    conversation.response(&id).await.map(drop)
}

async fn waiting_ends(server: Server) -> Outcome {
    let (mut conversation, id, _) = unanswered(&server).await?;
    conversation.response(&id).await.map(drop)
}

async fn progress_does_not_help(server: Server) -> Outcome {
    let (mut conversation, id, asked) = unanswered(&server).await?;
    let token = asked.pointer("/params/_meta/progressToken").cloned();
    let steps = u32::try_from(conversation.wait().as_millis() / 100).unwrap_or(100);
    for step in 1..=steps {
        if let Some(token) = &token {
            let params = json!({"progressToken": token, "progress": step});
            conversation.notify("notifications/progress", params).await?;
        }
        conversation.set_wait(Duration::from_millis(100));
        if conversation.response(&id).await.is_ok() {
            return Ok(());
        }
    }
    Err(Stop::failed("the end of the call, although there is progress", "it goes on"))
}

async fn late_responses_are_ignored(server: Server) -> Outcome {
    let (mut conversation, id, asked) = unanswered(&server).await?;
    conversation.response(&id).await.map_err(Stop::while_preparing)?;
    conversation.reply(&asked, json!({"roots": []})).await?;
    // A notification that means nothing marks the place in the conversation.
    conversation.notify("conformance/late", json!({})).await?;
    still_works(&server, &mut conversation).await?;
    let is_allowed = |message: &Value| message.get("method").is_some();
    conversation.silence(SILENCE, "no message about a late response", is_allowed).await
}
