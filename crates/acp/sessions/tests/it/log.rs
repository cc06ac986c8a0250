//! Updates are written before they are sent, in their order, and a write that fails changes nothing.

use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_sessions::schema::{SessionId, SessionMode, SessionModeState, StopReason};
use agentwire_acp_sessions::{SessionStore, Turn, TurnError, agent};
use agentwire_jsonrpc::RawJson;
use futures::TryStreamExt;
use futures::future::join_all;

use crate::peer::{short, with};
use crate::stored::Moody;

async fn stored(store: &Moody, session: &str) -> Vec<String> {
    let stored = store.read(&SessionId::from(session)).await.unwrap().unwrap();
    let records: Vec<RawJson> = stored.records.try_collect().await.unwrap();
    let updates: Vec<_> = records.iter().map(|record| record.decode().unwrap()).collect();
    short(&updates)
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("agent {number}")).collect()
}

/// Updates beyond the length of the queue wait for room, and keep their order.
#[tokio::test(start_paused = true)]
async fn updates_that_are_sent_at_once_are_written_and_sent_in_their_order() {
    const COUNT: usize = 64;
    let store = Arc::new(Moody::default());
    let agent = agent(async |turn: Turn| {
        join_all((0..COUNT).map(|number| turn.say(number.to_string()))).await;
        Ok(StopReason::EndTurn)
    });
    with(agent.shared_store(store.clone()), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        let id = peer.begin_prompt(&session, "go").await;
        permits.add_permits(1); // the prompt
        tokio::time::sleep(Duration::from_secs(1)).await;
        permits.add_permits(100);
        assert_eq!(peer.stopped(id).await, "end_turn");
        assert_eq!(short(&peer.updates()), numbered(COUNT));
        assert_eq!(stored(&store, &session).await[1..], numbered(COUNT));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn updates_over_the_limit_of_the_queue_wait_and_none_is_lost() {
    const COUNT: usize = 1000;
    let store = Arc::new(Moody::default());
    let agent = agent(async |turn: Turn| {
        let said = join_all((0..COUNT).map(|number| turn.say(number.to_string()))).await;
        assert!(said.iter().all(Result::is_ok));
        Ok(StopReason::EndTurn)
    });
    with(agent.shared_store(store.clone()), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        let id = peer.begin_prompt(&session, "go").await;
        permits.add_permits(1); // the prompt
        tokio::time::sleep(Duration::from_secs(1)).await;
        permits.add_permits(10_000);
        assert_eq!(peer.stopped(id).await, "end_turn");
        let mut sent = short(&peer.updates());
        assert_eq!(stored(&store, &session).await[1..], sent, "written as it is sent");
        assert_eq!(sent[..64], numbered(64));
        let mut all = numbered(COUNT);
        sent.sort_unstable();
        all.sort_unstable();
        assert_eq!(sent, all);
    })
    .await;
}

/// The connection ends while they wait for the store.
#[tokio::test(start_paused = true)]
async fn dropped_turn_loses_no_queued_update() {
    const COUNT: usize = 10;
    let store = Arc::new(Moody::default());
    let agent = agent(async |turn: Turn| {
        join_all((0..COUNT).map(|number| turn.say(number.to_string()))).await;
        Ok(StopReason::EndTurn)
    });
    let mut session = String::new();
    let agent = agent.shared_store(store.clone()).grace(Duration::from_secs(60));
    with(agent, async |peer| {
        session = peer.open("/repo").await;
        let permits = store.hold();
        peer.begin_prompt(&session, "go").await;
        permits.add_permits(1); // the prompt
        tokio::time::sleep(Duration::from_secs(1)).await;
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(30)).await;
            permits.add_permits(100);
        });
    })
    .await;
    assert_eq!(stored(&store, &session).await[1..], numbered(COUNT));
}

#[tokio::test(start_paused = true)]
async fn choice_takes_effect_only_after_it_is_written() {
    let store = Arc::new(Moody::default());
    let agent = agent(async |turn: Turn| {
        let mode = || turn.mode().unwrap().to_string();
        let mut before = String::new();
        let (chosen, ()) = futures::join!(turn.set_mode("code"), async { before = mode() });
        assert_eq!(before, "ask", "it is not written yet");
        match chosen {
            Ok(()) => assert_eq!(mode(), "code"),
            Err(why) => {
                assert!(matches!(why, TurnError::Store(_)), "{why}");
                assert_eq!(mode(), "ask");
                assert!(matches!(turn.say("later").await, Err(TurnError::Store(_))), "the turn has failed");
            }
        }
        Ok(StopReason::EndTurn)
    });
    let modes = [SessionMode::new("ask", "Ask"), SessionMode::new("code", "Code")];
    let agent = agent.modes(SessionModeState::new("ask", modes.to_vec()));
    with(agent.shared_store(store.clone()), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        for breaks in [true, false] {
            store.break_it(false);
            let id = peer.begin_prompt(&session, "go").await;
            permits.add_permits(1); // the prompt
            tokio::time::sleep(Duration::from_secs(1)).await;
            store.break_it(breaks);
            permits.add_permits(100);
            let response = peer.response(id).await;
            assert_eq!(response.get("error").is_some(), breaks, "{response}");
            permits.forget_permits(100);
        }
        assert_eq!(short(&peer.updates()), ["current_mode_update"]);
    })
    .await;
}
