//! Failures of the store or the client during a session, and the guarantees that they must not break.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(feature = "file")]
use agentwire_acp_sessions::FileStore;
use agentwire_acp_sessions::schema::{
    CreateTerminalRequest, CurrentModeUpdate, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelectOption, SessionId, SessionMode, SessionModeState, StopReason, ToolCall,
    ToolCallLocation, ToolCallStatus,
};
use agentwire_acp_sessions::{SessionAgent, SessionHeader, SessionStore, Turn, TurnError, agent};
use agentwire_jsonrpc::RawJson;
use serde_json::{Value, json};

use crate::peer::{again, play, short, with};
use crate::stored::Moody;

fn modes() -> SessionModeState {
    SessionModeState::new("ask", [SessionMode::new("ask", "Ask"), SessionMode::new("code", "Code")].to_vec())
}

/// An agent with two modes, which answers with its current mode.
fn moded(store: &Arc<Moody>) -> SessionAgent {
    let agent = agent(async |turn: Turn| {
        if turn.text() == "wait" {
            turn.cancelled().await;
        }
        turn.say(turn.mode().unwrap().to_string()).await?;
        Ok(StopReason::EndTurn)
    });
    agent.modes(modes()).shared_store(store.clone())
}

fn set_mode(session: &str, mode: &str) -> Value {
    json!({ "sessionId": session, "modeId": mode })
}

#[tokio::test(start_paused = true)]
async fn tc_05_invalid_update_is_refused_and_not_stored() {
    let store = Arc::new(Moody::default());
    let agent = agent(async |turn: Turn| {
        let here = ToolCall::new("call", "Look").locations([ToolCallLocation::new("src/main.rs")]);
        let refused = turn.update(here.status(ToolCallStatus::Completed)).await;
        turn.say(if matches!(refused, Err(TurnError::Call(_))) { "refused" } else { "said" }).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent.shared_store(store.clone()), async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "go").await;
        assert_eq!(short(&peer.updates()), ["agent refused"]);
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(short(&peer.updates()), ["user go", "agent refused"]);
        // A journal that somebody else has written cannot keep the session from being loaded, either.
        let relative = json!({
            "sessionUpdate": "tool_call", "toolCallId": "t", "title": "t", "locations": [{ "path": "a" }],
            "status": "completed",
        });
        store.append(&SessionId::from(&*session), &[RawJson::encode(&relative).unwrap()]).await.unwrap();
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(short(&peer.updates()), ["user go", "agent refused"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_mode_that_is_set_while_the_session_is_closed_is_answered() {
    let store = Arc::new(Moody::default());
    with(moded(&store), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        let set = peer.request("session/set_mode", set_mode(&session, "code")).await;
        let close = peer.request("session/close", json!({ "sessionId": session })).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        permits.add_permits(100);
        assert_eq!(peer.response(set).await["result"], json!({}));
        assert_eq!(peer.response(close).await["result"], json!({}));
        let loaded = peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(loaded["modes"]["currentModeId"], "code", "what was answered is kept");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn close_waits_for_queued_updates() {
    let store = Arc::new(Moody::default());
    with(moded(&store), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        let set = peer.request("session/set_mode", set_mode(&session, "code")).await;
        let close = peer.request("session/close", json!({ "sessionId": session })).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let load = peer.request("session/load", again(&session, "/repo")).await;
        permits.add_permits(100);
        assert_eq!(peer.response(load).await["error"]["code"], -32600, "it is being closed");
        assert_eq!(peer.response(close).await["result"], json!({}));
        assert_eq!(peer.response(set).await["result"], json!({}));
        let loaded = peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(loaded["modes"]["currentModeId"], "code");
    })
    .await;
}

/// The one who failed is not polled before somebody else has begun a turn, which tries the store again.
#[tokio::test(start_paused = true)]
async fn change_that_was_not_stored_is_not_acknowledged() {
    let store = Arc::new(Moody::default());
    with(moded(&store), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        let first = peer.request("session/set_mode", set_mode(&session, "code")).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        store.break_it(true);
        permits.add_permits(1);
        let second = peer.request("session/set_mode", set_mode(&session, "code")).await;
        let prompt = peer.begin_prompt(&session, "go").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        store.break_it(false);
        permits.add_permits(100);
        for set in [first, second] {
            let response = peer.response(set).await;
            assert_eq!(response["error"]["code"], -32603, "{response}");
        }
        assert_eq!(peer.stopped(prompt).await, "end_turn");
        assert_eq!(short(&peer.updates()), ["agent ask"], "what was refused does not hold");
        let loaded = peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(loaded["modes"]["currentModeId"], "ask");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn updates_of_a_turn_are_stored_when_its_client_disconnects() {
    let store = Arc::new(Moody::default());
    let header =
        SessionHeader::new("old", "/repo").updated(agentwire_acp_sessions::Timestamp::from_millis(0));
    store.create(&header).await.unwrap();
    let agent = agent(async |turn: Turn| {
        turn.say("a").await?;
        std::future::pending::<()>().await;
        Ok(StopReason::EndTurn)
    });
    with(agent.shared_store(store.clone()), async |peer| {
        peer.call("session/resume", again("old", "/repo")).await;
        peer.begin_prompt("old", "go").await;
        peer.told("agent_message_chunk").await;
    })
    .await;
    assert_eq!(store.synced.load(Ordering::Relaxed), 1, "the turn is over, so it is made durable");
    with(moded(&store), async |peer| {
        let listed = peer.call("session/list", json!({})).await;
        assert_ne!(listed["sessions"][0]["updatedAt"], "1970-01-01T00:00:00.000Z");
        peer.call("session/load", again("old", "/repo")).await;
        assert_eq!(short(&peer.updates()), ["user go", "agent a"]);
    })
    .await;
}

/// Neither does the end wait for a store that never answers.
#[tokio::test(start_paused = true)]
async fn hanging_store_does_not_prevent_the_end_of_the_agent() {
    let store = Arc::new(Moody::default());
    let served = with(moded(&store).grace(Duration::from_secs(3)), async |peer| {
        let session = peer.open("/repo").await;
        store.hold();
        peer.begin_prompt(&session, "go").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    });
    tokio::time::timeout(Duration::from_secs(60), served).await.expect("it ends");
}

/// Nor does closing or deleting a session, though no client gets a success, and no other connection has it in that time.
#[tokio::test(start_paused = true)]
async fn hanging_store_does_not_block_a_close() {
    let store = Arc::new(Moody::default());
    with(moded(&store).store_timeout(Duration::from_secs(30)), async |peer| {
        for method in ["session/close", "session/delete"] {
            let session = peer.open("/repo").await;
            let permits = store.hold();
            let prompt = peer.begin_prompt(&session, "go").await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(peer.refused(method, json!({ "sessionId": session })).await, -32603, "{method}");
            let late = peer.begin_prompt(&session, "late").await;
            assert_eq!(peer.response(late).await["error"]["code"], -32002, "it is closed");
            assert_eq!(peer.refused("session/load", again(&session, "/repo")).await, -32600, "{method}");
            permits.add_permits(100);
            assert_eq!(peer.stopped(prompt).await, "cancelled");
            tokio::time::sleep(Duration::from_secs(1)).await;
            peer.call("session/load", again(&session, "/repo")).await;
            assert_eq!(short(&peer.updates()), ["user go"], "the store had it all the same");
        }
    })
    .await;
}

/// It may still delete it, so no connection has the session until that is known.
#[tokio::test(start_paused = true)]
async fn hanging_store_does_not_block_a_delete() {
    let store = Arc::new(Moody::default());
    with(moded(&store), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold_deletes();
        let named = json!({ "sessionId": session });
        assert_eq!(peer.refused("session/delete", named.clone()).await, -32603);
        assert_eq!(peer.refused("session/close", named).await, -32002, "it is closed");
        assert_eq!(peer.refused("session/load", again(&session, "/repo")).await, -32600);
        permits.add_permits(1);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(peer.refused("session/load", again(&session, "/repo")).await, -32002, "it is deleted");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn record_that_is_not_an_update_is_skipped() {
    let store = Arc::new(Moody::default());
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let heard = warnings.clone();
    let agent = agent(async |turn: Turn| {
        turn.say(format!("{} updates", turn.history().await?.len())).await?;
        Ok(StopReason::EndTurn)
    });
    let agent = agent.shared_store(store.clone());
    let agent = agent.on_warning(move |warning| heard.lock().unwrap().push(warning.to_string()));
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "one").await;
        let ill = json!({ "sessionUpdate": "tool_call", "toolCallId": 7 });
        store.append(&SessionId::from(&*session), &[RawJson::encode(&ill).unwrap()]).await.unwrap();
        peer.prompt(&session, "two").await;
        peer.updates();
        peer.call("session/load", again(&session, "/repo")).await;
        let said = ["user one", "agent 1 updates", "user two", "agent 3 updates"];
        assert_eq!(short(&peer.updates()), said);
        let warnings = std::mem::take(&mut *warnings.lock().unwrap());
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(&format!("session {session}: record 3 is")), "{warnings:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn unreadable_block_of_a_prompt_is_a_warning() {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let kept = warnings.clone();
    let agent = agent(async |turn: Turn| {
        turn.say(turn.text()).await?;
        Ok(StopReason::EndTurn)
    });
    let agent = agent.on_warning(move |warning| kept.lock().unwrap().push(warning.to_string()));
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let blocks = json!([{ "type": "image", "data": "aGk=" }, { "type": "text", "text": "go" }]);
        peer.call("session/prompt", json!({ "sessionId": session, "prompt": blocks })).await;
        assert_eq!(short(&peer.updates()), ["agent go"]);
        let warnings = std::mem::take(&mut *warnings.lock().unwrap());
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("session/prompt: left out: prompt[0]: "), "{warnings:?}");
    })
    .await;
}

/// A journal that is damaged in its middle is replayed up to there, and its owner gets advice about it.
#[cfg(feature = "file")]
#[tokio::test]
async fn damaged_session_is_listed_and_can_be_repaired_or_deleted() {
    let directory = tempfile::TempDir::new().unwrap();
    let echo = async |turn: Turn| {
        turn.say(turn.text()).await?;
        Ok(StopReason::EndTurn)
    };
    let serve = || agent(echo).store(FileStore::open(directory.path()).unwrap());
    let mut session = String::new();
    with(serve(), async |peer| {
        session = peer.open("/repo").await;
        for text in ["one", "two", "three"] {
            peer.prompt(&session, text).await;
        }
    })
    .await;
    let journal = crate::store::file(directory.path(), ".journal");
    let text = std::fs::read_to_string(&journal).unwrap();
    let begins = text.match_indices('\n').nth(2).unwrap().0 + 1;
    std::fs::write(&journal, text.replace("two", "TWO")).unwrap();
    let before = ["user one", "agent one"];
    with(serve(), async |peer| {
        let load = peer.request("session/load", again(&session, "/repo")).await;
        let error = peer.response(load).await["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&format!("byte {begins} of {}", journal.display())), "{message}");
        assert_eq!(short(&peer.updates()), before);
        assert_eq!(peer.call("session/list", json!({})).await["sessions"][0]["sessionId"], *session);
    })
    .await;
    let repaired = FileStore::repair(directory.path()).unwrap();
    assert!(repaired.len() == 1 && repaired[0].is_sound(), "{repaired:?}");
    assert_eq!(std::fs::metadata(&journal).unwrap().len(), begins as u64);
    with(serve(), async |peer| {
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(short(&peer.updates()), before);
        peer.prompt(&session, "more").await;
    })
    .await;
    std::fs::write(&journal, text.replace("two", "TWO")).unwrap();
    with(serve(), async |peer| {
        assert_eq!(peer.refused("session/resume", again(&session, "/repo")).await, -32603);
        peer.call("session/delete", json!({ "sessionId": session })).await;
        assert_eq!(peer.call("session/list", json!({})).await["sessions"], json!([]));
    })
    .await;
}

fn select(now: &str) -> SessionConfigOption {
    let values =
        [SessionConfigSelectOption::new("ask", "Ask"), SessionConfigSelectOption::new("code", "Code")];
    SessionConfigOption::select("mode", "Mode", now, values.to_vec())
        .category(SessionConfigOptionCategory::Mode)
}

#[tokio::test(start_paused = true)]
async fn cfg_09_mode_01_the_option_shows_the_mode_wherever_that_comes_from() {
    let store = Arc::new(Moody::default());
    let header = SessionHeader::new("old", "/repo");
    store.create(&header).await.unwrap();
    // From a time when the agent had no such option.
    let code = json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" });
    store.append(&header.session_id, &[RawJson::encode(&code).unwrap()]).await.unwrap();
    let agent = agent(async |turn: Turn| {
        let text = turn.text();
        let entered = turn.update(CurrentModeUpdate::new(&*text)).await;
        turn.say(if entered.is_ok() { "entered" } else { "refused" }).await?;
        Ok(StopReason::EndTurn)
    });
    let agent = agent.config_options([select("code")]).modes(modes()).shared_store(store.clone());
    with(agent, async |peer| {
        let value = |options: &Value| options[0]["currentValue"].as_str().unwrap().to_owned();
        let new = peer.call("session/new", json!({ "cwd": "/repo", "mcpServers": [] })).await;
        assert_eq!((&*value(&new["configOptions"]), &new["modes"]["currentModeId"]), ("ask", &json!("ask")));
        let old = peer.call("session/resume", again("old", "/repo")).await;
        assert_eq!(
            (&*value(&old["configOptions"]), &old["modes"]["currentModeId"]),
            ("code", &json!("code"))
        );
        peer.prompt("old", "ask").await;
        let updates = peer.updates();
        assert_eq!(short(&updates), ["current_mode_update", "config_option_update", "agent entered"]);
        assert_eq!(value(&updates[1]["configOptions"]), "ask");
        peer.prompt("old", "nope").await;
        assert_eq!(short(&peer.updates()), ["agent refused"], "there is no such mode");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_not_called_with_other_arguments_than_those_that_were_given() {
    let agent = agent(async |turn: Turn| {
        let unwritable = HashMap::from([((1, 2), 3)]);
        let called = turn.call_tool("none", unwritable).await;
        turn.say(called.unwrap_err().to_string()).await?;
        Ok(StopReason::EndTurn)
    });
    play(agent, async |peer| {
        peer.initialize(json!({})).await;
        let session = peer.open("/repo").await;
        peer.prompt(&session, "go").await;
        let said = peer.updates().pop().unwrap();
        let why = said["content"]["text"].as_str().unwrap();
        assert!(why.contains("key must be a string"), "{why}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn term_04_terminal_whose_caller_is_gone_is_released() {
    let agent = agent(async |turn: Turn| {
        let terminal = turn.terminal(CreateTerminalRequest::new(turn.session_id(), "ls"));
        assert!(tokio::time::timeout(Duration::from_secs(1), terminal).await.is_err());
        turn.say("gave up").await?;
        tokio::time::sleep(Duration::from_secs(60)).await;
        turn.say("later").await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "go").await;
        let create = peer.asked("terminal/create").await;
        peer.told("agent_message_chunk").await;
        peer.answer(&create, json!({ "terminalId": "t" })).await;
        for method in ["terminal/kill", "terminal/release"] {
            let asked = peer.next().await;
            assert_eq!(asked["method"], method, "{asked}");
            peer.answer(&asked, json!({})).await;
        }
        assert_eq!(peer.stopped(prompt).await, "end_turn");
    })
    .await;
}
