//! A caller's hooks of a call, and code of others that runs in destructors.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Context;
use std::time::Duration;

use agentwire_peer::runtime::{CallExt, PeerExt};
use agentwire_peer::{Call, CallError, Peer};
use futures::FutureExt;
use futures::task::{ArcWake, waker};
use serde_json::{Value, json};

use crate::support::{Far, acp, answering, ask, deaf, done, hearing, mcp, note, noted, settle, with_wire};

/// Answers the next request that is received.
async fn answer(far: &mut Far, result: Value) {
    let request = far.heard().await;
    assert_eq!(request["method"], "ask");
    far.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
}

#[tokio::test(start_paused = true)]
async fn a_check_sees_the_result_first() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let checked = || {
            peer.call(&ask("")).check(|result| match result {
                Value::Bool(true) => Ok(json!("checked")),
                _ => Err(CallError::not_allowed("ask", "not true")),
            })
        };
        assert_eq!(tokio::join!(checked(), answer(&mut far, json!(true))).0.unwrap(), "checked");
        let refused = tokio::join!(checked(), answer(&mut far, json!(false))).0;
        assert!(matches!(refused, Err(CallError::NotAllowed { .. })), "{refused:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn caller_that_gives_a_call_up_may_send_more() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let call = || {
            let farewell = peer.clone();
            peer.call(&ask("")).on_drop(move || farewell.notify_now(&note(1)).unwrap())
        };
        let methods = |far: &mut Far| -> Vec<Value> {
            far.heard_so_far().into_iter().map(|message| message["method"].clone()).collect()
        };
        drop(call());
        settle().await;
        assert_eq!(methods(&mut far), [] as [&str; 0], "never made");

        assert!(tokio::time::timeout(Duration::from_secs(1), call()).await.is_err());
        settle().await;
        assert_eq!(methods(&mut far), ["ask", "note", "$/cancel_request"], "dropped");

        call().timeout(Duration::from_secs(1)).await.unwrap_err();
        settle().await;
        assert_eq!(methods(&mut far), ["ask", "$/cancel_request", "note"], "late");

        tokio::join!(call(), answer(&mut far, json!(1))).0.unwrap();
        let mut unread = call();
        assert!(futures::poll!(&mut unread).is_pending());
        answer(&mut far, json!(1)).await;
        settle().await;
        drop(unread);
        settle().await;
        assert_eq!(methods(&mut far), [] as [&str; 0], "answered");
    })
    .await;
}

/// Uses the connection when it is dropped, as anything may that a hook or a waker owns.
struct Nosy {
    peer: Peer,
    drops: Arc<AtomicUsize>,
}

impl Drop for Nosy {
    fn drop(&mut self) {
        self.peer.notify_now(&note(1)).unwrap();
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

impl ArcWake for Nosy {
    fn wake_by_ref(_: &Arc<Self>) {}
}

#[tokio::test(start_paused = true)]
async fn value_owned_by_a_hook_may_use_the_connection_when_it_is_dropped() {
    let drops = Arc::new(AtomicUsize::new(0));
    let dropped = || drops.swap(0, Ordering::Relaxed);
    with_wire(mcp(), deaf(), async |peer, mut far| {
        let call = |id| -> Call<Value> {
            let nosy = Nosy { peer: peer.clone(), drops: drops.clone() };
            peer.call(&ask("")).reserved(id).on_progress(move |_| {
                let _owned = &nosy;
            })
        };
        tokio::join!(call(peer.reserve_call()), answer(&mut far, json!(1))).0.unwrap();
        assert_eq!(dropped(), 1, "answered");
        let _late = tokio::time::timeout(Duration::from_secs(1), call(peer.reserve_call())).await;
        assert_eq!(dropped(), 1, "given up");
        call(peer.reserve_call()).timeout(Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(dropped(), 1, "late");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn two_calls_cannot_have_one_id() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let id = peer.reserve_call();
        let call = || peer.call(&ask("")).reserved(id);
        let mut one = call();
        assert!(futures::poll!(&mut one).is_pending());
        let error = call().await.unwrap_err();
        assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
        assert_eq!(tokio::join!(one, answer(&mut far, json!("still there"))).0.unwrap(), "still there");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn value_owned_by_a_waker_may_use_the_connection_when_it_is_dropped() {
    let drops = Arc::new(AtomicUsize::new(0));
    let dropped = || drops.swap(0, Ordering::Relaxed);
    let nosy = |peer: &Peer| waker(Arc::new(Nosy { peer: peer.clone(), drops: drops.clone() }));
    let handler = answering(async |_, context| {
        let poll = |future: &mut agentwire_peer::Cancelled| {
            assert!(future.poll_unpin(&mut Context::from_waker(&nosy(context.peer()))).is_pending());
        };
        let mut replaced = context.cancelled();
        (0..3).for_each(|_| poll(&mut replaced));
        assert_eq!(dropped(), 2);
        drop(replaced);
        assert_eq!(dropped(), 1);
        let mut outlives = context.cancelled();
        poll(&mut outlives);
        std::mem::forget(outlives);
        done(())
    });
    with_wire(acp().high_water(100), handler, async |peer, far| {
        far.say(json!({"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"text": ""}}));
        settle().await;
        assert_eq!(dropped(), 1, "answered");

        let mut call = peer.call(&ask(""));
        (0..3).for_each(|_| {
            assert!(call.poll_unpin(&mut Context::from_waker(&nosy(&peer))).is_pending());
        });
        assert_eq!(dropped(), 2);
        drop(call);
        assert_eq!(dropped(), 1);

        let mut closed = peer.closed();
        (0..3).for_each(|_| {
            assert!(closed.poll_unpin(&mut Context::from_waker(&nosy(&peer))).is_pending());
        });
        drop(closed);
        assert_eq!(dropped(), 3);

        far.take(0);
        (0..3).for_each(|number| peer.notify_now(&note(number)).unwrap());
        let mut notify = peer.notify(&note(9));
        (0..3).for_each(|_| {
            assert!(notify.poll_unpin(&mut Context::from_waker(&nosy(&peer))).is_pending());
        });
        assert_eq!(dropped(), 2);
        drop(notify);
        assert_eq!(dropped(), 1);
    })
    .await;
}

/// A call whose answer and a notification arrive together, and what the hooks of both leave in `seen`.
fn observed(peer: &Peer, seen: &Arc<Mutex<Vec<String>>>) -> Call<Value> {
    let [first, second] = [seen.clone(), seen.clone()];
    peer.call(&ask(""))
        .on_result(move |result| first.lock().unwrap().push(format!("first {result}")))
        .on_result(move |result| second.lock().unwrap().push(format!("second {result}")))
}

#[tokio::test(start_paused = true)]
async fn answers_are_observed_in_the_order_in_which_they_arrive() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = seen.clone();
    let handler = hearing(move |note, _| heard.lock().unwrap().push(format!("note {}", noted(&note))));
    with_wire(acp(), handler, async |peer, mut far| {
        let mut call = observed(&peer, &seen);
        assert!(futures::poll!(&mut call).is_pending());
        let request = far.heard().await;
        far.say(json!({"jsonrpc": "2.0", "method": "note", "params": {"number": 1}}));
        far.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": 7}));
        far.say(json!({"jsonrpc": "2.0", "method": "note", "params": {"number": 2}}));
        settle().await;
        // No task has polled the call since it was sent.
        assert_eq!(*seen.lock().unwrap(), ["note 1", "first 7", "second 7", "note 2"]);
        assert_eq!(call.await.unwrap(), 7);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_but_a_result_is_observed() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    with_wire(acp(), deaf(), async |peer, mut far| {
        let error = async {
            let request = far.heard().await;
            let value = json!({"code": -1, "message": "no"});
            far.say(json!({"jsonrpc": "2.0", "id": request["id"], "error": value}));
        };
        assert!(tokio::join!(observed(&peer, &seen), error).0.is_err());
        observed(&peer, &seen).timeout(Duration::from_secs(1)).await.unwrap_err();
        far.heard_so_far();

        let mut dropped = observed(&peer, &seen);
        assert!(futures::poll!(&mut dropped).is_pending());
        let request = far.heard().await;
        drop(dropped);
        far.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": 7}));
        settle().await;
        assert_eq!(*seen.lock().unwrap(), [""; 0]);
        assert_eq!(Arc::strong_count(&seen), 1, "hooks go with their calls");

        // The first that refuses is the last.
        let refused = peer.call(&ask("")).check(|_| Err(CallError::not_allowed("ask", "refused")));
        let later = seen.clone();
        let refused = refused.on_result(move |_: &Value| later.lock().unwrap().push("later".into()));
        far.heard_so_far();
        let refused = tokio::join!(refused, answer(&mut far, json!(1))).0;
        assert!(matches!(refused, Err(CallError::NotAllowed { .. })), "{refused:?}");
        assert_eq!(*seen.lock().unwrap(), [""; 0]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_check_that_panics_concerns_its_caller_only() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let panics = peer.call(&ask("")).on_result(|_| panic!("on purpose"));
        let outcome = tokio::join!(AssertUnwindSafe(panics).catch_unwind(), answer(&mut far, json!(1))).0;
        assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(tokio::join!(peer.call(&ask("")), answer(&mut far, json!(2))).0.unwrap(), 2);
    })
    .await;
}
