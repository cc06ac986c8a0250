//! Listing and deleting sessions.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(lists_only_where_advertised, ANY),
    check!(stops_at_the_last_page, ANY),
    check!(returns_cursors_as_they_are, ANY),
    check!(merges_session_info, ANY),
    check!(deletes_only_where_advertised, ANY),
];

async fn lists_only_where_advertised(client: AcpClient) -> Outcome {
    let script = client.script().change("initialize", |greeting| {
        greeting["agentCapabilities"]["sessionCapabilities"]["list"] = Value::Null;
    });
    let run = client.tried("list_sessions", json!({}), script).await?;
    run.never_sent("session/list", "the agent did not advertise it")
}

async fn deletes_only_where_advertised(client: AcpClient) -> Outcome {
    let script = client.script().change("initialize", |greeting| {
        for pointer in ["/agentCapabilities/sessionCapabilities", "/capabilities/session"] {
            if let Some(session) = greeting.pointer_mut(pointer) {
                session["delete"] = Value::Null;
            }
        }
    });
    let run = client.tried("delete_session", json!({"session": "session-1"}), script).await?;
    run.never_sent("session/delete", "the agent did not advertise it as an object")
}

/// A page with one session.
fn page(number: usize, next: Option<&str>) -> Value {
    let mut page = json!({"sessions": [{"sessionId": format!("session-{number}"), "cwd": "/tmp"}]});
    if let Some(next) = next {
        page["nextCursor"] = json!(next);
    }
    page
}

async fn stops_at_the_last_page(client: AcpClient) -> Outcome {
    let (mut run, step) =
        client.begin("list_sessions", json!({}), client.script().leaves("session/list")).await?;
    for (number, next) in [(1, Some("page-2")), (2, Some("page-3")), (3, None)] {
        let request = run.agent.call("session/list").await.map_err(|_| not_listed(number))?;
        run.agent.reply(&request, page(number, next)).await?;
    }
    // A client that goes on asking does not end the step.
    let _ended = run.outcome(step).await;
    let is_other = |message: &Value| message["method"] != "session/list";
    run.agent
        .silence(crate::acp_client::run::QUIET, "no page after the one without `nextCursor`", is_other)
        .await
}

/// A client need not ask for more than the first page.
fn not_listed(number: usize) -> Stop {
    Stop::not_applicable(format!("the client does not ask for page {number} of the sessions"))
}

async fn returns_cursors_as_they_are(client: AcpClient) -> Outcome {
    let cursor = " é/+=\"\\ \u{1F600}\n\u{2028}";
    let (mut run, _) =
        client.begin("list_sessions", json!({}), client.script().leaves("session/list")).await?;
    let first = run.agent.call("session/list").await.map_err(|_| not_listed(1))?;
    run.agent.reply(&first, page(1, Some(cursor))).await?;
    let second = run.agent.call("session/list").await.map_err(|_| not_listed(2))?;
    let sent = &second["params"]["cursor"];
    ensure!(*sent == cursor, format!("the cursor {} as it was received", json!(cursor)), "{sent}");
    Ok(())
}

async fn merges_session_info(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let (title, time) = ("Title", "2026-01-01T00:00:00Z");
    turn.update(json!({"sessionUpdate": "session_info_update", "title": title})).await?;
    turn.update(json!({"sessionUpdate": "session_info_update", "updatedAt": time})).await?;
    let state = turn.state().await.map_err(Stop::while_preparing)?;
    ensure!(state["title"] == title, "a missing title leaves the title as it was", "`{}`", state["title"]);
    turn.update(json!({"sessionUpdate": "session_info_update", "title": null})).await?;
    let state = turn.state().await.map_err(Stop::while_preparing)?;
    ensure!(state["title"].is_null(), "null clears the title", "`{}`", state["title"]);
    ensure!(
        state["updated_at"] == time,
        "a missing time leaves the time as it was",
        "`{}`",
        state["updated_at"]
    );
    Ok(())
}
