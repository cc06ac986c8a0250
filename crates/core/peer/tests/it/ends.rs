//! How a connection ends, and what becomes of everybody who waits.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::time::Duration;

use agentwire_jsonrpc::{Request, WithCauses};
use agentwire_peer::{CallError, Closed, Peer, RequestContext};
use agentwire_transport::{Packet, TransportError};
use futures::channel::oneshot;
use futures::future::{LocalBoxFuture, join, select};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::support::{
    Far, HOUR, acp, answering, ask, asked, deaf, done, driver, note, settle, wire, with_wire, within,
};

const SECOND: Duration = Duration::from_secs(1);

fn request(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": text}})
}

/// The transport's error when it ended, if it had one.
fn said(closed: &Closed) -> Option<ErrorKind> {
    closed.reason.as_deref().map(|fault| match fault {
        TransportError::Io(error) => error.kind(),
        other => panic!("{other}"),
    })
}

#[track_caller]
fn closed<R: std::fmt::Debug>(result: Result<R, CallError>) -> Option<ErrorKind> {
    match result {
        Err(CallError::Closed(closed)) => said(&closed),
        other => panic!("not closed: {other:?}"),
    }
}

/// Everything that can be done with a handle fails.
async fn all_fails(peer: &Peer) {
    assert!(peer.is_closed());
    closed(peer.call(&ask("")).await);
    closed(peer.call(&ask("")).timeout(SECOND).await);
    closed(peer.notify(&note(1)).await);
    closed(peer.notify_now(&note(1)));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_closes_fails_the_calls_to_it() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let script = async {
            far.heard().await;
            far.hang_up();
        };
        assert_eq!(closed(tokio::join!(peer.call(&ask("")), script).0), None);
        assert!(peer.is_closed());
        let start = Instant::now();
        assert_eq!(closed(peer.call(&ask("after that")).await), None);
        assert_eq!(start.elapsed(), Duration::ZERO);
        sleep(10 * SECOND).await;
        assert_eq!(closed(peer.call(&ask("long after that")).await), None);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_asks_after_the_end_is_told_at_once() {
    let handler = answering(async |_, context| {
        sleep(SECOND / 2).await;
        let start = Instant::now();
        assert_eq!(closed(context.peer().call(&ask("")).await), None);
        done(start.elapsed().as_millis())
    });
    let (_, driver) = driver(acp());
    let (wire, mut far) = wire();
    far.say(request(1, ""));
    far.hang_up();
    within(HOUR, driver.serve(handler, wire)).await.unwrap();
    assert_eq!(far.heard().await["result"], 0);
}

#[tokio::test(start_paused = true)]
async fn work_may_go_on_for_a_while_after_the_end() {
    let handler = answering(async |_, context| {
        sleep(SECOND * 9 / 10).await;
        context.peer().notify(&note(1)).await.unwrap();
        done("in time")
    });
    let (_, driver) = driver(acp());
    let (wire, mut far) = wire();
    far.say(request(1, ""));
    far.hang_up();
    let start = Instant::now();
    within(HOUR, driver.serve(handler, wire)).await.unwrap();
    assert_eq!(start.elapsed(), SECOND * 9 / 10, "it ends as soon as nothing is left to do");
    assert_eq!(far.heard().await["method"], "note");
    assert_eq!(far.heard().await["result"], "in time");
    assert_eq!(far.heard().await, Value::Null);
}

/// Sets a flag when it is dropped.
struct Flag<'a>(&'a Cell<bool>);

impl Drop for Flag<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_hangs_is_dropped_and_answered() {
    let dropped = Cell::new(false);
    let handler = answering(async |_, _| {
        let _flag = Flag(&dropped);
        pending().await
    });
    let (_, driver) = driver(acp().drain(3 * SECOND));
    let (wire, mut far) = wire();
    far.say(request(1, ""));
    far.hang_up();
    let start = Instant::now();
    within(HOUR, driver.serve(handler, wire)).await.unwrap();
    assert_eq!(start.elapsed(), 3 * SECOND);
    assert!(dropped.get());
    let answer = far.heard().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn signal_to_shut_down_lets_handlers_end_and_refuses_requests() {
    let (stop, stopped) = oneshot::channel::<()>();
    let handler =
        answering(async |_, context: RequestContext| done(context.peer().call(&ask("")).await.unwrap()));
    let (_, driver) = driver(acp().drain(3 * SECOND).shutdown(async { _ = stopped.await }));
    let (wire, mut far) = wire();
    far.say(request(1, ""));
    let client = async {
        let asked = far.heard().await;
        stop.send(()).unwrap();
        settle().await;
        far.say(request(2, ""));
        let refused = far.heard().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(-32603)), "{refused}");
        assert_eq!(refused["error"]["message"], "the server is shutting down");
        far.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": "late"}));
        assert_eq!(far.heard().await["result"], "late");
        assert_eq!(far.heard().await, Value::Null, "the far end never closes its side");
    };
    let start = Instant::now();
    let (served, ()) = within(HOUR, join(driver.serve(handler, wire), client)).await;
    served.unwrap();
    assert!(start.elapsed() < SECOND, "it ends as soon as nothing is left to do");
}

#[tokio::test(start_paused = true)]
async fn signal_to_shut_down_that_panics_is_never_given() {
    let config = acp().shutdown(async { panic!("as asked") });
    for _ in 0..2 {
        let ((_, driver), (wire, mut far)) = (driver(config.clone()), wire());
        let client = async {
            far.say(request(1, ""));
            assert_eq!(far.heard().await["result"], "done");
            far.hang_up();
        };
        let handler = answering(async |_, _| done("done"));
        within(HOUR, join(driver.serve(handler, wire), client)).await.0.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn handler_that_hangs_is_dropped_after_the_signal_to_shut_down() {
    let stop = async { tokio::time::sleep(SECOND).await };
    let config = acp().drain(3 * SECOND).shutdown(stop);
    let start = Instant::now();
    // One signal ends all connections of a configuration; the second has nothing to do.
    for (sends, seconds) in [(true, 4), (false, 4)] {
        let (_, driver) = driver(config.clone());
        let (wire, mut far) = wire();
        if sends {
            far.say(request(1, ""));
        }
        within(HOUR, driver.serve(answering(async |_, _| pending().await), wire)).await.unwrap();
        assert_eq!(start.elapsed(), seconds * SECOND);
        assert_eq!(far.heard().await["error"]["code"], if sends { json!(-32603) } else { Value::Null });
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_of_main_is_the_end() {
    let dropped = Cell::new(0);
    let handler = answering(async |_, context| {
        let peer = context.peer().clone();
        let _says_farewell = scopeguard(|| {
            peer.notify_now(&note(7)).unwrap();
            dropped.set(dropped.get() + 1);
        });
        pending().await
    });
    let start = Instant::now();
    let (peer, driver) = driver(acp());
    let (wire, mut far) = wire();
    let main = async {
        far.say(request(1, ""));
        far.say(request(2, ""));
        settle().await;
        peer.notify(&note(1)).await.unwrap();
        "main"
    };
    let (output, closed) = within(HOUR, driver.run(handler, wire, main)).await;
    assert_eq!((output, said(&closed), dropped.get()), ("main", None, 2));
    assert!(start.elapsed() < SECOND, "nothing is left to wait for");
    let heard: Vec<_> = far.heard_so_far();
    let notes: Vec<_> = heard.iter().filter_map(|message| message["params"]["number"].as_u64()).collect();
    let answers: Vec<_> = heard.iter().filter_map(|message| message["error"]["code"].as_i64()).collect();
    assert_eq!((notes, answers), (vec![1, 7, 7], vec![-32603, -32603]), "{heard:?}");
    all_fails(&peer).await;
}

/// Calls a closure when it is dropped.
fn scopeguard(call: impl FnMut()) -> impl Drop {
    struct Guard<F: FnMut()>(F);
    impl<F: FnMut()> Drop for Guard<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    Guard(call)
}

#[tokio::test(start_paused = true)]
async fn calls_of_others_end_with_main() {
    let (peer, driver) = driver(acp());
    let (wire, mut far) = wire();
    far.never_close();
    let other = tokio::spawn({
        let peer = peer.clone();
        async move { (closed(peer.call(&ask("")).await), Instant::now()) }
    });
    let start = Instant::now();
    within(HOUR, driver.run(deaf(), wire, far.heard())).await;
    assert!(start.elapsed() >= 10 * SECOND, "the transport takes its time");
    let (reason, when) = other.await.unwrap();
    assert_eq!(reason, None);
    assert_eq!(when, start, "but the calls need not wait for it");
}

#[tokio::test(start_paused = true)]
async fn error_of_a_transport_is_the_reason() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let script = async {
            far.heard().await;
            far.fail(ErrorKind::ConnectionReset);
        };
        assert_eq!(closed(tokio::join!(peer.call(&ask("")), script).0), Some(ErrorKind::ConnectionReset));
        assert_eq!(closed(peer.call(&ask("")).await), Some(ErrorKind::ConnectionReset));
    })
    .await;
    let (_, driver) = driver(acp());
    let (wire, mut far) = wire();
    far.fail(ErrorKind::ConnectionReset);
    let error = within(HOUR, driver.serve(deaf(), wire)).await.unwrap_err();
    assert_eq!(said(&error), Some(ErrorKind::ConnectionReset));
}

/// Breaks the pipe while a call is in flight; `then` is what the reading side does half a second later.
async fn broken(then: impl FnOnce(&mut Far)) -> (Option<ErrorKind>, Duration, Closed) {
    let (peer, driver) = driver(acp());
    let (wire, mut far) = wire();
    let main = async {
        let script = async {
            far.heard().await;
            far.break_writes();
            peer.notify(&note(1)).await.unwrap();
            settle().await;
            assert_eq!(closed(peer.notify(&note(2)).await), Some(ErrorKind::BrokenPipe));
            assert_eq!(closed(peer.call(&ask("")).await), Some(ErrorKind::BrokenPipe));
            sleep(SECOND / 2).await;
            then(&mut far);
        };
        let call = async {
            let start = Instant::now();
            (closed(peer.call(&ask("")).await), start.elapsed())
        };
        let (end, ()) = tokio::join!(call, script);
        all_fails(&peer).await;
        end
    };
    let ((reason, elapsed), closed) = within(HOUR, driver.run(deaf(), wire, main)).await;
    (reason, elapsed, closed)
}

#[tokio::test(start_paused = true)]
async fn why_writing_failed_is_for_the_reading_side_to_say() {
    let (reason, elapsed, closed) = broken(|far| far.fail(ErrorKind::ConnectionAborted)).await;
    assert_eq!((reason, said(&closed)), (Some(ErrorKind::ConnectionAborted), reason));
    assert!(elapsed < SECOND);
    let (reason, elapsed, _) = broken(Far::hang_up).await;
    assert_eq!(reason, Some(ErrorKind::BrokenPipe));
    assert!(elapsed < SECOND);
    let (reason, elapsed, closed) = broken(|_| {}).await;
    assert_eq!((reason, said(&closed)), (Some(ErrorKind::BrokenPipe), reason));
    assert!((SECOND..SECOND * 11 / 10).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn serving_ends_when_writing_fails() {
    let (_, driver) = driver(acp());
    let (wire, far) = wire();
    far.break_writes();
    far.say(request(1, ""));
    let error = within(HOUR, driver.serve(answering(async |_, _| done(1)), wire)).await.unwrap_err();
    assert_eq!(said(&error), Some(ErrorKind::BrokenPipe));
}

#[tokio::test(start_paused = true)]
async fn that_one_who_has_left_does_not_listen_is_no_news() {
    let handler = answering(async |_, _| {
        sleep(SECOND / 2).await;
        done("nobody hears")
    });
    let (_, driver) = driver(acp());
    let (wire, mut far) = wire();
    far.say(request(1, ""));
    far.break_writes();
    far.hang_up();
    within(HOUR, driver.serve(handler, wire)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn main_outlives_the_peer() {
    let handler = answering(async |request, _| {
        sleep(5 * SECOND).await;
        done(asked(&request))
    });
    with_wire(acp(), handler, async |peer, mut far| {
        far.say(request(1, "still answered"));
        far.hang_up();
        sleep(60 * SECOND).await;
        // The peer has said its last word, but it may still listen.
        assert_eq!(far.heard().await["result"], "still answered");
        peer.notify(&note(1)).await.unwrap();
        assert_eq!(far.heard().await["method"], "note");
        closed(peer.call(&ask("")).await);
        far.break_writes();
        peer.notify(&note(2)).await.unwrap();
        settle().await;
        all_fails(&peer).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_never_closes_is_dropped() {
    let (_, driver) = driver(acp().close(7 * SECOND));
    let (wire, mut far) = wire();
    far.never_close();
    far.hang_up();
    let start = Instant::now();
    within(HOUR, driver.serve(deaf(), wire)).await.unwrap();
    assert_eq!((start.elapsed(), far.is_dropped()), (7 * SECOND, true));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_holds_nobody_for_ever() {
    let (peer, driver) = driver(acp().drain(2 * SECOND).high_water(100));
    let (wire, far) = wire();
    far.take(0);
    let start = Instant::now();
    let main = async { peer.notify(&note(1)).await.unwrap() };
    within(HOUR, driver.run(deaf(), wire, main)).await;
    assert_eq!(start.elapsed(), 2 * SECOND);
}

/// The futures of each kind that wait when the driver goes.
async fn others_wait(end: impl AsyncFnOnce(agentwire_peer::Driver, crate::support::Wire)) {
    let (peer, driver) = driver(acp().high_water(100));
    let (wire, far) = wire();
    far.take(1);
    let spawn = |number| {
        let peer = peer.clone();
        tokio::spawn(async move {
            closed(match number {
                0 => peer.call(&ask("in flight")).await.map(drop),
                1 => peer.call(&ask("queued")).await.map(drop),
                2 => peer.call(&ask("waits for room")).await.map(drop),
                3 => peer.notify(&note(1)).await,
                _ => Err(peer.closed().await.into()),
            })
        })
    };
    let others = [0, 1, 2, 3, 4].map(spawn);
    end(driver, wire).await;
    for other in others {
        assert_eq!(within(HOUR, other).await.unwrap(), None);
    }
    all_fails(&peer).await;
}

#[tokio::test(start_paused = true)]
async fn the_end_can_be_waited_for() {
    let (peer, driver) = driver(acp());
    let (wire, mut far) = wire();
    let [early, other] = [0; 2].map(|_| tokio::spawn(peer.closed()));
    let mut given_up = peer.closed();
    let main = async {
        assert!(futures::poll!(&mut given_up).is_pending());
        drop(given_up);
        settle().await;
        far.fail(ErrorKind::ConnectionReset);
        assert_eq!(said(&peer.closed().await), Some(ErrorKind::ConnectionReset));
        assert_eq!(said(&early.await.unwrap()), Some(ErrorKind::ConnectionReset));
    };
    within(HOUR, driver.run(deaf(), wire, main)).await;
    assert_eq!(said(&other.await.unwrap()), Some(ErrorKind::ConnectionReset));
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_ends_everything() {
    others_wait(async |driver, wire| {
        tokio::time::timeout(SECOND, driver.serve(deaf(), wire)).await.unwrap_err();
    })
    .await;
    others_wait(async |driver, wire| {
        settle().await;
        drop(driver.serve(deaf(), wire));
    })
    .await;
    others_wait(async |driver, _wire| {
        settle().await;
        drop(driver);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_driver_drops_the_handlers() {
    let dropped = Cell::new(false);
    let log = RefCell::new(None);
    let handler = answering(async |_, context| {
        let _flag = Flag(&dropped);
        *log.borrow_mut() = Some(context.clone());
        closed(context.peer().call(&ask("")).await);
        done(())
    });
    let (_, driver) = driver(acp());
    let (wire, mut far) = wire();
    far.say(request(1, ""));
    let serve = driver.serve(handler, wire);
    tokio::time::timeout(SECOND, serve).await.unwrap_err();
    assert!(dropped.get());
    assert!(far.is_dropped());
    assert_eq!(far.heard().await["method"], "ask");
    let context = log.take().unwrap();
    all_fails(context.peer()).await;
}

/// The transport goes on, so the other calls do too.
#[tokio::test(start_paused = true)]
async fn a_call_that_could_not_be_carried_fails_alone() {
    with_wire(acp(), deaf(), async |peer, far| {
        let script = async {
            settle().await;
            let fault = Arc::new(TransportError::other("no route"));
            far.give(Packet::RequestFailed { id: 1_u64.into(), error: fault.clone() });
            far.give(Packet::RequestFailed { id: 7_u64.into(), error: fault });
            far.say(json!({"jsonrpc": "2.0", "id": 2, "result": 2}));
        };
        let (first, second) = (ask("first"), ask("second"));
        let (first, second, ()) = tokio::join!(peer.call(&first), peer.call(&second), script);
        assert_eq!(second.unwrap(), 2);
        let error = first.unwrap_err();
        assert_eq!(WithCauses::new(&error).to_string(), "ask: failed: no route");
        assert!(
            matches!(error, CallError::Failed { fault, .. } if matches!(*fault, TransportError::Other(_)))
        );
    })
    .await;
}

/// Polls a task, again each time it was woken and no more often, until it is done. One thing after the other happens
/// when no task is woken any more.
fn poll_when_woken<F: Future>(task: F, events: &mut [&mut dyn FnMut()]) -> F::Output {
    struct Bell(AtomicBool);
    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let mut task = pin!(task);
    let bell = Arc::new(Bell(AtomicBool::new(true)));
    let waker = bell.clone().into();
    let mut cx = Context::from_waker(&waker);
    let mut events = events.iter_mut();
    loop {
        while bell.0.swap(false, Ordering::Relaxed) {
            if let Poll::Ready(output) = task.as_mut().poll(&mut cx) {
                return output;
            }
        }
        events.next().expect("everything has happened, and somebody was not woken")();
    }
}

/// A future beside the driver in its own task has the driver's waker, and must be woken all the same.
#[tokio::test(start_paused = true)]
async fn a_neighbour_in_the_task_of_the_driver_is_woken() {
    let (near, mut far) = wire();
    let (peer, driver) = driver(acp());
    let task = join(peer.closed(), driver.serve(deaf(), near));
    poll_when_woken(task, &mut [&mut || far.hang_up()]).1.unwrap();
}

/// So has the main future, which is part of the driver, and may wait for the same at the same time.
#[tokio::test(start_paused = true)]
async fn a_neighbour_is_woken_beside_a_main_future() {
    let beside = |waits: fn(Peer) -> LocalBoxFuture<'static, ()>, room: usize, events: fn(&mut Far)| {
        for with_main in [false, true] {
            let (near, mut far) = wire();
            far.take(room);
            let (peer, driver) = driver(acp().high_water(1));
            let main = async {
                if with_main {
                    waits(peer.clone()).await;
                }
                pending::<()>().await;
            };
            // The neighbour comes first, so it has been polled before the driver has anything for it.
            let run = pin!(driver.run(deaf(), near, main));
            poll_when_woken(select(waits(peer.clone()), run), &mut [&mut || events(&mut far)]);
        }
    };
    beside(
        |peer| Box::pin(async move { drop(peer.call(&ask("")).await) }),
        2,
        |far| (1..=2).for_each(|id| far.say(json!({"jsonrpc": "2.0", "id": id, "result": null}))),
    );
    beside(|peer| Box::pin(async move { drop(peer.closed().await) }), 2, Far::hang_up);
    // There is room for one message at a time.
    beside(
        |peer| {
            Box::pin(async move {
                peer.notify(&note(1)).await.unwrap();
                peer.notify(&note(2)).await.unwrap();
            })
        },
        0,
        |far| far.take_all(),
    );
}

/// A handler's task of its own is notified that the handler was dropped, or else it would never end.
#[tokio::test(start_paused = true)]
async fn task_that_outlives_a_handler_is_notified_of_the_end() {
    for by_driver in [true, false] {
        let (near, mut far) = wire();
        let (_, driver) = driver(acp().drain(Duration::from_secs(5)));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let spawned = heard.clone();
        let handler = answering(move |request: Request, context: RequestContext| {
            let (early, spawned) = (context.cancelled(), spawned.clone());
            let id = request.id.as_u64().unwrap();
            let late = context.clone();
            tokio::spawn(async move {
                early.await;
                // Asked for the first time when it is over.
                late.cancelled().await;
                assert!(late.is_cancelled());
                spawned.lock().unwrap().push(id);
            });
            if id == 2 {
                context.answer(done("answered"));
            }
            async move {
                let _held = context;
                pending().await
            }
        });
        let ask = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": ""}});
        (1..=3).for_each(|id| far.say(ask(id)));
        let served = async { driver.serve(handler, near).await.unwrap() };
        if by_driver {
            far.hang_up();
            within(HOUR, served).await;
        } else {
            // Dropped half-way.
            assert!(tokio::time::timeout(Duration::from_secs(1), served).await.is_err());
        }
        settle().await;
        heard.lock().unwrap().sort_unstable();
        assert_eq!(*heard.lock().unwrap(), [1, 3], "{by_driver}: the second was answered");
    }
}
