//! Checks of servers: which version `initialize` agrees on, and requests of the server that stay unanswered.

use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{ANY, Check, check};
use crate::conversation::shared::Open;
use crate::mcp_server::Server;
use crate::mcp_server::answers;
use crate::mcp_server::raw::{SILENCE, is_response, still_works};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(supported_version, ANY),
    check!(unsupported_version, ANY),
    check!(newest_version, ANY),
    check!(waiting_ends, ANY),
    check!(progress_does_not_help, ANY),
    check!(late_responses_are_ignored, ANY),
];

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
