//! Calls that are given up, on either side.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_jsonrpc::ErrorObject;
use agentwire_peer::{Config, RequestContext};
use futures::future::join_all;
use futures::task::{ArcWake, waker};
use serde_json::{Value, json};

use crate::support::{acp, answering, ask, asked, deaf, done, mcp, note, on, settle, with_wire};

const NOTHING: [Value; 0] = [];

fn request(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": text}})
}

/// The cancel notification of either protocol.
fn cancel(config: &Config, id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": config.connection.dialect.cancel_method, "params": {"requestId": id}})
}

/// A waker whose remaining owners can be counted.
struct Silent;

impl ArcWake for Silent {
    fn wake_by_ref(_: &Arc<Self>) {}
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_before_it_left_was_never_made() {
    with_wire(acp().high_water(100), deaf(), async |peer, mut far| {
        let mut queued = peer.call(&ask("queued"));
        assert!(futures::poll!(&mut queued).is_pending());
        drop(queued);
        settle().await;
        assert_eq!(far.heard_so_far(), NOTHING);
        far.take(0);
        peer.notify(&note(0)).await.unwrap();
        peer.notify(&note(1)).await.unwrap();
        let mut waits_for_room = peer.call(&ask("waits for room"));
        assert!(futures::poll!(&mut waits_for_room).is_pending());
        drop(waits_for_room);
        drop(peer.call(&ask("never polled")));
        far.take_all();
        settle().await;
        assert_eq!(far.heard_so_far().len(), 2, "only the notifications");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_after_it_left_is_cancelled_at_the_peer() {
    for (config, reason) in [(acp(), None), (mcp(), Some("the caller no longer waits"))] {
        let strays = RefCell::new(Vec::new());
        let handler = on(async |_, _| pending().await, |_, _| {})
            .unmatched_response(|response| strays.borrow_mut().push(response.id.as_u64()));
        with_wire(config.clone(), handler, async |peer, mut far| {
            let late = tokio::time::timeout(Duration::from_secs(1), peer.call(&ask(""))).await;
            assert!(late.is_err());
            assert_eq!(far.heard().await["id"], 1);
            let mut expected = cancel(&config, 1);
            if let Some(reason) = reason {
                expected["params"]["reason"] = reason.into();
            }
            assert_eq!(far.heard().await, expected);
            far.say(json!({"jsonrpc": "2.0", "id": 1, "result": "too late"}));
            settle().await;
            assert!(strays.borrow().is_empty(), "it was expected");
            far.say(json!({"jsonrpc": "2.0", "id": 1, "result": "again"}));
            settle().await;
            assert_eq!(*strays.borrow(), [Some(1)]);
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn initialize_is_not_cancelled_in_mcp() {
    with_wire(mcp(), deaf(), async |peer, mut far| {
        let call = peer.call_method::<(), Value>("initialize", None);
        let _late = tokio::time::timeout(Duration::from_secs(1), call).await.unwrap_err();
        settle().await;
        assert_eq!(far.heard_so_far().len(), 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn whether_a_cancelled_request_is_answered_is_the_dialects_matter() {
    for (config, answers) in [(acp(), 1), (mcp(), 0)] {
        let handler = answering(async |_, context| {
            context.cancelled().await;
            Err(ErrorObject::request_cancelled())
        });
        with_wire(config.clone(), handler, async |_, mut far| {
            far.say(request(1, ""));
            settle().await;
            far.say(cancel(&config, 1));
            settle().await;
            assert_eq!(far.heard_so_far().len(), answers);
            // The id is free again.
            far.say(request(1, ""));
            settle().await;
            assert_eq!(far.heard_so_far(), NOTHING);
        })
        .await;
    }
}

/// How one that works on a request may learn of its end.
async fn wait_in_every_way(context: &RequestContext) {
    assert!(!context.is_cancelled());
    let mut early = context.cancelled();
    assert!(futures::poll!(&mut early).is_pending());
    drop(early);
    let clone = context.clone();
    join_all([context.cancelled(), context.cancelled(), clone.cancelled()]).await;
    assert!(context.is_cancelled());
    context.cancelled().await;
}

#[tokio::test(start_paused = true)]
async fn everybody_hears_of_a_cancellation() {
    let handler = answering(async |_, context| {
        wait_in_every_way(&context).await;
        done("cancelled")
    });
    with_wire(acp(), handler, async |_, mut far| {
        (1..4).for_each(|id| far.say(request(id, "")));
        settle().await;
        for id in [2, 3, 1] {
            far.say(cancel(&acp(), id));
            far.say(cancel(&acp(), id));
            assert_eq!(far.heard().await["id"], id);
        }
        settle().await;
        assert_eq!(far.heard_so_far(), NOTHING);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_cancel_in_other_words() {
    let contexts = RefCell::new(Vec::<RequestContext>::new());
    let handler = answering(async |request, context| match &*asked(&request) {
        "cancel" => {
            contexts.borrow().iter().for_each(RequestContext::cancel);
            done("told")
        }
        _ => {
            contexts.borrow_mut().push(context.clone());
            wait_in_every_way(&context).await;
            done("cancelled")
        }
    });
    with_wire(acp(), handler, async |_, mut far| {
        far.say(request(1, ""));
        far.say(request(2, ""));
        far.say(request(3, "cancel"));
        assert_eq!(far.heard().await["id"], 3);
        assert_eq!(far.heard().await["result"], "cancelled");
        assert_eq!(far.heard().await["result"], "cancelled");
        // It is too late now, and changes nothing.
        contexts.borrow().iter().for_each(RequestContext::cancel);
        assert!(contexts.borrow().iter().all(|context| !context.is_cancelled()));
        let too_late = contexts.borrow()[0].cancelled();
        assert!(futures::poll!(too_late).is_pending());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_request_is_cancelled_and_not_answered() {
    let handler = answering(async |_, context| {
        context.cancelled().await;
        done("nobody hears")
    });
    with_wire(acp(), handler, async |_, mut far| {
        far.say(request(1, ""));
        far.give(agentwire_transport::Packet::CallerLeft(1_u64.into()));
        settle().await;
        far.say(request(1, ""));
        settle().await;
        assert_eq!(far.heard_so_far(), NOTHING);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_of_what_is_over() {
    let silent = Arc::new(Silent);
    let waker = waker(silent.clone());
    let holders = || Arc::strong_count(&silent) - 2;
    let polled = |future: &mut (dyn Future<Output = ()> + Unpin)| {
        assert_eq!(pin!(future).poll(&mut Context::from_waker(&waker)), Poll::Pending);
    };
    let handler = answering(async |_, context| {
        let mut dropped = context.cancelled();
        polled(&mut dropped);
        polled(&mut dropped);
        drop(dropped);
        assert_eq!(holders(), 0, "dropped early");
        let mut outlives = context.cancelled();
        polled(&mut outlives);
        assert_eq!(holders(), 1);
        std::mem::forget(outlives);
        done(())
    });
    with_wire(acp().high_water(100), handler, async |peer, mut far| {
        far.say(request(1, ""));
        far.heard().await;
        settle().await;
        assert_eq!(holders(), 0, "answered");

        let hooked = Arc::new(());
        let hook = hooked.clone();
        let mut call = peer.call(&ask("")).on_progress(move |_| assert!(Arc::strong_count(&hook) > 0));
        let mut poll = || pin!(&mut call).poll(&mut Context::from_waker(&waker)).is_ready();
        assert!(!poll() && !poll());
        assert_eq!((holders(), Arc::strong_count(&hooked)), (1, 2));
        far.say(json!({"jsonrpc": "2.0", "id": 1, "result": null}));
        settle().await;
        assert!(poll());
        assert_eq!((holders(), Arc::strong_count(&hooked)), (0, 1), "a call that was answered");

        far.take(0);
        let mut notify: Vec<_> = (0..5).map(|number| peer.notify(&note(number))).collect();
        for notify in &mut notify {
            let _sent = pin!(notify).poll(&mut Context::from_waker(&waker));
        }
        assert_eq!(holders(), 3);
        notify.pop();
        assert_eq!(holders(), 2, "one who no longer waits for room");
        far.take_all();
        settle().await;
        assert_eq!(holders(), 0, "there is room");
    })
    .await;
}
