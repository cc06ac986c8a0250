//! Turns, and how they are cancelled.

use std::time::Duration;

use agentwire_acp_client::CallError;
use agentwire_acp_schema::v1::*;
use futures::{FutureExt, join};

use crate::check;
use crate::recorder::{Recorder, begin, check};

/// PR-15: all permission requests that wait are answered `cancelled` at once, and so are those that still come for the
/// same turn. PR-16: updates that still come are handled. The next turn asks the user again.
#[tokio::test(start_paused = true)]
async fn pr_15_permissions_end_with_the_turn() {
    let client = Recorder::default();
    check!("PR-15-cancel", &client, async |agent| {
        let session = begin(&agent).await?;
        let cancel = async {
            client.until(4).await;
            agent.cancel(CancelNotification::new(&session)).await.unwrap();
        };
        let (turn, ()) = join!(agent.prompt(PromptRequest::new(&session, "go")), cancel);
        assert_eq!(turn?.stop_reason, StopReason::Cancelled);
        let turn = agent.prompt(PromptRequest::new(&session, "go on")).await?;
        assert_eq!(turn.stop_reason, StopReason::EndTurn);
        Ok(())
    })
    .unwrap();
    assert_eq!(
        client.heard(),
        [
            "asked session-1 a",
            "asked session-1 b",
            "asked session-1 quick",
            "asked session-2 other",
            "dropped session-1 a",
            "dropped session-1 b",
            // `late` was not asked.
            "session-1 tool_call_update",
            "asked session-1 again",
            "dropped session-2 other",
        ]
    );
}

/// SES-14, seen from the client: closing a session cancels what runs in it.
#[tokio::test(start_paused = true)]
async fn ses_14_closing_ends_permissions() {
    let client = Recorder::default();
    check!("SES-14-close", &client, async |agent| {
        let session = begin(&agent).await?;
        let close = async {
            client.until(1).await;
            agent.close_session(CloseSessionRequest::new(&session)).await
        };
        let (turn, closed) = join!(agent.prompt(PromptRequest::new(&session, "go")), close);
        assert_eq!(turn?.stop_reason, StopReason::Cancelled);
        closed?;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a", "dropped session-1 a"]);
}

/// An agent that takes back its question is answered, and the user is no longer asked.
#[tokio::test(start_paused = true)]
async fn pr_21_a_permission_request_is_cancelled() {
    let client = Recorder::default();
    check!("PR-21-cancelled-by-the-agent", &client, async |agent| {
        let session = begin(&agent).await?;
        agent.prompt(PromptRequest::new(&session, "go")).await?;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a", "dropped session-1 a"]);
}

/// A dropped prompt is cancelled in both of the protocol's ways, and requests in that time too.
#[tokio::test(start_paused = true)]
async fn a_dropped_prompt_cancels_its_turn() {
    let client = Recorder::default();
    check!("PR-dropped-prompt", &client, async |agent| {
        let session = begin(&agent).await?;
        let prompt = agent.prompt(PromptRequest::new(&session, "go"));
        futures::select! {
            answer = prompt.fuse() => panic!("{answer:?}"),
            () = client.until(1).fuse() => {}
        }
        // The late answer disturbs nothing.
        let turn = agent.prompt(PromptRequest::new(&session, "go on")).await?;
        assert_eq!(turn.stop_reason, StopReason::EndTurn);
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a", "dropped session-1 a", "asked session-1 c"]);
}

/// The end of its time is as good as a drop.
#[tokio::test(start_paused = true)]
async fn a_prompt_whose_time_is_over_cancels_its_turn() {
    let client = Recorder::default();
    check!("PR-timed-out-prompt", &client, async |agent| {
        let session = begin(&agent).await?;
        let ten_minutes = Duration::from_secs(600);
        let prompt = agent.prompt(PromptRequest::new(&session, "go")).timeout(Duration::from_secs(30));
        let error = prompt.await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        let turn = agent.prompt(PromptRequest::new(&session, "go on")).timeout(ten_minutes).await?;
        assert_eq!(turn.stop_reason, StopReason::EndTurn);
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a", "dropped session-1 a"]);
}

/// A prompt that is refused here, or never awaited, is not a turn: nothing is sent for it.
#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_not_sent_is_not_cancelled() {
    check!("PR-unsent-prompt", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        drop(agent.prompt(PromptRequest::new(&session, "never awaited")));
        let image = ContentBlock::from(ImageContent::new("AAAA", "image/png"));
        agent.prompt(PromptRequest::new(&session, image)).await.unwrap_err();
        agent.prompt(PromptRequest::new(&session, "go")).await?;
        Ok(())
    })
    .unwrap();
}

/// A turn does not hold up another, nor do answers get mixed up.
#[tokio::test(start_paused = true)]
async fn two_turns_at_once() {
    check!("PR-two-turns", &Recorder::default(), async |agent| {
        let session = begin(&agent).await?;
        let (one, two) = join!(
            agent.prompt(PromptRequest::new(&session, "one")),
            agent.prompt(PromptRequest::new("session-2", "two")),
        );
        assert_eq!(one?.stop_reason, StopReason::MaxTokens);
        assert_eq!(two?.stop_reason, StopReason::Refusal);
        Ok(())
    })
    .unwrap();
}

/// A message that does not come is not waited for; the clock is paused.
async fn soon(heard: impl Future<Output = ()>) {
    let _late = tokio::time::timeout(Duration::from_secs(60), heard).await;
}

/// Once the agent has answered the prompt its turn is over, and its later requests are for the user.
#[tokio::test(start_paused = true)]
async fn permissions_outside_of_turns_are_asked() {
    for script in ["PR-answered-unseen", "PR-refused-unseen"] {
        let client = Recorder::default();
        check(script, &client, async |agent| {
            let session = begin(&agent).await?;
            let mut prompt = agent.prompt(PromptRequest::new(&session, "go"));
            futures::select! {
                answer = (&mut prompt).fuse() => panic!("{answer:?}"),
                () = client.until(1).fuse() => {}
            }
            agent.cancel(CancelNotification::new(&session)).await?;
            // No caller polls for the answer until then.
            soon(client.until(3)).await;
            drop(prompt);
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(client.heard(), ["asked session-1 a", "dropped session-1 a", "asked session-1 after"]);
    }
}

/// The same where the prompt was dropped: its late answer ends the turn.
#[tokio::test(start_paused = true)]
async fn permissions_behind_a_late_answer_are_asked() {
    let client = Recorder::default();
    check!("PR-dropped-then-asked", &client, async |agent| {
        let session = begin(&agent).await?;
        let prompt = agent.prompt(PromptRequest::new(&session, "go"));
        futures::select! {
            answer = prompt.fuse() => panic!("{answer:?}"),
            () = client.until(1).fuse() => {}
        }
        soon(client.until(3)).await;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a", "dropped session-1 a", "asked session-1 after"]);
}

/// A cancel without a turn is not an answer to later requests.
#[tokio::test(start_paused = true)]
async fn a_cancel_without_a_turn_answers_nothing_later() {
    let client = Recorder::default();
    check!("PR-cancelled-without-a-turn", &client, async |agent| {
        let session = begin(&agent).await?;
        agent.cancel(CancelNotification::new(&session)).await?;
        soon(client.until(1)).await;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a"]);
}

/// A prompt that is dropped before it has left is not a turn, and has no answer that would end one.
#[tokio::test(start_paused = true)]
async fn unsent_prompt_does_not_count_as_a_turn() {
    let client = Recorder::default();
    check!("PR-cancelled-without-a-turn", &client, async |agent| {
        let session = begin(&agent).await?;
        let mut prompt = agent.prompt(PromptRequest::new(&session, "go"));
        assert!(futures::poll!(&mut prompt).is_pending());
        drop(prompt);
        soon(client.until(1)).await;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["asked session-1 a"]);
}
