//! Checks of servers: which version `initialize` agrees on, and requests of the server that stay unanswered.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::raw::{SILENCE, is_response, still_works};
use super::{Server, answers};
use crate::check::{ANY, Check, check};
use crate::conversation::shared::Open;
use crate::fault::Fault;
use crate::faults;
use crate::requirements::revision::Revision;
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
        "offers a version that it does not support" => answers_unsupported("2024-01-01"),
    ]),
    check!("LIF-10b", newest_version, ANY, [
        "offers its oldest version" => answers_unsupported("2024-11-05"),
    ]),
    check!("LIF-16", waiting_ends, ANY, [
        "waits for ever" => faults::loses_response_to("tools/call"),
    ]),
    check!("LIF-17", waiting_ends, ANY, [
        "waits for ever" => faults::loses_response_to("tools/call"),
    ]),
    check!("LIF-19b", progress_does_not_help, ANY, [
        "waits as long as there is progress" => {
            let mut calls = 0;
            let hangs = faults::response_to("tools/call", move |message| {
                calls += 1;
                if calls > 1 {
                    *message = Value::Null;
                }
            });
            let wants_progress = |m: &mut Value| m["params"]["_meta"]["progressToken"] = json!("p");
            faults::both(faults::each_call("roots/list", wants_progress), hangs)
        },
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

/// Judges with earlier answers of the server. If that fails, judges with new ones, whose bytes a report shows. A mutant has no
/// earlier answers.
async fn with_known(
    server: &Server,
    known: impl Future<Output = Outcome>,
    fresh: impl Future<Output = Outcome>,
) -> Outcome {
    match known.await {
        Err(Stop::Failed(_)) if server.setting.faults.is_none() => fresh.await,
        outcome => outcome,
    }
}

/// A version is supported if the server has ever agreed on it or offered it.
async fn supported_version(server: Server) -> Outcome {
    with_known(&server, supports_again(&server, true), supports_again(&server, false)).await
}

async fn supports_again(server: &Server, known: bool) -> Outcome {
    let version = server.revision().as_str();
    let mut answers = vec![server.agreement("1999-01-01", known).await?];
    for known in [known, false] {
        answers.push(server.agreement(version, known).await?);
    }
    if answers.iter().all(|answer| answer.as_deref() != Some(version)) {
        return Err(Stop::not_applicable(format!("the server does not support {version}")));
    }
    if answers[1..].iter().any(Option::is_some) && answers[1..].contains(&None) {
        return Err(Stop::inconclusive(format!("the server answers {version} with an error at times")));
    }
    for answer in &answers[1..] {
        let expected =
            format!("the version {version}, which the server supports, as the answer to {version}");
        ensure!(answer.as_deref() == Some(version), expected, "{answer:?}");
    }
    Ok(())
}

async fn unsupported_version(server: Server) -> Outcome {
    with_known(&server, offers_another(&server, true), offers_another(&server, false)).await
}

async fn offers_another(server: &Server, known: bool) -> Outcome {
    let mut is_refused = true;
    for version in ["1999-01-01", "zzz", ""] {
        let Some(offered) = server.agreement(version, known).await? else { continue };
        is_refused = false;
        ensure!(offered != version, format!("another version than {version:?}"), "{offered:?}");
        let again = server.agreement(&offered, known).await?;
        let expected = format!("a version that the server supports, in reply to {version:?}");
        let seen = again.as_deref().unwrap_or("an error");
        ensure!(seen == offered, expected, "{offered:?}, and {seen:?} in reply to {offered:?}");
    }
    if is_refused {
        return Err(Stop::not_applicable("the server refuses unsupported versions with an error"));
    }
    Ok(())
}

async fn newest_version(server: Server) -> Outcome {
    with_known(&server, offers_the_newest(&server, true), offers_the_newest(&server, false)).await
}

async fn offers_the_newest(server: &Server, known: bool) -> Outcome {
    let Some(offered) = server.agreement("1999-01-01", known).await? else {
        return Err(Stop::not_applicable("the server refuses unsupported versions with an error"));
    };
    let versions = Revision::MCP.iter().copied().filter(|revision| revision.is_legacy());
    let versions: Vec<&str> = versions.map(Revision::as_str).collect();
    if !versions.contains(&offered.as_str()) {
        return Err(Stop::inconclusive(format!("the suite does not know the version {offered:?}")));
    }
    for version in versions.into_iter().filter(|version| *version > offered.as_str()) {
        let is_supported = server.agreement(version, known).await?.as_deref() == Some(version);
        let expected = format!("the latest version that the server supports, which is not before {version}");
        ensure!(!is_supported, expected, "{offered:?}");
    }
    Ok(())
}

/// Calls the tool that waits for a short time only; returns the id of the call and the request that stays unanswered.
async fn unanswered(server: &Server) -> Outcome<(Open, Value, Value)> {
    let tool = server.tool("impatient")?;
    let mut conversation = server.open().await?;
    conversation
        .answer_with(|request| if request["method"] == "ping" { answers::answer(request) } else { None });
    let id = conversation.start("tools/call", tool).await?;
    let is_request = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
    let asked = conversation.wanted("a request of the tool", is_request).await;
    Ok((conversation, id, asked.map_err(Stop::while_preparing)?))
}

async fn waiting_ends(server: Server) -> Outcome {
    let (mut conversation, id, asked) = unanswered(&server).await?;
    let expected = format!("the end of a call whose request {} stays unanswered", asked["id"]);
    conversation.wanted(&expected, |message| is_response(message) && message["id"] == id).await.map(drop)
}

/// A server that waits for ever also without progress breaks another requirement.
async fn progress_does_not_help(server: Server) -> Outcome {
    let (mut plain, id, _) = unanswered(&server).await?;
    plain.response(&id).await.map_err(Stop::while_preparing)?;
    let (mut conversation, id, asked) = unanswered(&server).await?;
    let Some(token) = asked.pointer("/params/_meta/progressToken").cloned() else {
        return Err(Stop::not_applicable("the server asks for no progress"));
    };
    let steps = conversation.wait().as_millis() / 100;
    for step in 1..=steps {
        let params = json!({"progressToken": token, "progress": step});
        conversation.notify("notifications/progress", params).await?;
        conversation.serve(Duration::from_millis(100)).await?;
        if conversation.queued().any(|message| is_response(message) && message["id"] == id) {
            return Ok(());
        }
    }
    Err(Stop::failed("the end of the call, although there is progress", "it goes on"))
}

async fn late_responses_are_ignored(server: Server) -> Outcome {
    let (mut conversation, id, asked) = unanswered(&server).await?;
    conversation.call("notifications/cancelled").await.map_err(Stop::while_preparing)?;
    conversation.response(&id).await.map_err(Stop::while_preparing)?;
    conversation.reply(&asked, json!({"roots": []})).await?;
    // A notification that means nothing marks the place in the conversation.
    conversation.notify("conformance/late", json!({})).await?;
    still_works(&server, &mut conversation).await?;
    let is_allowed = |message: &Value| message.get("method").is_some();
    conversation.silence(SILENCE, "no message about a late response", is_allowed).await
}
