//! The order of storing and sending, and the effects of failures, with a store that the test delays or breaks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_acp_sessions::schema::{SessionId, StopReason};
use agentwire_acp_sessions::{
    Claim, ListQuery, MemoryStore, SessionAgent, SessionHeader, SessionStore, StoreError, StoredSession,
    Turn, agent,
};
use agentwire_jsonrpc::RawJson;
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::peer::{again, short, text, with};

/// A memory store in which every record read or written needs a permit while it is held up. To sync takes time.
#[derive(Default)]
pub(crate) struct Moody {
    inner: MemoryStore,
    permits: Mutex<Option<Arc<Semaphore>>>,
    deletes: Mutex<Option<Arc<Semaphore>>>,
    broken: Mutex<bool>,
    pub(crate) synced: AtomicUsize,
}

impl Moody {
    pub(crate) fn hold(&self) -> Arc<Semaphore> {
        self.permits.lock().unwrap().insert(Arc::new(Semaphore::new(0))).clone()
    }

    /// From now on to delete needs a permit.
    pub(crate) fn hold_deletes(&self) -> Arc<Semaphore> {
        self.deletes.lock().unwrap().insert(Arc::new(Semaphore::new(0))).clone()
    }

    pub(crate) fn break_it(&self, broken: bool) {
        *self.broken.lock().unwrap() = broken;
    }

    async fn pass(permits: Option<Arc<Semaphore>>) {
        if let Some(permits) = permits {
            permits.acquire().await.unwrap().forget();
        }
    }

    fn permits(&self) -> Option<Arc<Semaphore>> {
        self.permits.lock().unwrap().clone()
    }
}

impl SessionStore for Moody {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.create(header)
    }

    fn append<'a>(
        &'a self,
        id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            Self::pass(self.permits()).await;
            if *self.broken.lock().unwrap() {
                return Err(StoreError::other("the disk is full"));
            }
            self.inner.append(id, records).await
        })
    }

    fn sync<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.inner.sync(id).await?;
            self.synced.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    }

    fn read<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let Some(stored) = self.inner.read(id).await? else { return Ok(None) };
            let permits = self.permits();
            let records = stored.records.then(move |record| {
                let permits = permits.clone();
                async move {
                    Self::pass(permits).await;
                    record
                }
            });
            Ok(Some(StoredSession::new(stored.header, records.boxed())))
        })
    }

    fn claim<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        self.inner.claim(id)
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        self.inner.list(query)
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.update_header(header)
    }

    fn delete<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let permits = self.deletes.lock().unwrap().clone();
            Self::pass(permits).await;
            self.inner.delete(id).await
        })
    }
}

fn on(store: &Arc<Moody>) -> SessionAgent {
    let agent = agent(async |turn: Turn| {
        match &*turn.text() {
            "hold on" => {
                // One that is given up half-way, and one that is not continued.
                let mut left = Box::pin(turn.say("left"));
                let _pending = futures::poll!(left.as_mut());
                turn.say("after").await?;
            }
            "ignore" => {
                let _ignored = turn.say("ignored").await;
            }
            text => turn.say(format!("you said {text}")).await?,
        }
        Ok(StopReason::EndTurn)
    });
    agent.shared_store(store.clone())
}

#[tokio::test(start_paused = true)]
async fn update_is_sent_after_it_is_stored() {
    let store = Arc::new(Moody::default());
    with(on(&store), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        let id = peer.begin_prompt(&session, "one").await;
        peer.silence().await;
        permits.add_permits(1); // the prompt
        peer.silence().await;
        permits.add_permits(1); // the answer
        assert_eq!(short(&[peer.told("agent_message_chunk").await]), ["agent you said one"]);
        assert_eq!(peer.stopped(id).await, "end_turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn abandoned_appends_delay_no_other() {
    let store = Arc::new(Moody::default());
    with(on(&store), async |peer| {
        let session = peer.open("/repo").await;
        let permits = store.hold();
        let id = peer.begin_prompt(&session, "hold on").await;
        peer.silence().await;
        permits.add_permits(9);
        assert_eq!(peer.stopped(id).await, "end_turn");
        assert_eq!(short(&peer.updates()), ["agent left", "agent after"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn turn_that_cannot_be_stored_fails_even_if_its_author_ignores_the_error() {
    let store = Arc::new(Moody::default());
    with(on(&store), async |peer| {
        let session = peer.open("/repo").await;
        peer.prompt(&session, "fine").await;
        assert_eq!(peer.updates().len(), 1);
        let permits = store.hold();
        for (prompt, kept) in [("say", 0), ("ignore", 1)] {
            let id = peer.begin_prompt(&session, prompt).await;
            permits.add_permits(kept);
            tokio::time::sleep(Duration::from_secs(1)).await;
            store.break_it(true);
            permits.add_permits(1);
            let response = peer.response(id).await;
            assert_eq!(response["error"]["code"], -32603, "{response}");
            let message = response["error"]["message"].as_str().unwrap();
            assert!(message.contains("the disk is full"), "{message}");
            store.break_it(false);
        }
        peer.silence().await;
        permits.add_permits(100);
        assert_eq!(peer.prompt(&session, "mended").await, "end_turn", "the next turn tries again");
        peer.updates();
        peer.call("session/load", again(&session, "/repo")).await;
        let said =
            ["user fine", "agent you said fine", "user ignore", "user mended", "agent you said mended"];
        assert_eq!(short(&peer.updates()), said);
    })
    .await;
}

/// A session with two turns that is closed again, in a store that is held up from now on.
async fn closed(peer: &mut crate::peer::Peer, store: &Moody) -> (String, Arc<Semaphore>) {
    let session = peer.open("/repo").await;
    for prompt in ["one", "two"] {
        peer.prompt(&session, prompt).await;
    }
    peer.updates();
    peer.call("session/close", json!({ "sessionId": session })).await;
    (session, store.hold())
}

#[tokio::test(start_paused = true)]
async fn session_that_is_being_loaded_is_busy() {
    let store = Arc::new(Moody::default());
    with(on(&store), async |peer| {
        let (session, permits) = closed(peer, &store).await;
        permits.add_permits(1);
        let load = peer.request("session/load", again(&session, "/repo")).await;
        assert_eq!(text(&peer.told("user_message_chunk").await), "one");
        for method in ["session/load", "session/resume"] {
            assert_eq!(peer.refused(method, again(&session, "/repo")).await, -32600, "{method}");
        }
        let prompt = peer.begin_prompt(&session, "early").await;
        assert_eq!(peer.response(prompt).await["error"]["code"], -32600);
        permits.add_permits(3);
        assert!(peer.response(load).await["result"].is_object());
        assert_eq!(short(&peer.updates()), ["agent you said one", "user two", "agent you said two"]);
        permits.add_permits(100);
        assert_eq!(peer.prompt(&session, "three").await, "end_turn");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn closing_deleting_or_cancelling_ends_a_load() {
    let store = Arc::new(Moody::default());
    with(on(&store), async |peer| {
        let (session, permits) = closed(peer, &store).await;
        for method in ["session/close", "$/cancel_request", "session/delete"] {
            permits.add_permits(1);
            let load = peer.request("session/load", again(&session, "/repo")).await;
            peer.told("user_message_chunk").await;
            if method.starts_with('$') {
                peer.notify(method, json!({ "requestId": load })).await;
            } else {
                let id = peer.request(method, json!({ "sessionId": session })).await;
                assert!(peer.response(id).await["result"].is_object(), "{method}");
            }
            assert_eq!(peer.response(load).await["error"]["code"], -32800, "{method}");
            permits.add_permits(100);
            peer.silence().await;
            permits.forget_permits(100);
            let prompt = peer.begin_prompt(&session, "late").await;
            assert_eq!(peer.response(prompt).await["error"]["code"], -32002, "{method}");
        }
        assert_eq!(peer.call("session/list", json!({})).await["sessions"], json!([]));
        assert_eq!(peer.refused("session/load", again(&session, "/repo")).await, -32002);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_load_that_fails_leaves_an_open_session_as_it_was() {
    let store = Arc::new(Moody::default());
    with(on(&store), async |peer| {
        let session = peer.open("/repo").await;
        assert_eq!(peer.refused("session/load", again(&session, "/elsewhere")).await, -32602);
        let permits = store.hold();
        permits.add_permits(2);
        peer.prompt(&session, "one").await;
        let load = peer.request("session/load", again(&session, "/repo")).await;
        peer.notify("$/cancel_request", json!({ "requestId": load })).await;
        assert_eq!(peer.response(load).await["error"]["code"], -32800);
        permits.add_permits(100);
        assert_eq!(peer.prompt(&session, "two").await, "end_turn");
    })
    .await;
}

/// The agent was killed while a tool ran. A client that loads the session shall not wait for the tool's end.
#[tokio::test(start_paused = true)]
async fn tc_04_tool_call_that_an_earlier_process_left_open_has_failed() {
    let store = Arc::new(Moody::default());
    let session = SessionId::from("killed");
    store.create(&SessionHeader::new(&session, "/repo")).await.unwrap();
    let call = |id, status| json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": id, "kind": "other", "status": status });
    let over = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "over", "status": "completed" });
    let journal = [call("asked", "pending"), call("over", "in_progress"), over, call("left", "in_progress")];
    let records = journal.clone().map(|update| RawJson::encode(&update).unwrap());
    store.append(&session, &records).await.unwrap();
    for _again in 0..2 {
        with(on(&store), async |peer| {
            peer.call("session/resume", again(&session, "/repo")).await;
            assert_eq!(short(&peer.updates()), [""; 0], "resuming says nothing");
            peer.call("session/close", json!({ "sessionId": &*session })).await;
            peer.call("session/load", again(&session, "/repo")).await;
            let replayed = peer.updates();
            assert_eq!(replayed[..4], journal);
            let failed = ["tool_call_update failed"; 2];
            assert_eq!(short(&replayed[4..]), failed, "said once, not with every life");
            let calls = [&replayed[4], &replayed[5]].map(|update| update["toolCallId"].as_str().unwrap());
            assert_eq!(calls, ["asked", "left"]);
        })
        .await;
    }
}

/// The agent was killed between the two places where a title is written.
#[tokio::test(start_paused = true)]
async fn a_title_that_only_the_journal_has_is_the_title_once_the_session_is_opened() {
    let store = Arc::new(Moody::default());
    let session = SessionId::from("killed");
    store.create(&SessionHeader::new(&session, "/repo")).await.unwrap();
    let titles =
        ["First", "Second"].map(|title| json!({ "sessionUpdate": "session_info_update", "title": title }));
    store.append(&session, &titles.map(|title| RawJson::encode(&title).unwrap())).await.unwrap();
    with(on(&store), async |peer| {
        let listed = async |peer: &mut crate::peer::Peer| {
            let list = peer.call("session/list", json!({})).await;
            list["sessions"][0]["title"].clone()
        };
        assert_eq!(listed(peer).await, json!(null));
        peer.call("session/resume", again(&session, "/repo")).await;
        assert_eq!(listed(peer).await, "Second");
    })
    .await;
}
