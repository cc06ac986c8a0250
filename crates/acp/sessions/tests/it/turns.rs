//! Turns: their updates, and how they end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_acp_sessions::schema::{
    Cost, CreateTerminalRequest, Notice, NoticeSeverity, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionUpdate, StopReason, ToolCall, ToolCallStatus, UsageUpdate,
};
use agentwire_acp_sessions::{BoxError, Error, Turn, TurnError, agent};
use futures::FutureExt;
use serde_json::{Value, json};

use crate::peer::{again, play, short, text, with};

#[tokio::test(start_paused = true)]
async fn pr_03_a_turn_ends_for_the_reason_that_it_gives_or_with_its_error() {
    let agent = agent(async |turn: Turn| match &*turn.text() {
        "panic" => panic!("as told"),
        "fail" => Err(Error::new(-32042, "as told").into()),
        reason => Ok(StopReason::from(reason)),
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        for reason in ["end_turn", "max_tokens", "max_turn_requests", "refusal"] {
            assert_eq!(peer.prompt(&session, reason).await, reason);
        }
        for (text, code) in [("fail", -32042), ("panic", -32603)] {
            let id = peer.begin_prompt(&session, text).await;
            assert_eq!(peer.response(id).await["error"]["code"], code);
        }
        assert_eq!(peer.prompt(&session, "end_turn").await, "end_turn", "the session is free again");
    })
    .await;
}

/// An error of the author, with its cause.
#[derive(Debug, thiserror::Error)]
#[error("the step failed")]
struct StepFailed(#[source] Box<dyn std::error::Error + Send + Sync>);

fn step_failed(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StepFailed {
    StepFailed(cause.into())
}

/// An error object among the causes is the answer, unless it answers a request of the turn.
#[tokio::test(start_paused = true)]
async fn a_turn_fails_with_any_error_and_the_answer_has_its_text() {
    let agent = agent(async |turn: Turn| {
        let request = CreateTerminalRequest::new(turn.session_id(), "ls");
        match &*turn.text() {
            "text" => return Err("as told".into()),
            "io" => Err(std::io::Error::other("the disk is gone"))?,
            "object" => Err(step_failed(Error::new(-32042, "as told")))?,
            "refused" => drop(turn.terminal(request).await?),
            "wrapped" => drop(turn.terminal(request).await.map_err(step_failed)?),
            "cancelled" => Err(step_failed(TurnError::Cancelled))?,
            number => drop(number.parse::<u8>()?),
        }
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        for (text, code, message) in [
            ("text", -32603, "internal error: as told"),
            ("io", -32603, "internal error: the disk is gone"),
            ("object", -32042, "as told"),
            ("many", -32603, "internal error: invalid digit found in string"),
        ] {
            let id = peer.begin_prompt(&session, text).await;
            let error = peer.response(id).await["error"].clone();
            assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)), "{text}");
        }
        for (text, begin) in
            [("refused", "internal error: "), ("wrapped", "internal error: the step failed: ")]
        {
            let id = peer.begin_prompt(&session, text).await;
            let asked = peer.asked("terminal/create").await;
            let error = json!({ "code": -32602, "message": "no terminal today" });
            peer.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error })).await;
            let error = peer.response(id).await["error"].clone();
            assert_eq!(error["code"], -32603, "{text}");
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with(begin) && message.contains("no terminal today"), "{error}");
        }
        assert_eq!(peer.prompt(&session, "cancelled").await, "cancelled");
        assert_eq!(peer.prompt(&session, "7").await, "end_turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_04_the_text_of_a_prompt_is_that_of_its_blocks_and_links_are_there_too() {
    let agent = agent(async |turn: Turn| {
        turn.say(format!("{} {}", turn.text(), turn.prompt().len())).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let prompt = json!([
            { "type": "text", "text": "/look " },
            { "type": "resource_link", "name": "a", "uri": "file:///a" },
            { "type": "text", "text": "here" },
        ]);
        peer.call("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
        assert_eq!(short(&peer.updates()), ["agent /look here 3"]);
        // All of it is kept, as one message.
        peer.call("session/load", again(&session, "/repo")).await;
        let replayed = peer.updates();
        assert_eq!(replayed.len(), 4);
        assert_eq!(replayed[1]["content"], prompt[1]);
        assert_eq!(replayed[0]["messageId"], replayed[2]["messageId"]);
        assert_ne!(replayed[0]["messageId"], replayed[3]["messageId"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_07_pieces_of_one_message_share_its_id_and_no_other_has_it() {
    let agent = agent(async |turn: Turn| {
        turn.say("a").await?;
        turn.usage(UsageUpdate::new(1, 2)).await?;
        turn.say("b").await?;
        turn.think("c").await?;
        turn.say("d").await?;
        turn.update(ToolCall::new("mine", "Mine").status(ToolCallStatus::Completed)).await?;
        turn.say("e").await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "go").await;
        peer.prompt(&session, "again").await;
        let updates = peer.updates();
        let ids: Vec<_> = updates.iter().filter_map(|update| update["messageId"].as_str()).collect();
        let of = |letter: &str, turn: usize| {
            let mut found = updates.iter().filter(|update| text(update) == letter);
            found.nth(turn).unwrap()["messageId"].as_str().unwrap()
        };
        assert_eq!(of("a", 0), of("b", 0));
        let mut messages: Vec<_> = ids.clone();
        messages.dedup();
        messages.sort_unstable();
        messages.dedup();
        assert_eq!(messages.len(), 8, "four messages in each of two turns: {ids:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_08_plan_02_not_01_usage_plans_titles_and_notices() {
    let agent = agent(async |turn: Turn| {
        let entry = |text: &str| PlanEntry::new(text, PlanEntryPriority::High, PlanEntryStatus::Pending);
        turn.plan([entry("one"), entry("two")]).await?;
        turn.usage(UsageUpdate::new(10, 100).cost(Cost::new(0.5, "EUR"))).await?;
        turn.title("A title".to_owned()).await?;
        let notice = turn.update(Notice::new(NoticeSeverity::Warning, "Mind the gap")).await;
        let told = matches!(notice, Err(TurnError::Call(_)));
        let title = turn.current_title().unwrap_or_default();
        turn.say(format!("{told} {title} {}", turn.current_usage().unwrap().used)).await?;
        Ok(StopReason::EndTurn)
    });
    play(agent, async |peer| {
        peer.initialize(json!({})).await;
        let session = peer.open("/repo").await;
        peer.prompt(&session, "go").await;
        let updates = peer.updates();
        assert_eq!(short(&updates), ["plan", "usage_update", "session_info_update", "agent true A title 10"]);
        assert_eq!(updates[0]["entries"].as_array().unwrap().len(), 2);
        assert_eq!(updates[1]["cost"], json!({ "amount": 0.5, "currency": "EUR" }));
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(peer.updates().len(), 5, "what could not be said was not kept");
    })
    .await;
}

/// Ways to take a cancel: hear of it, be dropped amid something else, fail because of it, or end as if nothing were.
async fn cancellable(turn: Turn) -> Result<StopReason, BoxError> {
    match &*turn.text() {
        "hear" => turn.cancelled().await,
        "deaf" => std::future::pending::<()>().await,
        "fail" => {
            turn.unless_cancelled(std::future::pending::<()>()).await?;
        }
        "late words" => {
            turn.cancelled().await;
            turn.say("one more thing").await?;
        }
        _ => {}
    }
    Ok(StopReason::EndTurn)
}

#[tokio::test(start_paused = true)]
async fn pr_10_11_13_cancelled_turn_answers_cancelled_whatever_it_returns() {
    with(agent(cancellable).grace(Duration::from_secs(3)), async |peer| {
        let session = peer.open("/repo").await;
        for (text, seconds) in [("hear", 0), ("deaf", 3), ("fail", 0), ("late words", 0)] {
            let began = tokio::time::Instant::now();
            let id = peer.begin_prompt(&session, text).await;
            peer.cancel(&session).await;
            assert_eq!(peer.stopped(id).await, "cancelled", "{text}");
            assert_eq!(began.elapsed().as_secs(), seconds, "{text}");
        }
        assert_eq!(short(&peer.updates()), ["agent one more thing"]);
        assert_eq!(peer.prompt(&session, "go on").await, "end_turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_12_handle_that_outlives_its_turn_sends_nothing() {
    let kept: Arc<Mutex<Vec<Turn>>> = Arc::default();
    let to_keep = kept.clone();
    let agent = agent(move |turn: Turn| {
        let kept = to_keep.clone();
        async move {
            turn.say("in time").await?;
            kept.lock().unwrap().push(turn);
            Ok(StopReason::EndTurn)
        }
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        for _ in 0..2 {
            peer.prompt(&session, "go").await;
        }
        peer.updates();
        for turn in kept.lock().unwrap().drain(..) {
            let over = |result| matches!(result, Err(TurnError::Ended));
            assert!(over(turn.say("late").now_or_never().unwrap()));
            assert!(over(turn.title("late".to_owned()).now_or_never().unwrap()));
            assert!(over(turn.read_text_file("late").now_or_never().unwrap().map(drop)));
            assert!(over(turn.call_tool("late", ()).into_future().now_or_never().unwrap().map(drop)));
            assert!(over(turn.unless_cancelled(std::future::pending::<()>()).now_or_never().unwrap()));
        }
        peer.silence().await;
        peer.call("session/load", again(&session, "/repo")).await;
        let said = ["user go", "agent in time", "user go", "agent in time"];
        assert_eq!(short(&peer.updates()), said, "nor is it kept");
    })
    .await;
}

/// Even while the client reads nothing, and while a handle of the turn is used by another task.
#[tokio::test(start_paused = true)]
async fn pr_12_updates_at_the_end_of_a_turn_are_sent_before_the_answer_or_never() {
    let agent = agent(async |turn: Turn| {
        let chatter = turn.clone();
        tokio::spawn(async move {
            let mut number = 0;
            while chatter.say(format!("{number}")).await.is_ok() {
                number += 1;
            }
        });
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let id = peer.begin_prompt(&session, "go").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(peer.stopped(id).await, "end_turn");
        let said = peer.updates();
        peer.silence().await;
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(peer.updates()[1..], said, "what is kept is what was sent");
        assert!(!said.is_empty());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_17_cancelling_without_a_turn_has_no_effect() {
    with(agent(cancellable), async |peer| {
        let session = peer.open("/repo").await;
        peer.cancel(&session).await;
        peer.cancel("nope").await;
        peer.silence().await;
        assert_eq!(peer.prompt(&session, "go").await, "end_turn", "it is not held against the next turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_18_cancel_right_after_its_prompt_finds_the_turn() {
    with(agent(cancellable), async |peer| {
        let session = peer.open("/repo").await;
        let id = peer.begin_prompt(&session, "hear").await;
        peer.cancel(&session).await;
        assert_eq!(peer.stopped(id).await, "cancelled");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_06_19_sessions_do_not_wait_for_each_other() {
    let agent = agent(async |turn: Turn| {
        if turn.text() == "wait" {
            turn.cancelled().await;
        }
        turn.say(turn.text()).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let (slow, quick) = (peer.open("/repo").await, peer.open("/repo").await);
        let waiting = peer.begin_prompt(&slow, "wait").await;
        assert_eq!(peer.prompt(&quick, "quick").await, "end_turn");
        let update = peer.next().await;
        assert_eq!(update["params"]["sessionId"], quick);
        peer.cancel(&slow).await;
        assert_eq!(peer.stopped(waiting).await, "cancelled");
        assert_eq!(peer.next().await["params"]["sessionId"], slow);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_20_a_second_prompt_is_refused_and_the_first_goes_on() {
    with(agent(cancellable), async |peer| {
        let session = peer.open("/repo").await;
        let first = peer.begin_prompt(&session, "hear").await;
        let second = peer.begin_prompt(&session, "go").await;
        let refused = peer.response(second).await;
        assert_eq!(refused["error"]["code"], -32600);
        assert!(refused["error"]["message"].as_str().unwrap().contains("busy"), "{refused}");
        peer.cancel(&session).await;
        assert_eq!(peer.stopped(first).await, "cancelled");
        peer.call("session/load", again(&session, "/repo")).await;
        assert_eq!(short(&peer.updates()), ["user hear"], "what was refused is not part of the conversation");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pr_21_a_prompt_whose_request_is_cancelled_is_answered() {
    with(agent(cancellable), async |peer| {
        let session = peer.open("/repo").await;
        let id = peer.begin_prompt(&session, "hear").await;
        peer.notify("$/cancel_request", json!({ "requestId": id })).await;
        assert_eq!(peer.stopped(id).await, "cancelled");
    })
    .await;
}

/// The end of the turn ends the author's own tool calls.
#[tokio::test(start_paused = true)]
async fn tc_04_a_tool_call_that_never_ended_has_failed_when_the_turn_has() {
    let agent = agent(async |turn: Turn| {
        turn.update(ToolCall::new("done", "Done").status(ToolCallStatus::Completed)).await?;
        turn.update(ToolCall::new("open", "Open").status(ToolCallStatus::InProgress)).await?;
        turn.cancelled().await;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        let id = peer.begin_prompt(&session, "go").await;
        peer.cancel(&session).await;
        peer.stopped(id).await;
        let updates = peer.updates();
        let said = ["tool_call completed", "tool_call in_progress", "tool_call_update failed"];
        assert_eq!(short(&updates), said);
        assert_eq!(updates[2]["toolCallId"], "open");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn history_has_all_updates_of_the_session() {
    let agent = agent(async |turn: Turn| {
        let history = turn.history().await?;
        let words = history.iter().filter_map(|update| match update {
            SessionUpdate::UserMessageChunk(chunk) => Some(format!("> {}", chunk.content.as_text()?)),
            SessionUpdate::AgentMessageChunk(chunk) => chunk.content.as_text().map(str::to_owned),
            _ => None,
        });
        turn.say(format!("[{}]", words.collect::<Vec<_>>().join(", "))).await?;
        Ok(StopReason::EndTurn)
    });
    with(agent, async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "one").await;
        peer.prompt(&session, "two").await;
        let said: Vec<Value> = peer.updates();
        assert_eq!(text(&said[1]), "[> one, [> one], > two]");
    })
    .await;
}

/// The future of serving is `Send` where the closure's futures are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serving_can_be_spawned() {
    let agent = agent(async |turn: Turn| {
        let tools = turn.mcp().tools().await;
        turn.say(format!("{} tools, you said: {}", tools.len(), turn.text())).await?;
        let _unasked = turn.call_tool("none", ()).await;
        Ok(StopReason::EndTurn)
    });
    let (near, far) = agentwire_transport::duplex(8);
    let serving = tokio::spawn(agent.serve(near));
    drop(far);
    serving.await.unwrap().unwrap();
}
