//! A conversation in which a client does something of everything, for audits.

use serde_json::{Value, json};

use super::AcpClient;
use super::run::{PromptTurn, permission};
use crate::requirements::revision::Revision;
use crate::verdict::Outcome;

/// A turn in which the agent asks for everything, then each step that the client has.
pub(super) async fn converse(client: AcpClient) -> Outcome {
    let mut turn =
        client.prompted(client.script().change("session/new", settings(client.revision()))).await?;
    ask_everything(&mut turn).await?;
    turn.end("end_turn").await?;
    if turn.run.played.driver.takes_steps() {
        for (step, params) in steps() {
            let _tried = turn.run.attempt(step, params).await;
        }
    }
    Ok(())
}

/// Lets the agent ask for a permission, files, a terminal and input, as the client advertises them.
async fn ask_everything(turn: &mut PromptTurn) -> Outcome {
    turn.ask("_conformance/unknown", json!({})).await?;
    turn.update(json!({"sessionUpdate": "agent_message_chunk", "messageId": "message-2",
        "content": {"type": "text", "text": "hello"}}))
        .await?;
    turn.ask("session/request_permission", permission(turn.run.client.revision(), "call-1")).await?;
    if turn.run.client.revision() == Revision::Acp1 {
        if turn.run.advertises("/fs/readTextFile") {
            let path = turn.folder()?.join("no-such-file-of-the-conformance-suite");
            turn.ask("fs/read_text_file", json!({"path": path})).await?;
        }
        if turn.run.advertises("/terminal") {
            let created = turn.ask("terminal/create", json!({"command": "true"})).await?;
            let terminal = json!({"terminalId": created["result"]["terminalId"]});
            for method in ["terminal/wait_for_exit", "terminal/output", "terminal/release"] {
                turn.ask(method, terminal.clone()).await?;
            }
        }
    }
    if turn.run.advertises("/elicitation/form") {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string", "default": "x"}}});
        turn.ask(
            "elicitation/create",
            json!({"message": "Name?", "mode": "form", "requestedSchema": schema}),
        )
        .await?;
    }
    Ok(())
}

/// The modes and options that the plain agent offers.
pub(super) fn settings(revision: Revision) -> impl FnOnce(&mut Value) {
    let id = if revision == Revision::Acp2 { "configId" } else { "id" };
    let values = json!([{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]);
    let options = json!([
        {id: "model", "name": "Model", "type": "select", "currentValue": "a", "options": values},
        {id: "fast", "name": "Fast", "type": "boolean", "currentValue": false},
    ]);
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]});
    move |opened| {
        opened["configOptions"] = options;
        if revision == Revision::Acp1 {
            opened["modes"] = modes;
        }
    }
}

fn steps() -> Vec<(&'static str, Value)> {
    vec![
        ("list_sessions", json!({})),
        ("set_mode", json!({"mode": "code"})),
        ("set_config", json!({"option": "model", "value": "b"})),
        ("resume_session", json!({"session": "session-1"})),
        ("load_session", json!({"session": "session-1"})),
        ("close_session", json!({})),
        ("delete_session", json!({"session": "session-1"})),
    ]
}
