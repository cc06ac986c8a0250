//! A client of version 2, which the same closure and the same store serve. Everything that the agent sends is checked by the
//! schema of version 2.

use agentwire_acp_sessions::schema::{
    AuthMethodAgent, AvailableCommand, Diff, PermissionOption, PermissionOptionKind, PlanEntry,
    PlanEntryPriority, PlanEntryStatus, ProtocolVersion, RequestPermissionOutcome, SessionConfigOption,
    SessionConfigOptionValue, SessionMode, SessionModeState, StopReason, ToolCall, ToolCallStatus,
    ToolCallUpdate, UsageUpdate,
};
use agentwire_acp_sessions::{Auth, SessionAgent, Turn, TurnError, agent};
use serde_json::{Value, json};

use crate::peer::{Peer, capable, play};
use crate::played::Played;

/// Serves an agent to a client of version 2, with `initialize` done.
pub(crate) async fn with(agent: SessionAgent, client: impl AsyncFnOnce(&mut Peer)) {
    play(agent.v2(true), async |peer| {
        let result = peer.call("initialize", hello(2)).await;
        assert_eq!(result["protocolVersion"], 2, "{result}");
        client(peer).await;
    })
    .await;
}

fn hello(version: u16) -> Value {
    json!({ "protocolVersion": version, "info": { "name": "c", "version": "1" }, "capabilities": {} })
}

/// Sends a prompt.
pub(crate) async fn begin(peer: &mut Peer, session: &str, text: &str) -> u64 {
    let prompt = json!([{ "type": "text", "text": text }]);
    peer.request("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
}

/// All messages up to the state `idle`, in order.
pub(crate) async fn until_idle(peer: &mut Peer) -> Vec<Value> {
    let mut messages = Vec::new();
    loop {
        messages.push(peer.next().await);
        if messages.last().unwrap()["params"]["update"]["state"] == "idle" {
            return messages;
        }
    }
}

/// A whole turn.
pub(crate) async fn prompt(peer: &mut Peer, session: &str, text: &str) -> Vec<Value> {
    begin(peer, session, text).await;
    until_idle(peer).await
}

/// The messages, in short.
pub(crate) fn brief(messages: &[Value]) -> Vec<String> {
    let brief = |message: &Value| {
        let update = &message["params"]["update"];
        let Some(kind) = update["sessionUpdate"].as_str() else {
            let method = message["method"].as_str();
            let answer = if message.get("error").is_some() { "error" } else { "answer" };
            return method.unwrap_or(answer).to_owned();
        };
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        match kind {
            "state_update" if update["stopReason"].is_string() => {
                format!("{} {}", word(&update["state"]), word(&update["stopReason"]))
            }
            "state_update" => word(&update["state"]),
            "tool_call_update" => format!("tool {}", word(&update["status"])),
            "user_message" => format!("user {}", word(&update["content"][0]["text"])),
            "user_message_chunk" => format!("user {}", word(&update["content"]["text"])),
            "agent_message_chunk" => format!("agent {}", word(&update["content"]["text"])),
            "agent_thought_chunk" => format!("thought {}", word(&update["content"]["text"])),
            kind => kind.to_owned(),
        }
    };
    messages.iter().map(brief).collect()
}

/// Calls the tool that the prompt names, and repeats what it returned.
fn caller() -> (SessionAgent, Played) {
    let played = Played::new(&[("look", "Looks")]);
    let agent = agent(async |turn: Turn| {
        let result = turn.call_tool(turn.text(), json!({ "at": 1 })).await?;
        turn.say(result.text().into_owned()).await?;
        Ok(StopReason::EndTurn)
    });
    (agent.mcp_server(played.config("eyes")), played)
}

#[tokio::test(start_paused = true)]
async fn a_turn_with_a_tool_call_and_a_permission() {
    let (agent, played) = caller();
    with(agent, async |peer| {
        let session = peer.open("/").await;
        let id = begin(peer, &session, "look").await;
        let asked = peer.asked("session/request_permission").await;
        let question = &asked["params"];
        assert_eq!(question["sessionId"], session.as_str());
        assert_eq!(question["title"], "eyes: look");
        assert_eq!(question["subject"]["type"], "tool_call");
        let call = &question["subject"]["toolCall"];
        assert_eq!((&call["rawInput"], &call["kind"]), (&json!({ "at": 1 }), &json!("other")));
        let names: Vec<_> =
            question["options"].as_array().unwrap().iter().map(|option| &option["optionId"]).collect();
        assert_eq!(names, ["allow-once", "reject-once", "allow-always", "reject-always"]);
        let answer = json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } });
        peer.answer(&asked, answer).await;
        let messages = until_idle(peer).await;
        let whole = [
            "user look",
            "answer",
            "running",
            "tool pending",
            "tool in_progress",
            "tool completed",
            "agent done",
            "idle end_turn",
        ];
        assert_eq!(brief(&messages), whole);
        let message = &messages[0]["params"]["update"]["messageId"];
        assert_eq!(messages[1], json!({ "jsonrpc": "2.0", "id": id, "result": { "messageId": message } }));
        let begun = &messages[3]["params"]["update"];
        assert_eq!((&begun["title"], &begun["name"]), (&json!("eyes: look"), &json!("look")));
        let ended = &messages[5]["params"]["update"];
        let content = json!([{ "type": "content", "content": { "type": "text", "text": "done" } }]);
        assert_eq!((&ended["toolCallId"], &ended["content"]), (&begun["toolCallId"], &content));
    })
    .await;
    assert_eq!(played.calls(), [("look".into(), "Looks".into())]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_withdraws_the_question_and_ends_the_turn() {
    let (agent, played) = caller();
    with(agent, async |peer| {
        let session = peer.open("/").await;
        begin(peer, &session, "look").await;
        let asked = peer.asked("session/request_permission").await;
        peer.cancel(&session).await;
        let messages = until_idle(peer).await;
        let end = ["tool pending", "$/cancel_request", "tool cancelled", "idle cancelled"];
        let came: Vec<_> = brief(&messages).split_off(3);
        assert!(end.iter().all(|one| came.iter().any(|came| came == one)), "{came:?}");
        let withdrawn = messages.iter().find(|message| message["method"] == "$/cancel_request").unwrap();
        assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
        // The session takes the next prompt.
        begin(peer, &session, "nothing").await;
        assert_eq!(brief(&until_idle(peer).await)[..3], ["user nothing", "answer", "running"]);
    })
    .await;
    assert_eq!(played.calls(), []);
}

#[tokio::test(start_paused = true)]
async fn closing_ends_the_turn_first_and_nothing_comes_afterwards() {
    let endless = agent(async |turn: Turn| {
        turn.say("begun").await?;
        turn.cancelled().await;
        turn.say("late").await?;
        Ok(StopReason::EndTurn)
    });
    with(endless, async |peer| {
        let session = peer.open("/").await;
        begin(peer, &session, "go").await;
        peer.told("agent_message_chunk").await;
        let close = peer.request("session/close", json!({ "sessionId": session })).await;
        let messages = until_idle(peer).await;
        assert_eq!(brief(&messages), ["user go", "answer", "running", "agent late", "idle cancelled"]);
        let closed = peer.next().await;
        assert_eq!((&closed["id"], closed.get("result").is_some()), (&json!(close), true));
        let id = begin(peer, &session, "more").await;
        let refused = peer.response(id).await;
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
        assert_eq!(refused["error"]["data"]["sessionId"], session.as_str(), "{refused}");
        peer.silence().await;
        for session in [&*session, "nope"] {
            let again = peer.call("session/close", json!({ "sessionId": session })).await;
            assert_eq!(again, json!({}), "closing what is not open succeeds");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn prompts_of_one_session_wait_for_each_other() {
    let slow = agent(async |turn: Turn| {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        turn.say(turn.text()).await?;
        Ok(StopReason::EndTurn)
    });
    with(slow, async |peer| {
        let session = peer.open("/").await;
        for text in ["1", "2", "3"] {
            begin(peer, &session, text).await;
        }
        let mut all = Vec::new();
        while all.iter().filter(|one: &&String| one.starts_with("agent")).count() < 3 {
            all.extend(brief(&[peer.next().await]));
        }
        let said: Vec<_> =
            all.iter().filter(|one| one.starts_with("agent") || one.starts_with("user")).collect();
        assert_eq!(said, ["user 1", "agent 1", "user 2", "agent 2", "user 3", "agent 3"]);
        until_idle(peer).await;
        // One that waits is withdrawn before it is part of the conversation.
        begin(peer, &session, "4").await;
        peer.told("user_message").await;
        let waiting = begin(peer, &session, "5").await;
        peer.cancel(&session).await;
        assert_eq!(peer.response(waiting).await["error"]["code"], -32800);
        assert!(!brief(&until_idle(peer).await).contains(&"user 5".to_owned()));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn updates_of_a_turn_are_converted_to_version_2() {
    let agent = agent(async |turn: Turn| {
        turn.think("hm").await?;
        turn.plan([PlanEntry::new("look", PlanEntryPriority::High, PlanEntryStatus::Pending)]).await?;
        turn.title("a title".to_owned()).await?;
        turn.usage(UsageUpdate::new(1, 2)).await?;
        turn.update(ToolCall::new("t", "Edit").content([Diff::new("/a", "new\n").old_text("old\n")])).await?;
        let options = [PermissionOption::new("y", "Yes", PermissionOptionKind::AllowOnce)];
        let outcome = turn.request_permission(ToolCallUpdate::new("t").title("Edit"), options).await?;
        assert!(matches!(outcome, RequestPermissionOutcome::Selected(_)));
        turn.update(ToolCallUpdate::new("t").status(ToolCallStatus::Completed)).await?;
        let refused = turn.update(ToolCall::new("u", "Edit").content([Diff::new("relative", "")])).await;
        assert!(matches!(refused, Err(TurnError::Call(_))), "{refused:?}");
        assert_eq!(turn.client().protocol_version(), ProtocolVersion::V2);
        assert!(turn.client().capabilities().unwrap().terminal);
        Ok(StopReason::MaxTokens)
    });
    with(agent, async |peer| {
        let session = peer.open("/").await;
        begin(peer, &session, "go").await;
        let asked = peer.asked("session/request_permission").await;
        peer.answer(&asked, json!({ "outcome": { "outcome": "selected", "optionId": "y" } })).await;
        let messages = until_idle(peer).await;
        let updates: Vec<_> = messages.iter().map(|message| &message["params"]["update"]).collect();
        let plan = json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "plan",
            "entries": [{ "content": "look", "priority": "high", "status": "pending" }] } });
        assert!(updates.contains(&&plan), "{updates:?}");
        let title = json!({ "sessionUpdate": "session_info_update", "title": "a title" });
        assert!(updates.contains(&&title), "{updates:?}");
        let usage = json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 });
        assert!(updates.contains(&&usage), "{updates:?}");
        let call = updates.iter().find(|update| update["title"] == "Edit").unwrap();
        let patch = "diff --git /a /a\n--- /a\n+++ /a\n@@ -1,1 +1,1 @@\n-old\n+new\n";
        let change = json!({ "operation": "modify", "path": "/a", "fileType": "text" });
        let diff =
            json!({ "type": "diff", "changes": [change], "patch": { "format": "git_patch", "text": patch } });
        assert_eq!(call["content"], json!([diff]));
        assert_eq!(brief(&messages).last().unwrap(), "idle max_tokens");
    })
    .await;
}

fn modes() -> SessionModeState {
    SessionModeState::new("act", [SessionMode::new("act", "Act"), SessionMode::new("plan", "Plan")])
}

#[tokio::test(start_paused = true)]
async fn an_option_shows_the_mode() {
    let moded = agent(async |turn: Turn| {
        turn.say(format!("{} {:?}", turn.mode().unwrap(), turn.option("loud"))).await?;
        turn.set_mode("act").await?;
        Ok(StopReason::EndTurn)
    });
    let loud = SessionConfigOption::boolean("loud", "Loud", false);
    let moded = moded.modes(modes()).config_options([loud]).commands([AvailableCommand::new("x", "X")]);
    with(moded, async |peer| {
        let opened = peer.call("session/new", json!({ "cwd": "/" })).await;
        let options = &opened["configOptions"];
        assert_eq!((&options[0]["configId"], &options[0]["category"]), (&json!("mode"), &json!("mode")));
        assert_eq!((&options[0]["currentValue"], &options[1]["type"]), (&json!("act"), &json!("boolean")));
        assert_eq!(opened["availableCommands"][0]["name"], "x");
        let session = opened["sessionId"].as_str().unwrap().to_owned();
        let set = json!({ "sessionId": session, "configId": "mode", "type": "id", "value": "plan" });
        let set = peer.call("session/set_config_option", set).await;
        assert_eq!(set["configOptions"][0]["currentValue"], "plan");
        let bad = json!({ "sessionId": session, "configId": "mode", "type": "id", "value": "none" });
        assert_eq!(peer.refused("session/set_config_option", bad).await, -32602);
        let messages = prompt(peer, &session, "mode?").await;
        let no = Some(SessionConfigOptionValue::Boolean(false));
        assert!(brief(&messages).contains(&format!("agent plan {no:?}")), "{:?}", brief(&messages));
        let changed = messages.iter().map(|message| &message["params"]["update"]);
        let changed: Vec<_> = changed.filter(|update| update.get("configOptions").is_some()).collect();
        assert_eq!(changed.len(), 1);
        assert_eq!(changed[0]["configOptions"][0]["currentValue"], "act");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn logging_in_and_out() {
    let locked = agent(async |_: Turn| Ok(StopReason::EndTurn));
    let auth = Auth::new([AuthMethodAgent::new("key", "Key")]).on_authenticate(|_| async { Ok(()) });
    with(locked.auth(auth), async |peer| {
        let new = json!({ "cwd": "/" });
        assert_eq!(peer.refused("session/new", new.clone()).await, -32000);
        peer.call("auth/login", json!({ "methodId": "key" })).await;
        peer.call("session/new", new.clone()).await;
        peer.call("auth/logout", json!({})).await;
        assert_eq!(peer.refused("session/new", new).await, -32000);
    })
    .await;
}

#[test]
fn serving_both_versions_can_be_spawned() {
    fn is_send<T: Send>(_: T) {}
    let (near, _far) = agentwire_transport::duplex(1);
    is_send(agent(async |_: Turn| Ok(StopReason::EndTurn)).v2(true).serve(near));
}

#[tokio::test(start_paused = true)]
async fn first_initialize_selects_the_version() {
    for (offered, asked, answered) in [(true, 1, 1), (true, 2, 2), (true, 65_535, 2), (false, 2, 1)] {
        let echo = agent(async |turn: Turn| {
            turn.say(turn.client().protocol_version().to_string()).await?;
            Ok(StopReason::EndTurn)
        });
        play(echo.v2(offered), async |peer| {
            let mut params = hello(asked);
            params["clientCapabilities"] = capable();
            let result = peer.call("initialize", params).await;
            assert_eq!(result["protocolVersion"], answered, "{offered} {asked}");
            let session = peer.open("/").await;
            if answered == 1 {
                assert_eq!(peer.prompt(&session, "v?").await, "end_turn");
                assert_eq!(peer.told("agent_message_chunk").await["content"]["text"], "1");
            } else {
                let messages = prompt(peer, &session, "v?").await;
                assert!(brief(&messages).contains(&"agent 2".into()), "{messages:?}");
            }
        })
        .await;
    }
}
