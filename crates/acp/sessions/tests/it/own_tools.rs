//! Tools of the agent's own, what a question about one shows, and the errors of a turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_acp_sessions::schema::{
    Content, Diff, StopReason, ToolCall, ToolCallLocation, ToolCallUpdate, ToolKind,
};
use agentwire_acp_sessions::{Auth, Error, SessionAgent, Turn, TurnError, agent, schema::AuthMethodAgent};
use serde_json::{Value, json};

use crate::peer::{Peer, play, short, with};

async fn answer(peer: &mut Peer, kind: &str) -> Value {
    let ask = peer.asked("session/request_permission").await;
    let options = ask["params"]["options"].as_array().unwrap();
    let option = options.iter().find(|option| option["kind"] == kind).unwrap();
    let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
    peer.answer(&ask, json!({ "outcome": outcome })).await;
    ask["params"].clone()
}

/// Runs the tool in its prompt, and answers with its outcome.
fn running() -> (SessionAgent, Arc<AtomicUsize>) {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = dropped.clone();
    let agent = agent(move |turn: Turn| {
        let counter = counter.clone();
        async move {
            let call = turn.tool(format!("Do {}", turn.text())).name("do").kind(ToolKind::Edit);
            let call =
                call.input(json!({ "what": turn.text() })).locations([ToolCallLocation::new("/repo/a")]);
            let outcome = match &*turn.text() {
                "plain" => call.run(async |_| Ok(())).await.map(|()| "nothing".to_owned()),
                "steps" => {
                    let steps = async |call: agentwire_acp_sessions::RunningToolCall| {
                        call.show("half").await?;
                        call.title("Doing it").await?;
                        call.locations([ToolCallLocation::new("/repo/b")]).await?;
                        Ok(vec![Content::from("a").into(), Diff::new("/repo/b", "b").into()])
                    };
                    let content: Vec<agentwire_acp_sessions::schema::ToolCallContent> =
                        call.run(steps).await?;
                    Ok(content.len().to_string())
                }
                "fail" => {
                    let missing = || std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
                    call.run(async |_| -> Result<String, _> { Err(missing())? }).await
                }
                "hang" => {
                    let running = Dropped(counter);
                    let hang = async move |_| {
                        let _running = running;
                        std::future::pending::<()>().await;
                        Ok(String::new())
                    };
                    call.run(hang).await
                }
                "scoped" => call.scope("every edit").run(async |_| Ok("done".to_owned())).await,
                _ => call.ask().run(async |_| Ok("done".to_owned())).await,
            };
            match outcome {
                Ok(text) => turn.say(text).await?,
                Err(TurnError::NotPermitted { tool, .. }) => {
                    turn.say(format!("not permitted: {tool}")).await?
                }
                Err(TurnError::Failed(error)) => turn.say(format!("failed: {error}")).await?,
                Err(error) => return Err(error.into()),
            }
            Ok(StopReason::EndTurn)
        }
    });
    (agent, dropped)
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_the_agent_is_announced_and_its_end_is_shown() {
    with(running().0, async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "plain").await;
        let updates = peer.updates();
        let shown = [
            "tool_call pending",
            "tool_call_update in_progress",
            "tool_call_update completed",
            "agent nothing",
        ];
        assert_eq!(short(&updates), shown);
        assert!(updates[0]["toolCallId"].as_str().is_some_and(|id| !id.is_empty()));
        assert!(updates[1..3].iter().all(|update| update["toolCallId"] == updates[0]["toolCallId"]));
        assert_eq!((&updates[0]["title"], &updates[0]["name"]), (&json!("Do plain"), &json!("do")));
        assert_eq!(updates[0]["rawInput"], json!({ "what": "plain" }));
        assert_eq!(updates[2].get("content"), None);

        peer.prompt(&session, "steps").await;
        let updates = peer.updates();
        assert_eq!(updates[2]["content"][0]["content"]["text"], "half");
        assert_eq!(updates[3]["title"], "Doing it");
        assert_eq!(updates[4]["locations"][0]["path"], "/repo/b");
        assert_eq!(
            (&updates[5]["status"], &updates[5]["content"][1]["type"]),
            (&json!("completed"), &json!("diff"))
        );
        assert_eq!(short(&updates)[6], "agent 2");

        peer.prompt(&session, "fail").await;
        let updates = peer.updates();
        assert_eq!(short(&updates)[2..], ["tool_call_update failed", "agent failed: no such file"]);
        assert_eq!(updates[2]["content"][0]["content"]["text"], "no such file");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_shows_the_whole_call_and_a_rejected_tool_does_not_run() {
    with(running().0, async |peer| {
        let session = peer.open("/repo").await;
        for (kind, said) in [("reject_once", "agent not permitted: do"), ("allow_always", "agent done")] {
            let prompt = peer.begin_prompt(&session, "it").await;
            let asked = answer(peer, kind).await;
            let call = &asked["toolCall"];
            assert_eq!(
                (&call["title"], &call["name"], &call["kind"]),
                (&json!("Do it"), &json!("do"), &json!("edit"))
            );
            assert_eq!(
                (&call["rawInput"], &call["locations"][0]["path"]),
                (&json!({ "what": "it" }), &json!("/repo/a"))
            );
            assert_eq!(asked["options"][2]["name"], "Always allow: Do it");
            peer.stopped(prompt).await;
            let updates = peer.updates();
            assert_eq!(short(&updates).last().unwrap(), said);
            let began = updates.iter().any(|update| update["status"] == "in_progress");
            assert_eq!(began, kind == "allow_always");
        }
        // The answer "always" holds for the title. Another scope is asked about.
        assert_eq!(peer.prompt(&session, "it").await, "end_turn");
        let prompt = peer.begin_prompt(&session, "scoped").await;
        assert_eq!(answer(peer, "allow_once").await["options"][2]["name"], "Always allow: every edit");
        peer.stopped(prompt).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_drops_the_tool_and_the_client_sees_its_end() {
    let (agent, dropped) = running();
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "hang").await;
        while peer.told("tool_call_update").await["status"] != "in_progress" {}
        peer.cancel(&session).await;
        let ended = peer.told("tool_call_update").await;
        assert_eq!(
            (&ended["status"], &ended["content"][0]["content"]["text"]),
            (&json!("failed"), &json!("cancelled"))
        );
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        assert_eq!(peer.stopped(prompt).await, "cancelled");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_is_filled_from_the_call_and_never_overridden() {
    let agent = agent(async |turn: Turn| {
        let call = ToolCall::new("c", "Run ls").kind(ToolKind::Execute).raw_input(json!({ "command": "ls" }));
        turn.update(call.content([Content::from("soon")])).await?;
        turn.update(ToolCallUpdate::new("c").name("run")).await?;
        turn.permits("a", ToolCallUpdate::new("c")).await?;
        turn.permits("b", ToolCallUpdate::new("c").title("Mine").kind(ToolKind::Read)).await?;
        turn.permits("c", ToolCallUpdate::new("other").title("Other")).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "go").await;
        let call = answer(peer, "allow_once").await["toolCall"].clone();
        let expected = json!({
            "toolCallId": "c", "title": "Run ls", "name": "run", "kind": "execute", "rawInput": { "command": "ls" },
            "content": [{ "type": "content", "content": { "type": "text", "text": "soon" } }],
        });
        assert_eq!(call, expected);
        let call = answer(peer, "allow_once").await["toolCall"].clone();
        assert_eq!((&call["title"], &call["kind"], &call["name"]), (&json!("Mine"), &json!("read"), &json!("run")));
        let call = answer(peer, "allow_once").await["toolCall"].clone();
        assert_eq!(call, json!({ "toolCallId": "other", "title": "Other" }));
        peer.stopped(prompt).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_and_a_login_may_return_any_error() {
    let turns = agent(async |turn: Turn| {
        match &*turn.text() {
            "text" => return Err("as told".into()),
            "io" => std::fs::read("/nowhere/to/be/found").map(drop)?,
            "own" => return Err(Error::new(-32042, "as told").into()),
            "tool" => {
                turn.tool("t").run(async |_| -> Result<(), _> { Err(Error::new(-32043, "as told"))? }).await?
            }
            _ => {}
        }
        Ok(StopReason::EndTurn)
    });
    let auth = Auth::new([AuthMethodAgent::new("key", "Key")]).authenticated(true);
    let auth = auth.on_authenticate(async |_| Err(std::io::Error::other("no key"))?);
    play(turns.auth(auth), async |peer| {
        peer.initialize(json!({})).await;
        let id = peer.request("authenticate", json!({ "methodId": "key" })).await;
        let error = peer.response(id).await["error"].clone();
        assert!(error["code"] == -32603 && error.to_string().contains("no key"), "{error}");
        let session = peer.open("/repo").await;
        let rows = [
            ("text", -32603, "as told"),
            ("io", -32603, "os error 2"),
            ("own", -32042, "as told"),
            ("tool", -32043, "as told"),
        ];
        for (text, code, message) in rows {
            let id = peer.begin_prompt(&session, text).await;
            let error = peer.response(id).await["error"].clone();
            assert!(error["code"] == code && error.to_string().contains(message), "{text}: {error}");
        }
        assert_eq!(peer.prompt(&session, "nothing").await, "end_turn");
    })
    .await;
}

/// Some models number the calls of each answer from 0, so two that run at once may have one id.
#[tokio::test(start_paused = true)]
async fn a_question_shows_its_own_call_and_not_another_of_the_same_id() {
    let agent = agent(async |turn: Turn| {
        let run = async |input: &str| {
            let call =
                turn.tool(ToolCall::new("call_0", format!("Run {input}"))).input(json!({ "run": input }));
            call.ask().run(async |_| Ok(input.to_owned())).await
        };
        let _ran = futures::join!(run("one"), run("two"), run("three"));
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "go").await;
        for input in ["one", "two", "three"] {
            let asked = answer(peer, "allow_once").await;
            let call = &asked["toolCall"];
            let shown = (call["title"] == format!("Run {input}"), call["rawInput"]["run"] == input);
            assert_eq!(shown, (true, true), "{input}: {call}");
        }
        assert_eq!(peer.stopped(prompt).await, "end_turn");
    })
    .await;
}

/// A user who is not shown the input cannot judge it.
#[tokio::test(start_paused = true)]
async fn a_question_shows_its_call_however_long_that_is() {
    const LONG: usize = 5 << 20;
    let agent = agent(async |turn: Turn| {
        let call = turn.tool("Run a script").name("run").input(json!({ "script": "x".repeat(LONG) }));
        call.ask().run(async |_| Ok(())).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent.update_limit(4 * LONG), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "go").await;
        let asked = answer(peer, "allow_once").await;
        let call = &asked["toolCall"];
        assert_eq!((&call["title"], &call["name"]), (&json!("Run a script"), &json!("run")));
        assert_eq!(call["rawInput"]["script"].as_str().map(str::len), Some(LONG));
        assert_eq!(peer.stopped(prompt).await, "end_turn");
    })
    .await;
}
