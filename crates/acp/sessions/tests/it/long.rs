//! Updates over the length that a client accepts.

use std::sync::{Arc, Mutex};

use agentwire_acp_sessions::schema::{
    Content, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectOption, SessionId, SessionMode, SessionModeState,
    SessionUpdate, StopReason, ToolCall, ToolCallStatus, ToolCallUpdate,
};
use agentwire_acp_sessions::{MemoryStore, PermissionPolicy, SessionStore, Turn, TurnError, Warning, agent};
use agentwire_jsonrpc::{DEFAULT_LINE_LIMIT, RawJson};
use agentwire_mcp_server::schema::CallToolResult;
use agentwire_mcp_server::{Context, NoArguments, Server};
use futures::TryStreamExt;
use serde_json::json;

use crate::peer::{again, short, text, with};
use crate::tools::within;

/// Far over what `LIMIT` allows, and far below what memory takes.
const LONG: usize = 40 << 10;
const LIMIT: usize = 16 << 10;

/// A server whose tool gives so many bytes of text, and something for programs.
fn giving(bytes: usize) -> Server {
    let give = move |_: NoArguments, _: Context| async move {
        let mut result = CallToolResult::from_text("x".repeat(bytes));
        result.structured_content = Some(RawJson::encode(&json!({ "n": 1 })).unwrap());
        result
    };
    Server::new("s", "1").tool("give", "Gives", give)
}

fn long_plan() -> Plan {
    let entry = PlanEntry::new("x".repeat(LONG), PlanEntryPriority::Low, PlanEntryStatus::Pending);
    Plan::new(vec![entry])
}

/// A result is said once: 17 MiB of it are no line over the limit, for which a client would drop the completion.
#[tokio::test(start_paused = true)]
async fn a_result_of_17_mib_reaches_the_client() {
    let agent = agent(async |turn: Turn| {
        let result = turn.call_tool("give", ()).permissions(PermissionPolicy::Allow).await?;
        turn.say(result.text().len().to_string()).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent.mcp_server(within("s", giving(17 << 20))), async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "go").await;
        let updates = peer.updates();
        let said = short(&updates);
        assert_eq!(
            said[1..],
            ["tool_call_update in_progress", "tool_call_update completed", "agent 17825792"]
        );
        let line = updates[2].to_string().len();
        assert!(((17 << 20)..(18 << 20)).contains(&line) && line < DEFAULT_LINE_LIMIT, "{line}");
        assert_eq!(updates[2]["content"][0]["content"]["text"].as_str().unwrap().len(), 17 << 20);
        let raw = &updates[2]["rawOutput"];
        assert_eq!((&raw["structuredContent"], raw.get("content")), (&json!({ "n": 1 }), None));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_result_over_the_limit_is_shortened_and_marked_and_the_call_ends() {
    let store = Arc::new(MemoryStore::new());
    let agent = agent(async |turn: Turn| {
        let result = turn.call_tool("give", ()).permissions(PermissionPolicy::Allow).await?;
        turn.say(result.text().len().to_string()).await?;
        Ok(StopReason::EndTurn)
    });
    let agent = agent.mcp_server(within("s", giving(LONG))).update_limit(LIMIT).shared_store(store.clone());
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        for loaded in [false, true] {
            match loaded {
                false => assert_eq!(peer.prompt(&session, "go").await, "end_turn"),
                true => drop(peer.call("session/load", again(&session, "/repo")).await),
            }
            let updates = peer.updates();
            let said = short(&updates);
            let end = ["tool_call_update in_progress", "tool_call_update completed", "agent 40960"];
            assert!(said.ends_with(&end.map(str::to_owned)), "the author has it whole: {said:?}");
            let ended = &updates[updates.len() - 2];
            assert!(ended.to_string().len() < LIMIT);
            let shown = |part: usize| ended["content"][part]["content"]["text"].as_str().unwrap();
            assert!(shown(0).starts_with("xxx"));
            assert!(shown(1).contains("shortened") && shown(1).contains("16384"), "{}", shown(1));
        }
        // What is kept is what was sent.
        let stored = store.read(&SessionId::from(&*session)).await.unwrap().unwrap();
        let records: Vec<RawJson> = stored.records.try_collect().await.unwrap();
        assert!(records.iter().all(|record| record.len() < LIMIT));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn update_over_the_limit_is_refused_and_has_no_effect() {
    let store = Arc::new(MemoryStore::new());
    let modes = [SessionMode::new("ask", "Ask"), SessionMode::new("code", "Code")];
    let choices = ["ask", "code"].map(|mode| SessionConfigSelectOption::new(mode, "x".repeat(LONG)));
    let options = [SessionConfigOption::select("mode", "Mode", "ask", choices.to_vec())
        .category(SessionConfigOptionCategory::Mode)];
    let agent = agent(async |turn: Turn| {
        let too_long = |result: Result<(), TurnError>| match result {
            Err(TurnError::TooLong { bytes, limit, .. }) => assert!(bytes > LIMIT && limit == LIMIT),
            other => panic!("{other:?}"),
        };
        too_long(turn.say("x".repeat(LONG)).await);
        // The mode could be sent, and the option that shows it could not.
        too_long(turn.set_mode("code").await);
        too_long(turn.update(ToolCall::new("c", "x".repeat(LONG))).await);
        too_long(turn.update_shortened(long_plan()).await);
        turn.update_shortened(ToolCall::new("d", "x".repeat(LONG)).status(ToolCallStatus::Completed)).await?;
        turn.say(turn.mode().unwrap().to_string()).await?;
        Ok(StopReason::EndTurn)
    });
    let agent = agent
        .modes(SessionModeState::new("ask", modes.to_vec()))
        .config_options(options)
        .update_limit(LIMIT)
        .shared_store(store.clone());
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        assert_eq!(peer.prompt(&session, "go").await, "end_turn");
        // No call is open, so none has failed at the turn's end.
        assert_eq!(short(&peer.updates()), ["tool_call completed", "agent ask"]);
        let stored = store.read(&SessionId::from(&*session)).await.unwrap().unwrap();
        let records: Vec<RawJson> = stored.records.try_collect().await.unwrap();
        assert_eq!(records.len(), 3, "the prompt and what was told");
        // A prompt that could not be kept is refused, and the session goes on.
        let prompt = json!([{ "type": "text", "text": "x".repeat(LONG) }]);
        assert_eq!(
            peer.refused("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await,
            -32602
        );
        assert_eq!(peer.prompt(&session, "go").await, "end_turn");
        peer.updates();
    })
    .await;
}

/// Journals of earlier versions have such updates.
#[tokio::test(start_paused = true)]
async fn records_over_the_limit_are_loaded_shortened_and_reported() {
    let store = Arc::new(MemoryStore::new());
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = warnings.clone();
    let agent =
        agent(async |_: Turn| Ok(StopReason::EndTurn)).update_limit(LIMIT).shared_store(store.clone());
    let agent = agent.on_warning(move |warning| {
        assert!(matches!(warning, Warning::LongRecord { bytes, limit: LIMIT, .. } if bytes > LIMIT));
        heard.lock().unwrap().push(warning.to_string());
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let records = [
            RawJson::encode(&SessionUpdate::from(ToolCall::new("c", "Call"))),
            RawJson::encode(&SessionUpdate::from(
                ToolCallUpdate::new("c")
                    .status(ToolCallStatus::Completed)
                    .content([Content::from("x".repeat(LONG))])
                    .raw_output(json!("x".repeat(LONG))),
            )),
            RawJson::encode(&SessionUpdate::from(long_plan())),
            RawJson::encode(&json!({
                "sessionUpdate": "agent_message_chunk",
                "content": { "type": "text", "text": "x".repeat(LONG) },
            })),
        ]
        .map(Result::unwrap);
        store.append(&SessionId::from(&*session), &records).await.unwrap();
        peer.call("session/load", again(&session, "/repo")).await;
        let updates = peer.updates();
        let kinds: Vec<_> = updates.iter().map(|update| update["sessionUpdate"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["tool_call", "tool_call_update", "agent_message_chunk"]);
        assert_eq!(updates[1]["status"], "completed");
        assert!(text(&updates[2]).contains("shortened"));
        assert!(updates.iter().all(|update| update.to_string().len() < LIMIT));
    })
    .await;
    let warnings = warnings.lock().unwrap();
    let fates =
        ["record 2 is shortened: it has", "record 3 is left out: it has", "record 4 is shortened: it has"];
    assert_eq!(warnings.len(), fates.len());
    assert!(warnings.iter().zip(fates).all(|(warning, fate)| warning.contains(fate)), "{warnings:?}");
}
