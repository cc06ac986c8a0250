//! Turns of version 2 and their end, which the answer to the prompt is not.

use std::time::Duration;

use agentwire_acp_client::CallError;
use agentwire_acp_client::v2::TurnEvent;
use agentwire_acp_schema::v2::*;
use futures::{FutureExt, StreamExt, join};
use serde_json::json;

use super::recorder::{Recorder, begin};
use crate::check_v2;

/// The kind of an event, in a word.
fn word(event: Result<TurnEvent, CallError>) -> String {
    match event {
        Ok(TurnEvent::Update(update)) => {
            let update = json!(update);
            let more = update["content"]["text"].as_str().or(update["state"].as_str()).unwrap_or_default();
            format!("{} {more}", update["sessionUpdate"].as_str().unwrap()).trim_end().to_owned()
        }
        Ok(TurnEvent::Stopped(stopped)) => format!("stopped {}", stopped.stop_reason().unwrap().word()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// The turn ends when the agent is idle, with everything handled before.
#[tokio::test(start_paused = true)]
async fn a_turn_ends_with_the_idle_state() {
    let client = Recorder::default();
    check_v2!("TURN-whole", &client, async |agent| {
        let session = begin(&agent).await?;
        let turn = agent.prompt(PromptRequest::new(&session, "go")).await?;
        assert_eq!(turn.stop_reason(), Some(&IdleStopReason::EndTurn));
        assert_eq!(turn.message_id.unwrap(), "m-1");
        let heard = client.heard();
        assert_eq!(
            heard,
            [
                "session-1 user_message",
                "session-1 state_update running",
                "session-2 state_update idle",
                "session-1 agent_message_chunk one",
                "asked session-1 plain",
                "session-1 state_update requires_action",
                "session-1 state_update running",
                "session-1 state_update idle",
            ]
        );
        // A failure is how a turn ends, too.
        let turn = agent.prompt(PromptRequest::new(&session, "fail")).await?;
        let Some(IdleStopReason::Error(reason)) = turn.stop_reason() else { panic!("{turn:?}") };
        assert_eq!(reason.error.as_ref().unwrap().code, -32000);
        Ok(())
    })
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_its_updates_and_its_end() {
    check_v2!("TURN-stream", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        let mut events = Vec::new();
        while let Some(event) = turn.next().await {
            events.push(word(event));
        }
        assert_eq!(
            events,
            [
                "user_message",
                "state_update running",
                "agent_message_chunk one",
                "zzz_update",
                "state_update idle",
                "stopped max_tokens"
            ]
        );
        // Everything in one go, and the answer last.
        let turn = agent.prompt(PromptRequest::new(&session, "again")).updates();
        let events: Vec<_> = turn.map(word).collect().await;
        assert_eq!(events.last().unwrap(), "stopped end_turn");
        assert_eq!(events.len(), 4, "{events:?}");
        // What is refused, there or here.
        let turn = agent.prompt(PromptRequest::new(&session, "no")).updates();
        let events: Vec<_> = turn.map(word).collect().await;
        assert!(events.len() == 1 && events[0].contains("refused"), "{events:?}");
        let turn = agent.prompt(PromptRequest::new(&session, Vec::new())).updates();
        let events: Vec<_> = turn.map(word).collect().await;
        assert_eq!(events, ["error: session/prompt: a prompt has at least one block"]);
        Ok(())
    })
    .unwrap();
}

/// A turn that is dropped, or whose time is over, is cancelled: before its message is taken in both ways, after that in
/// the one that is left. One that has ended is not.
#[tokio::test(start_paused = true)]
async fn a_dropped_turn_is_cancelled() {
    let client = Recorder::default();
    check_v2!("TURN-dropped", &client, async |agent| {
        let session = begin(&agent).await?;
        let prompt = |text: &str| agent.prompt(PromptRequest::new(&session, text));
        futures::select! {
            turn = prompt("before").fuse() => panic!("{turn:?}"),
            () = client.until(1).fuse() => {}
        }
        futures::select! {
            turn = prompt("after").fuse() => panic!("{turn:?}"),
            () = client.until(3).fuse() => {}
        }
        let error = prompt("late").timeout(Duration::from_secs(30)).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        assert_eq!(error.to_string(), "session/prompt: no answer within 30s");
        let mut turn = prompt("whole").timeout(Duration::from_secs(30)).updates();
        while let Some(event) = turn.next().await {
            if word(event) == "state_update idle" {
                break;
            }
        }
        // Its end has been received, though not read.
        drop(turn);
        drop(prompt("never polled"));
        Ok(())
    })
    .unwrap();
}

/// An agent that goes away in the middle: before its answer and after it.
#[tokio::test(start_paused = true)]
async fn a_turn_whose_agent_leaves() {
    check_v2!("TURN-agent-leaves", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        let events: Vec<_> = turn.map(word).collect().await;
        assert_eq!(events, ["user_message", "state_update running", "error: the call has no answer"]);
        assert!(agent.is_closed());
        Ok(())
    })
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_nobody_reads_is_bounded() {
    check_v2!("TURN-overflow", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates().limit(2);
        assert!(turn.next().now_or_never().is_none());
        agent.prompt(PromptRequest::new("session-2", "other")).await?;
        let events: Vec<_> = turn.map(word).collect().await;
        let why =
            "error: session/prompt: more than 2 updates of the turn wait to be read, which is the limit";
        assert_eq!(events, ["user_message", "state_update running", why]);
        Ok(())
    })
    .unwrap();
}

/// Cancelling leaves permission requests to the agent, which takes them back. The turn ends as cancelled.
#[tokio::test(start_paused = true)]
async fn permissions_are_taken_back_by_the_agent() {
    let client = Recorder::default();
    check_v2!("TURN-cancelled", &client, async |agent| {
        let session = begin(&agent).await?;
        let cancel = async {
            client.until(3).await;
            agent.cancel(CancelSessionNotification::new(&session)).await.unwrap();
        };
        let (turn, ()) = join!(agent.prompt(PromptRequest::new(&session, "go")), cancel);
        assert_eq!(turn?.stop_reason(), Some(&IdleStopReason::Cancelled));
        Ok(())
    })
    .unwrap();
    assert_eq!(
        client.heard(),
        [
            "session-1 user_message",
            "session-1 state_update running",
            "asked session-1 wait",
            "dropped wait",
            "session-1 state_update idle"
        ]
    );
}

/// A prompt that is added to work that goes on ends with it, and not with what was done before.
#[tokio::test(start_paused = true)]
async fn a_turn_in_a_session_that_is_busy() {
    check_v2!("TURN-busy", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut one = agent.prompt(PromptRequest::new(&session, "one")).updates();
        assert_eq!(word(one.next().await.unwrap()), "user_message");
        assert_eq!(word(one.next().await.unwrap()), "state_update running");
        let (one, two) = join!(
            one.map(word).collect::<Vec<_>>(),
            agent.prompt(PromptRequest::new(&session, "two")).updates().map(word).collect::<Vec<_>>()
        );
        assert_eq!(one, ["state_update idle", "stopped end_turn"]);
        assert_eq!(
            two,
            [
                "state_update idle",
                "user_message",
                "state_update running",
                "state_update idle",
                "stopped refusal"
            ]
        );
        Ok(())
    })
    .unwrap();
}

/// A turn is dropped after its answer or its end has come, and before anybody has looked at either.
#[tokio::test(start_paused = true)]
async fn a_turn_is_dropped_unread() {
    check_v2!("TURN-dropped-unread", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        for text in ["go", "whole", "refused"] {
            let mut turn = agent.prompt(PromptRequest::new(&session, text)).updates();
            assert!(turn.next().now_or_never().is_none());
            agent.prompt(PromptRequest::new("session-2", "other")).await?;
            drop(turn);
        }
        Ok(())
    })
    .unwrap();
}

/// Agents that do not tell all that they should, and what looks like an end and is none.
#[tokio::test(start_paused = true)]
async fn agents_that_skip_what_comes_before_the_end() {
    check_v2!("TURN-skipping", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        for (text, reason) in [
            ("bare", Some(IdleStopReason::EndTurn)),
            ("background", Some(IdleStopReason::Refusal)),
            ("bare", None),
            ("early", Some(IdleStopReason::MaxTokens)),
        ] {
            let turn =
                agent.prompt(PromptRequest::new(&session, text)).timeout(Duration::from_secs(9)).await?;
            assert_eq!(turn.stop_reason(), reason.as_ref());
        }
        Ok(())
    })
    .unwrap();
}

/// An agent's message behind its answer shows that it works, whatever state it has sent before.
#[tokio::test(start_paused = true)]
async fn an_agent_that_speaks_behind_its_answer_may_be_silent_for_long() {
    check_v2!("TURN-silent", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let later = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            agent.extension_request::<_, [(); 0]>("_more", &[(); 0]).await
        };
        let (turn, later) = join!(agent.prompt(PromptRequest::new(&session, "go")), later);
        later?;
        assert_eq!(turn?.stop_reason(), Some(&IdleStopReason::EndTurn));
        Ok(())
    })
    .unwrap();
}

/// Nothing more comes from a session that is closed, so nothing more is waited for.
#[tokio::test(start_paused = true)]
async fn a_turn_ends_when_its_session_is_closed() {
    let client = Recorder::default();
    check_v2!("TURN-closed", &client, async |agent| {
        let session = begin(&agent).await?;
        let close = async {
            client.until(2).await;
            agent.close_session(CloseSessionRequest::new(&session)).await
        };
        let turn = agent.prompt(PromptRequest::new(&session, "go")).timeout(Duration::from_secs(9));
        let (turn, closed) = join!(turn, close);
        closed?;
        assert!(matches!(turn, Err(CallError::Unusable { .. })), "{turn:?}");
        Ok(())
    })
    .unwrap();
}

/// A session that never falls silent does not put off the end of a turn.
#[tokio::test(start_paused = true)]
async fn a_turn_ends_while_its_session_goes_on() {
    check_v2!("TURN-never-quiet", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let mut turn = agent.prompt(PromptRequest::new(&session, "go")).updates();
        let mut events = Vec::new();
        while let Some(event) = turn.next().await {
            if matches!(event, Ok(TurnEvent::Update(_))) {
                let [] = agent.extension_request::<_, [(); 0]>("_more", &[(); 0]).await?;
            }
            events.push(word(event));
        }
        let end = ["state_update idle", "stopped end_turn"];
        assert_eq!(events[3..], end);
        Ok(())
    })
    .unwrap();
}
