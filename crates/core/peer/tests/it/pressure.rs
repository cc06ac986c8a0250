//! A peer that does not read, or asks too much.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use agentwire_jsonrpc::Request;
use agentwire_peer::{CallError, Peer};
use futures::FutureExt;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::sync::{Notify, Semaphore};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::support::{
    Far, HOUR, acp, answering, ask, asked, beside, deaf, done, driver, hearing, note, noted, on, settle,
    wire, with_wire, within,
};

fn request(id: u64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": text}})
}

fn notification(number: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "note", "params": {"number": number}})
}

#[tokio::test(start_paused = true)]
async fn a_handler_waits_while_the_peer_does_not_read() {
    let said = Cell::new(0);
    let handler = answering(async |_, context| {
        for number in 0..10_000 {
            context.peer().notify(&note(number)).await.unwrap();
            said.set(number + 1);
        }
        done("done")
    });
    with_wire(acp().high_water(4 << 10), handler, async |_, mut far| {
        far.take(0);
        far.say(request(1, ""));
        settle().await;
        // About 80 bytes each.
        let before = said.get();
        assert!((30..100).contains(&before), "{before}");
        far.take(10);
        settle().await;
        assert!((before + 9..=before + 11).contains(&said.get()), "{} after {before}", said.get());
        far.take_all();
        for number in 0..10_000 {
            assert_eq!(far.heard().await["params"]["number"], number);
        }
        assert_eq!(far.heard().await["result"], "done");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn reading_goes_on_while_the_queue_is_full_and_stops_at_the_limit() {
    let heard = RefCell::new(Vec::new());
    let handler = on(
        async |_, context| {
            for number in 0..1_000 {
                context.peer().notify(&note(number)).await.unwrap();
            }
            done(())
        },
        |notification, _| heard.borrow_mut().push(noted(&notification)),
    );
    with_wire(acp().high_water(1 << 10).request_limit(3).backlog_limit(0), handler, async |_, mut far| {
        far.take(0);
        far.say(request(1, ""));
        far.say(request(2, ""));
        far.say(notification(1));
        settle().await;
        assert_eq!(*heard.borrow(), [1], "the queue is full, but a request may still come");
        far.say(request(3, ""));
        far.say(notification(2));
        far.say(request(4, ""));
        settle().await;
        assert_eq!(*heard.borrow(), [1], "nothing may come");
        far.take(20);
        settle().await;
        assert_eq!(*heard.borrow(), [1], "it is full again");
        far.take_all();
        settle().await;
        assert_eq!(*heard.borrow(), [1, 2]);
        let heard = far.heard_so_far();
        let answers: Vec<_> = heard.iter().filter(|message| message["id"].is_u64()).collect();
        assert_eq!((heard.len(), answers.len()), (4_004, 4));
        assert!(answers.iter().all(|answer| answer["result"].is_null() && answer["error"].is_null()));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn reading_starts_again_when_calls_are_taken_back() {
    let heard = Cell::new(0);
    let handler = on(async |_, _| pending().await, |_, _| heard.set(heard.get() + 1));
    with_wire(acp().high_water(200).request_limit(1).backlog_limit(0), handler, async |peer, mut far| {
        far.take(0);
        far.say(request(1, ""));
        let calls = join_all((0..10).map(|_| peer.call(&ask("never sent"))));
        let in_time = tokio::time::timeout(Duration::from_secs(1), calls);
        let script = async {
            settle().await;
            far.say(notification(1));
            settle().await;
            assert_eq!(heard.get(), 0, "full of calls");
        };
        assert!(tokio::join!(in_time, script).0.is_err());
        settle().await;
        assert_eq!(heard.get(), 1);
        far.take_all();
        settle().await;
        assert_eq!(far.heard_so_far(), [] as [Value; 0]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn reading_starts_again_when_there_is_room_although_nobody_waits_for_it() {
    let heard = Rc::new(Cell::new(0));
    let counter = heard.clone();
    let handler = on(async |_, _| pending().await, move |_, _| counter.set(counter.get() + 1));
    let (peer, driver) = driver(acp().high_water(200).request_limit(1).backlog_limit(0));
    let (wire, mut far) = wire();
    let script = async {
        far.take(0);
        far.say(request(1, ""));
        (0..5).for_each(|number| peer.notify_now(&note(number)).unwrap());
        settle().await;
        far.say(notification(1));
        settle().await;
        assert_eq!(heard.get(), 0, "full, and at the limit");
        far.take_all();
        settle().await;
        assert_eq!(heard.get(), 1);
        far.hang_up();
    };
    within(HOUR, beside(async { driver.serve(handler, wire).await.unwrap() }, script)).await;
}

#[tokio::test(start_paused = true)]
async fn requests_over_the_limit_are_refused() {
    let handler = answering(async |request, context| {
        context.cancelled().await;
        done(asked(&request))
    });
    with_wire(acp().request_limit(2), handler, async |_, mut far| {
        (1..=3).for_each(|id| far.say(request(id, "here")));
        let refusal = far.heard().await;
        assert_eq!((&refusal["id"], &refusal["error"]["data"]), (&json!(3), &json!({"limit": 2})));
        far.say(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 2}}));
        assert_eq!(far.heard().await["result"], "here");
        far.say(request(4, ""));
        settle().await;
        assert_eq!(far.heard_so_far(), [] as [Value; 0], "there was a place again");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_gets_room() {
    with_wire(acp().high_water(100), deaf(), async |peer, mut far| {
        far.take(0);
        let talkers = join_all((0..10).map(async |_| {
            for number in 0..100 {
                peer.notify(&note(number)).await.unwrap();
            }
        }));
        let listener = async {
            for _ in 0..1_000 {
                far.take(1);
                far.heard().await;
            }
        };
        tokio::join!(talkers, listener);
    })
    .await;
}

/// Two wait for room, one after the other: the first is woken and finds that others were quicker, or leaves.
async fn two_wait(leaves: bool) {
    with_wire(acp().high_water(100), deaf(), async |peer, mut far| {
        far.take(0);
        peer.notify(&note(0)).await.unwrap();
        peer.notify(&note(1)).await.unwrap();
        let mut first = peer.notify(&note(2));
        assert!(futures::poll!(&mut first).is_pending());
        far.take(1);
        settle().await;
        assert_eq!(far.heard_so_far().len(), 1, "there is room");
        peer.notify(&note(3)).await.unwrap();
        // A task of its own is polled only when it is woken.
        let second = tokio::spawn({
            let peer = peer.clone();
            async move { peer.notify(&note(4)).await.unwrap() }
        });
        settle().await;
        if leaves {
            drop(first);
            far.take_all();
        } else {
            assert!(futures::poll!(&mut first).is_pending());
            far.take_all();
            first.await.unwrap();
        }
        second.await.unwrap();
        settle().await;
        assert_eq!(far.heard_so_far().len(), if leaves { 3 } else { 4 });
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn one_who_was_woken_and_leaves_takes_nobodys_place() {
    two_wait(true).await;
}

#[tokio::test(start_paused = true)]
async fn one_who_was_woken_and_waits_again_takes_nobodys_place() {
    two_wait(false).await;
}

#[tokio::test(start_paused = true)]
async fn notifications_that_are_given_up_leave_no_gap() {
    let heard = Cell::new(0);
    let handler = hearing(|_, _| heard.set(heard.get() + 1));
    with_wire(acp().high_water(100), handler, async |peer, mut far| {
        far.take(0);
        for number in 0..20 {
            let _given_up = tokio::time::timeout(Duration::from_secs(1), peer.notify(&note(number))).await;
        }
        let call = peer.call(&ask("")).timeout(Duration::from_secs(5));
        let script = async {
            settle().await;
            far.take_all();
            while far.heard().await["id"] != 1 {}
            far.say(json!({"jsonrpc": "2.0", "id": 1, "result": true}));
        };
        assert_eq!(tokio::join!(call, script).0.unwrap(), true);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_room_counts_towards_the_time_out() {
    with_wire(acp().high_water(100), deaf(), async |peer, far| {
        far.take(0);
        peer.notify(&note(0)).await.unwrap();
        peer.notify(&note(1)).await.unwrap();
        let start = tokio::time::Instant::now();
        let call = |seconds| {
            let call = peer.call(&ask("")).timeout(Duration::from_secs(seconds));
            // A task of its own is polled only when it is woken.
            tokio::spawn(async move { (call.await, start.elapsed().as_secs()) }).map(Result::unwrap)
        };
        for (seconds, (error, elapsed)) in [2, 1, 3].into_iter().zip(join_all([2, 1, 3].map(call)).await) {
            assert!(matches!(error, Err(CallError::TimedOut { .. })), "{error:?}");
            assert_eq!(elapsed, seconds);
        }
        // Room that comes in time leaves only the rest of the time.
        let (late, ()) = tokio::join!(call(10), async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            far.take_all();
        });
        assert!(
            matches!(late.0, Err(CallError::TimedOut { after, .. }) if after.as_secs() == 10),
            "{late:?}"
        );
        assert_eq!(late.1, 13);
    })
    .await;
}

/// A peer that asks for much and reads nothing: what it asked for is worked on as it reads.
#[tokio::test(start_paused = true)]
async fn handlers_begin_while_there_is_room_for_their_answers() {
    let begun = RefCell::new(Vec::new());
    let heard = Cell::new(0);
    let handler = on(
        async |request: Request, _| {
            begun.borrow_mut().push(request.id.as_u64().unwrap());
            done("x".repeat(100 << 10))
        },
        |_, _| heard.set(heard.get() + 1),
    );
    with_wire(acp(), handler, async |_, mut far| {
        far.take(0);
        (0..100).for_each(|id| far.say(request(id, "")));
        far.say(notification(1));
        settle().await;
        assert_eq!(heard.get(), 1, "reading goes on");
        assert_eq!(*begun.borrow(), (0..11).collect::<Vec<_>>(), "1 MiB, and the answer that made it so");
        far.take(5);
        settle().await;
        assert_eq!(begun.borrow().len(), 16);
        far.take_all();
        settle().await;
        assert_eq!(*begun.borrow(), (0..100).collect::<Vec<_>>());
        let ids: Vec<_> = far.heard_so_far().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (0..100).collect::<Vec<_>>());
    })
    .await;
}

/// The same of those who have begun when there was room, and all have their answers at once.
#[tokio::test(start_paused = true)]
async fn handlers_go_on_while_there_is_room_for_their_answers() {
    let (ended, go) = (Cell::new(0), Semaphore::new(0));
    let handler = answering(async |_, _| {
        let _go = go.acquire().await;
        ended.set(ended.get() + 1);
        done("x".repeat(100 << 10))
    });
    with_wire(acp(), handler, async |_, mut far| {
        far.take(0);
        (0..100).for_each(|id| far.say(request(id, "")));
        settle().await;
        go.add_permits(100);
        settle().await;
        assert_eq!(ended.get(), 11);
        far.take_all();
        settle().await;
        assert_eq!((ended.get(), far.heard_so_far().len()), (100, 100));
    })
    .await;
}

/// The bytes in the transport count, too, until they are written.
#[tokio::test(start_paused = true)]
async fn a_transport_that_holds_much_holds_up_handlers() {
    let begun = Cell::new(0);
    let handler = answering(async |_, _| {
        begun.set(begun.get() + 1);
        done("x".repeat(2 << 20))
    });
    let (near, far) = tokio::io::duplex(1 << 10);
    let (read, write) = tokio::io::split(near);
    let near = agentwire_transport::lines(read.compat(), write.compat_write());
    let (_, driver) = driver(acp());
    let served = async { driver.serve(handler, near).await.unwrap() };
    let script = async {
        let (read, mut write) = tokio::io::split(far);
        for id in 0..3 {
            write.write_all(format!("{}\n", request(id, "")).as_bytes()).await.unwrap();
        }
        settle().await;
        assert_eq!(begun.get(), 1);
        let mut lines = tokio::io::BufReader::new(read).lines();
        for _ in 0..3 {
            assert!(lines.next_line().await.unwrap().unwrap().len() > 2 << 20);
        }
        assert_eq!(begun.get(), 3);
    };
    within(HOUR, async {
        tokio::select! { () = served => panic!("it goes on"), () = script => {} }
    })
    .await;
}

/// Two that both ask for more than either may hold, and both answer before they read on.
#[tokio::test(start_paused = true)]
async fn two_who_ask_each_other_for_much_both_get_it() {
    let text = "x".repeat(300 << 10);
    let handler = || answering(async |_, _| done(&text));
    let (left, right) = agentwire_transport::duplex(1);
    let ((one, near), (other, far)) = (driver(acp()), driver(acp()));
    let asking = async |peer: Peer| {
        let answers = join_all((0..200).map(|_| peer.call(&ask("")))).await;
        answers.into_iter().for_each(|answer| assert_eq!(answer.unwrap(), *text));
    };
    let (one_done, other_done) = (Notify::new(), Notify::new());
    let near = near.run(handler(), left, async {
        asking(one).await;
        one_done.notify_one();
        other_done.notified().await;
    });
    let far = far.run(handler(), right, async {
        asking(other).await;
        other_done.notify_one();
        one_done.notified().await;
    });
    within(HOUR, async { tokio::join!(near, far) }).await;
}

#[tokio::test(start_paused = true)]
async fn requests_over_the_limit_of_bytes_are_refused() {
    let handler = answering(async |request, context| {
        context.cancelled().await;
        done(asked(&request).len())
    });
    with_wire(acp().request_bytes_limit(1_000), handler, async |_, mut far| {
        let cancel =
            |id| json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}});
        let ended = async |far: &mut Far, id: u64| {
            far.say(cancel(id));
            let answer = far.heard().await;
            assert_eq!(answer["id"], id);
            answer["result"].as_u64()
        };
        far.say(request(1, &"x".repeat(2_000)));
        settle().await;
        assert_eq!(far.heard_so_far(), [] as [Value; 0], "one alone may be longer");
        far.say(request(2, ""));
        let refusal = far.heard().await;
        assert_eq!((&refusal["id"], &refusal["error"]["data"]), (&json!(2), &json!({"limit": 1_000})));
        assert_eq!(ended(&mut far, 1).await, Some(2_000));
        far.say(request(3, &"x".repeat(600)));
        far.say(request(4, &"x".repeat(300)));
        far.say(request(5, &"x".repeat(300)));
        assert_eq!(far.heard().await["id"], 5);
        assert_eq!(ended(&mut far, 3).await, Some(600));
        assert_eq!(ended(&mut far, 4).await, Some(300));
    })
    .await;
}

/// Messages after writing has failed are not sent, so none of them is kept, and nothing waits for them.
#[tokio::test(start_paused = true)]
async fn handlers_end_although_nothing_can_be_written() {
    let ended = Cell::new(0);
    let handler = answering(async |_, _| {
        ended.set(ended.get() + 1);
        done("x".repeat(1 << 20))
    });
    with_wire(acp(), handler, async |peer, mut far| {
        far.take(0);
        (0..10).for_each(|id| far.say(request(id, "")));
        settle().await;
        assert_eq!(ended.get(), 1);
        far.break_writes();
        settle().await;
        assert_eq!(ended.get(), 10);
        far.hang_up();
        peer.closed().await;
    })
    .await;
}
