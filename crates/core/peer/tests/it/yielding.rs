//! Futures that complete at once, awaited again and again: others on the same thread run in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{CallError, Peer};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::{answering, ask, beside, deaf, done, driver, mcp, note, wire};

/// How often a loop does it: seconds of work, of which a test sees milliseconds.
const TIMES: usize = 5_000_000;

#[derive(Clone, Copy, Debug)]
enum Step {
    Call,
    RefusedCall,
    Notify,
    RefusedNotify,
    Closed,
}

async fn take(step: Step, peer: &Peer) {
    let refusal = || CallError::not_allowed("ask", "nobody asks");
    match step {
        Step::Call => assert!(peer.call(&ask("")).await.is_err()),
        Step::RefusedCall => assert!(peer.refuse_call::<Value>(refusal()).await.is_err()),
        Step::Notify => assert!(peer.notify(&note(1)).await.is_err()),
        Step::RefusedNotify => assert!(peer.refuse_notify(refusal()).await.is_err()),
        Step::Closed => drop(peer.closed().await),
    }
}

/// The peer has left and nothing can be written. The main future goes on, and so does another task of the thread.
#[tokio::test]
async fn a_loop_that_never_waits_lets_other_tasks_run() {
    for step in [Step::Call, Step::RefusedCall, Step::Notify, Step::RefusedNotify, Step::Closed] {
        let (peer, driver) = driver(mcp());
        let (wire, mut far) = wire();
        far.break_writes();
        far.hang_up();
        let (begin, begun) = oneshot::channel();
        let has_run = Arc::new(AtomicBool::new(false));
        let seen = has_run.clone();
        let neighbour = async move {
            begun.await.unwrap();
            has_run.store(true, Ordering::Relaxed);
        };
        let main = async {
            let _written = peer.notify(&note(0)).await;
            peer.closed().await;
            tokio::task::yield_now().await;
            begin.send(()).unwrap();
            let mut taken = 0;
            while taken < TIMES && !seen.load(Ordering::Relaxed) {
                take(step, &peer).await;
                taken += 1;
            }
            taken
        };
        let (taken, _) = beside(neighbour, driver.run(deaf(), wire, main)).await;
        assert!((1..TIMES).contains(&taken), "{step:?}");
    }
}

/// A cancel is read while the handler that it is for never waits.
#[tokio::test]
async fn a_handler_that_never_waits_sees_its_cancel() {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = taken.clone();
    let handler = answering(move |_, context| {
        let count = count.clone();
        async move {
            for number in 1..=TIMES {
                if context.is_cancelled() {
                    break;
                }
                count.store(number, Ordering::Relaxed);
                take(Step::RefusedCall, context.peer()).await;
            }
            done("over")
        }
    });
    let (_, driver) = driver(mcp());
    let (wire, mut far) = wire();
    far.say(json!({ "jsonrpc": "2.0", "id": 1, "method": "ask" }));
    far.say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    far.hang_up();
    driver.serve(handler, wire).await.unwrap();
    assert!((1..TIMES).contains(&taken.load(Ordering::Relaxed)));
}

/// The future of a request's cancellation completes at once, as often as it is awaited.
#[tokio::test]
async fn a_handler_that_waits_for_its_cancel_again_lets_others_run() {
    let (taken, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, stopped) = (taken.clone(), stop.clone());
    let handler = answering(move |_, context| {
        let (count, stopped) = (count.clone(), stopped.clone());
        async move {
            for number in 1..=TIMES {
                context.cancelled().await;
                count.store(number, Ordering::Relaxed);
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
            }
            done("over")
        }
    });
    let (_, driver) = driver(mcp());
    let (wire, mut far) = wire();
    far.say(json!({ "jsonrpc": "2.0", "id": 1, "method": "ask" }));
    far.say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    let count = taken.clone();
    let rest = async move {
        while count.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        stop.store(true, Ordering::Relaxed);
        far.hang_up();
        far
    };
    let (served, _far) = tokio::join!(driver.serve(handler, wire), rest);
    served.unwrap();
    assert!((1..TIMES).contains(&taken.load(Ordering::Relaxed)));
}
