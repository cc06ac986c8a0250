//! Updates of other kinds.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] =
    &[check!(merges_compactions, ANY), check!(survives_unknown_updates, ANY)];

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

async fn merges_compactions(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    if client.revision() == crate::requirements::revision::Revision::Acp1 {
        turn.run.needs("/session/compaction")?;
    }
    let update = |more: Value| {
        let mut update = json!({"sessionUpdate": "compaction_update", "compactionId": "compaction-1", "status": "in_progress"});
        for (name, value) in more.as_object().into_iter().flatten() {
            update[name] = value.clone();
        }
        update
    };
    turn.update(update(json!({"summary": [text("first summary")], "error": "an error"}))).await?;
    turn.update(update(json!({"summary": [text("second summary")]}))).await?;
    turn.update(json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "compaction-2",
        "content": text("a chunk")}))
        .await?;
    let state = turn.state().await.map_err(Stop::while_preparing)?;
    if state.get("compactions").is_none() {
        return Err(Stop::not_applicable("the client does not say which compactions it knows"));
    }
    let known = compaction(&state, "compaction-1");
    ensure!(known["error"] == "an error", "an error that no update has changed", "`{known}`");
    let summary = known["summary"].to_string();
    let is_new = summary.contains("second summary") && !summary.contains("first summary");
    ensure!(is_new, "the summary of the latest update that has one", "`{known}`");
    let created = compaction(&state, "compaction-2");
    ensure!(
        created["summary"].to_string().contains("a chunk"),
        "a compaction that a chunk has created",
        "`{state}`"
    );
    turn.update(update(json!({"status": "completed", "error": null, "summary": []}))).await?;
    let state = turn.state().await.map_err(Stop::while_preparing)?;
    let known = compaction(&state, "compaction-1");
    ensure!(known["error"].is_null(), "no error after null", "`{known}`");
    let is_empty = known["summary"].as_array().is_none_or(Vec::is_empty);
    ensure!(is_empty, "no summary after an empty one", "`{known}`");
    Ok(())
}

fn compaction(state: &Value, id: &str) -> Value {
    let all = state["compactions"].as_array().into_iter().flatten();
    all.into_iter().find(|known| known["compactionId"] == id).cloned().unwrap_or_default()
}

async fn survives_unknown_updates(client: AcpClient) -> Outcome {
    let mut plain = client.prompted(client.script()).await?;
    plain.end_well().await.map_err(Stop::while_preparing)?;
    drop(plain);
    let mut turn = client.prompted(client.script()).await?;
    turn.run.is_alive().await.map_err(Stop::while_preparing)?;
    turn.update(json!({"sessionUpdate": "conformance_update", "any": [1, {"two": null}]})).await?;
    turn.update(
        json!({"sessionUpdate": "agent_message_chunk", "messageId": "message-2", "content": text("hello")}),
    )
    .await?;
    turn.run.is_alive().await?;
    turn.end_well().await
}
