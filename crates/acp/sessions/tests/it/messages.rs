//! The conversation as messages for a model.

use std::sync::{Arc, Mutex};

use agentwire_acp_sessions::schema::{Content, Diff, StopReason, ToolCall, ToolCallStatus, ToolCallUpdate};
use agentwire_acp_sessions::{
    MemoryStore, Message, SessionAgent, SessionHeader, SessionStore, Turn, TurnError, agent,
};
use agentwire_jsonrpc::RawJson;
use serde_json::{Value, json};

use crate::peer::{again, with};

/// The messages that the last prompt `show` has returned.
type Shown = Arc<Mutex<Vec<Message>>>;

/// An agent that follows the prompt: it sends updates of a turn, or returns the messages so far.
fn scripted(shown: &Shown) -> SessionAgent {
    let shown = shown.clone();
    agent(move |turn: Turn| {
        let shown = shown.clone();
        async move {
            let text = turn.text();
            match text.split_once(' ').unwrap_or((&text, "")) {
                ("steps", _) => steps(&turn).await?,
                ("parallel", _) => parallel(&turn).await?,
                ("say", words) => turn.say(words).await?,
                ("hang", _) => {
                    turn.update(ToolCall::new("hanging", "Hang on!").status(ToolCallStatus::InProgress))
                        .await?;
                    turn.cancelled().await;
                    let messages = turn.messages().await;
                    assert!(matches!(messages, Err(TurnError::Cancelled)), "a loop around a model ends");
                    return Err(TurnError::Cancelled.into());
                }
                ("fit", bytes) => {
                    let bytes = bytes.parse().expect("a number");
                    *shown.lock().unwrap() = turn.messages().byte_limit(bytes).await?;
                }
                _ => {
                    turn.update(ToolCall::new("running", "").name("now")).await?;
                    *shown.lock().unwrap() = turn.messages().await?;
                }
            }
            Ok(StopReason::EndTurn)
        }
    })
}

/// Two calls, of which the second follows from the result of the first.
async fn steps(turn: &Turn) -> Result<(), TurnError> {
    turn.think("Which ").await?;
    turn.think("file?").await?;
    turn.say("I ").await?;
    turn.say("look.").await?;
    turn.update(ToolCall::new("one", "Read a").name("read").raw_input(json!({ "path": "/a" }))).await?;
    turn.update(ToolCallUpdate::new("one").content([Content::from("half")])).await?;
    let done = ToolCallUpdate::new("one").status(ToolCallStatus::Completed);
    turn.update(done.content([Content::from("whole"), Content::from("text")])).await?;
    turn.update(ToolCall::new("two", "Write /a").raw_input(json!("b"))).await?;
    turn.update(ToolCallUpdate::new("two").status(ToolCallStatus::Completed).content([Diff::new("/a", "b")]))
        .await?;
    turn.say("Done.").await?;
    turn.think("Well.").await?;
    turn.say("Really.").await
}

/// Two calls at once, of which one fails and one has only raw output.
async fn parallel(turn: &Turn) -> Result<(), TurnError> {
    turn.update(ToolCall::new("x", "").name("x").raw_input(json!({ "n": 1 }))).await?;
    turn.update(ToolCall::new("y", "").name("y")).await?;
    let raw = json!({ "structuredContent": { "sum": 2 } });
    turn.update(ToolCallUpdate::new("x").status(ToolCallStatus::Completed).raw_output(raw)).await?;
    turn.update(ToolCallUpdate::new("y").status(ToolCallStatus::Failed)).await
}

/// The messages as JSON, in short.
fn brief(messages: &[Message]) -> Value {
    let message = |message: &Message| match message {
        Message::User(user) => json!(["user", user.text()]),
        Message::Assistant(said) => {
            let call = |call: &agentwire_acp_sessions::ToolUse| {
                let result = (call.result.is_error(), call.result.text());
                json!([call.id, call.name, call.arguments, result])
            };
            json!([said.text, said.thoughts, said.tool_uses.iter().map(call).collect::<Vec<_>>()])
        }
        _ => panic!("a message of a new kind"),
    };
    messages.iter().map(message).collect()
}

const RUNNING: &str = "[the call has not ended: no result]";

#[tokio::test(start_paused = true)]
async fn the_updates_are_merged_into_messages_and_each_call_has_its_result() {
    let shown = Shown::default();
    with(scripted(&shown), async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "steps").await;
        peer.prompt(&session, "parallel").await;
        let prompt = json!([
            { "type": "text", "text": "show" },
            { "type": "resource_link", "name": "a", "uri": "file:///a" },
        ]);
        peer.call("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
        let expected = json!([
            ["user", "steps"],
            ["I look.", "Which file?", [["one", "read", { "path": "/a" }, [false, "whole\ntext"]]]],
            ["", "", [["two", "Write__a", { "input": "b" }, [false, "[/a]\nb"]]]],
            ["Done.\n\nReally.", "Well.", []],
            ["user", "parallel"],
            ["", "", [
                ["x", "x", { "n": 1 }, [false, r#"{"structuredContent":{"sum":2}}"#]],
                ["y", "y", {}, [true, "failed"]],
            ]],
            ["user", "show\n[a](file:///a)"],
            ["", "", [["running", "now", {}, [true, RUNNING]]]],
        ]);
        assert_eq!(brief(&shown.lock().unwrap()), expected);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn result_of_a_cancelled_call_has_the_reason() {
    let shown = Shown::default();
    with(scripted(&shown), async |peer| {
        let session = peer.open("/repo").await;
        let prompt = peer.begin_prompt(&session, "hang").await;
        peer.told("tool_call").await;
        peer.cancel(&session).await;
        assert_eq!(peer.stopped(prompt).await, "cancelled");
        peer.prompt(&session, "show").await;
        let messages = brief(&shown.lock().unwrap());
        assert_eq!(messages[1], json!(["", "", [["hanging", "Hang_on_", {}, [true, "cancelled"]]]]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn result_of_a_call_that_the_agent_did_not_finish_has_the_reason() {
    let store = MemoryStore::new();
    store.create(&SessionHeader::new("s", "/repo")).await.unwrap();
    let records = [
        // From before chunks had ids, and with something that is not an update.
        json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "go" } }),
        json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "rawInput": null }),
        json!({ "nonsense": true }),
    ];
    store.append(&"s".into(), &records.map(RawJson::from)).await.unwrap();
    let shown = Shown::default();
    with(scripted(&shown).store(store), async |peer| {
        peer.call("session/load", again("s", "/repo")).await;
        peer.prompt("s", "show").await;
        let messages = brief(&shown.lock().unwrap());
        assert_eq!(
            messages[1],
            json!(["", "", [["c", "t", {}, [true, "the agent ended before it was done"]]]])
        );
        assert_eq!(messages[2], json!(["user", "show"]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_limit_keeps_the_newest_whole_turns_and_always_the_one_that_runs() {
    let shown = Shown::default();
    with(scripted(&shown), async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "say first").await; // 64 + 64 + 9 bytes, and 64 + 5
        peer.prompt(&session, "say next").await; // 64 + 64 + 8 bytes, and 64 + 4
        let mut fit = async |bytes: usize| {
            peer.prompt(&session, &format!("fit {bytes}")).await; // 64 + 64 + 7 bytes each time
            let kept = std::mem::take(&mut *shown.lock().unwrap());
            kept.len()
        };
        assert_eq!(fit(545).await, 5, "three turns: 206, 204 and 135 bytes");
        assert_eq!(fit(679).await, 4, "the first turn would be a byte too much");
        assert_eq!(fit(200).await, 1, "not the half of a turn");
        assert_eq!(fit(0).await, 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn answer_of_white_space_is_left_out() {
    let shown = Shown::default();
    with(scripted(&shown), async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "say  \n").await;
        peer.prompt(&session, "show").await;
        let messages = brief(&shown.lock().unwrap());
        assert_eq!(messages.as_array().unwrap().len(), 3);
        assert_eq!((&messages[0][0], &messages[1][0]), (&json!("user"), &json!("user")));
    })
    .await;
}

#[cfg(feature = "v2")]
#[tokio::test(start_paused = true)]
async fn a_session_of_version_2_has_the_same_messages() {
    use crate::v2;

    let shown = Shown::default();
    v2::with(scripted(&shown), async |peer| {
        let session = peer.open("/").await;
        v2::prompt(peer, &session, "steps").await;
        v2::begin(peer, &session, "hang").await;
        while peer.told("tool_call_update").await["status"] != "in_progress" {}
        peer.cancel(&session).await;
        v2::until_idle(peer).await;
        v2::prompt(peer, &session, "show").await;
        let messages = brief(&shown.lock().unwrap());
        assert_eq!(messages[1][2], json!([["one", "read", { "path": "/a" }, [false, "whole\ntext"]]]));
        assert_eq!(messages[5], json!(["", "", [["hanging", "Hang_on_", {}, [true, "cancelled"]]]]));
        assert_eq!(messages.as_array().unwrap().len(), 8);
    })
    .await;
}
