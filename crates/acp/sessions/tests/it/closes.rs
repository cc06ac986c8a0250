//! After the answer to `session/close` the agent sends nothing about the session.

use agentwire_acp_sessions::schema::{AvailableCommand, StopReason};
use agentwire_acp_sessions::{Turn, agent};
use serde_json::json;

use crate::peer::{again, with};

#[tokio::test(start_paused = true)]
async fn session_that_is_closed_at_once_sends_nothing_afterwards() {
    let agent = agent(async |turn: Turn| {
        for _ in 0..10 {
            turn.say("working").await?;
        }
        turn.cancelled().await;
        Ok(StopReason::EndTurn)
    });
    with(agent.commands([AvailableCommand::new("plan", "Plans")]), async |peer| {
        let session = peer.open("/repo").await;
        peer.told("available_commands_update").await;
        for round in 0..100 {
            let load = peer.request("session/load", again(&session, "/repo")).await;
            for _ in 0..round % 7 {
                tokio::task::yield_now().await;
            }
            let prompt = (round % 2 == 0).then_some(json!([{ "type": "text", "text": "go" }]));
            if let Some(prompt) = prompt {
                peer.response(load).await;
                peer.request("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
            }
            for _ in 0..round % 5 {
                tokio::task::yield_now().await;
            }
            let close = peer.request("session/close", json!({ "sessionId": session })).await;
            let answer = peer.response(close).await;
            assert!(answer.get("result").is_some(), "{answer}");
            // All that comes now is on its way already, or was said too late.
            peer.drain();
            while let Some(late) = peer.late().await {
                assert_ne!(late["method"], "session/update", "round {round}: {late}");
            }
        }
    })
    .await;
}
