//! Futures that wait for room in the send queue.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use futures::future::join_all;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use serde_json::json;

use crate::support::{Far, acp, ask, deaf, note, settle, with_wire};

/// Awaits a future, and counts its polls.
async fn counted<F: Future>(polls: &Cell<usize>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        polls.set(polls.get() + 1);
        future.as_mut().poll(cx)
    })
    .await
}

/// Answers each request.
async fn answer_all(far: &mut Far) {
    loop {
        let request = far.heard().await;
        far.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": true}));
    }
}

/// The polls of all of so many calls that are made at once.
async fn polls_of(calls: usize) -> usize {
    let polls = Cell::new(0);
    with_wire(acp().high_water(4 << 10), deaf(), async |peer, mut far| {
        let mut calls: FuturesUnordered<_> =
            (0..calls).map(|_| counted(&polls, peer.call(&ask("")))).collect();
        let asking = async {
            while let Some(answer) = calls.next().await.transpose().unwrap() {
                assert_eq!(answer, true);
            }
        };
        futures::select_biased! {
            () = asking.fuse() => {}
            () = answer_all(&mut far).fuse() => {}
        }
    })
    .await;
    polls.get()
}

#[tokio::test(start_paused = true)]
async fn polls_of_a_call_do_not_grow_with_the_calls_that_wait() {
    for calls in [10, 500, 8_000] {
        // One that waits, one that sends and one that takes the answer.
        let polls = polls_of(calls).await;
        assert!(polls <= 3 * calls, "{polls} polls of {calls} calls");
    }
}

#[tokio::test(start_paused = true)]
async fn freed_place_wakes_one_waiter_in_turn() {
    with_wire(acp().high_water(100), deaf(), async |peer, mut far| {
        far.take(0);
        peer.notify(&note(0)).await.unwrap();
        peer.notify(&note(1)).await.unwrap();
        let polls: Vec<_> = (0..50).map(|_| Cell::new(0)).collect();
        let order = RefCell::new(Vec::new());
        let mut waiters: FuturesUnordered<_> = (2..52)
            .map(async |number| {
                counted(&polls[number - 2], peer.notify(&note(number as u64))).await.unwrap();
                order.borrow_mut().push(number);
            })
            .collect();
        let sending = async { while waiters.next().await.is_some() {} };
        let taking = async {
            for sent in 0..52 {
                far.take(1);
                settle().await;
                let polled = polls.iter().filter(|polls| polls.get() > 1).count();
                assert!(
                    (sent..=sent + 2).contains(&polled) || polled == 50,
                    "{polled} woken for {sent} places"
                );
                assert_eq!(far.heard_so_far()[0]["params"]["number"], sent);
            }
        };
        tokio::join!(sending, taking);
        assert!(order.borrow().is_sorted(), "{order:?}");
        assert!(polls.iter().all(|polls| polls.get() <= 2), "{polls:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn newcomer_does_not_overtake_a_waiter() {
    with_wire(acp().high_water(100), deaf(), async |peer, mut far| {
        far.take(0);
        peer.notify(&note(0)).await.unwrap();
        peer.notify(&note(1)).await.unwrap();
        let mut waiter = peer.notify(&note(2));
        assert!(futures::poll!(&mut waiter).is_pending());
        far.take(1);
        settle().await;
        let mut newcomer = peer.notify(&note(3));
        assert!(futures::poll!(&mut newcomer).is_pending(), "the room is held for the waiter");
        waiter.await.unwrap();
        far.take_all();
        newcomer.await.unwrap();
        settle().await;
        let sent: Vec<_> = far.heard_so_far().iter().map(|note| note["params"]["number"].clone()).collect();
        assert_eq!(sent, [0, 1, 2, 3]);
    })
    .await;
}

/// A future that was woken and is kept, but not polled, must not stop the others.
#[tokio::test(start_paused = true)]
async fn waiter_that_is_not_polled_delays_the_others_briefly() {
    with_wire(acp().high_water(100), deaf(), async |peer, far| {
        far.take(0);
        peer.notify(&note(0)).await.unwrap();
        peer.notify(&note(1)).await.unwrap();
        let mut idle: Vec<_> = (0..5).map(|number| peer.notify(&note(number))).collect();
        for waiter in &mut idle {
            assert!(futures::poll!(waiter).is_pending());
        }
        let others = join_all((0..5).map(|number| {
            let peer = peer.clone();
            tokio::spawn(async move { peer.notify(&note(number)).await.unwrap() })
        }));
        far.take_all();
        let start = tokio::time::Instant::now();
        for sent in others.await {
            sent.unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    })
    .await;
}

/// Calls in `buffer_unordered` are not polled while the body of the loop waits for room.
#[tokio::test(start_paused = true)]
async fn call_in_the_loop_over_others_waits_for_one_hold() {
    const CALLS: usize = 200;
    let polls = Cell::new(0);
    with_wire(acp().high_water(1 << 10), deaf(), async |peer, mut far| {
        let text = "x".repeat(500);
        let start = tokio::time::Instant::now();
        let asking = async {
            let calls = (0..CALLS).map(|_| counted(&polls, peer.call(&ask(&text))));
            let mut answers = pin!(futures::stream::iter(calls).buffer_unordered(100));
            while let Some(answer) = answers.next().await {
                assert_eq!(answer.unwrap(), true);
                assert_eq!(peer.call(&ask("one more")).await.unwrap(), true);
            }
        };
        futures::select_biased! {
            () = asking.fuse() => {}
            () = answer_all(&mut far).fuse() => {}
        }
        assert!(start.elapsed() < Duration::from_millis(60), "{:?}", start.elapsed());
    })
    .await;
    assert!(polls.get() <= 100 * CALLS, "{} polls", polls.get());
}

/// However many they are, and wherever they are in the line.
#[tokio::test(start_paused = true)]
async fn waiters_that_are_not_polled_delay_all_others_by_one_hold() {
    with_wire(acp().high_water(100), deaf(), async |peer, far| {
        far.take(0);
        peer.notify(&note(0)).await.unwrap();
        peer.notify(&note(1)).await.unwrap();
        let start = tokio::time::Instant::now();
        let mut idle = Vec::new();
        let mut others = Vec::new();
        for number in 0..200 {
            let mut waiter = peer.notify(&note(number));
            assert!(futures::poll!(&mut waiter).is_pending());
            idle.push(waiter);
            if number % 50 == 0 {
                let peer = peer.clone();
                others.push(tokio::spawn(async move { peer.notify(&note(number)).await.unwrap() }));
                tokio::task::yield_now().await;
            }
        }
        far.take_all();
        for sent in join_all(others).await {
            sent.unwrap();
        }
        for number in 0..100 {
            peer.notify(&note(number)).await.unwrap();
        }
        assert!(start.elapsed() < Duration::from_millis(60), "{:?}", start.elapsed());
        for waiter in idle {
            waiter.await.unwrap();
        }
        assert!(start.elapsed() < Duration::from_millis(60), "{:?}", start.elapsed());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn waiter_that_is_not_polled_loses_its_room_while_others_send() {
    with_wire(acp().high_water(300), deaf(), async |peer, mut far| {
        far.take(0);
        while let Some(sent) = peer.notify(&note(0)).now_or_never() {
            sent.unwrap();
        }
        let mut idle: Vec<_> = (0..2).map(|_| peer.notify(&note(0))).collect();
        for waiter in &mut idle {
            assert!(futures::poll!(waiter).is_pending());
        }
        let queued = Cell::new(0);
        let sending = async {
            loop {
                peer.notify(&note(1)).await.unwrap();
                queued.set(queued.get() + 1);
            }
        };
        let taking = async {
            let mut levels = Vec::new();
            for _ in 0..100 {
                far.take(1);
                settle().await;
                let was_ours = far.heard_so_far()[0]["params"]["number"] == 1;
                queued.set(queued.get() - usize::from(was_ours));
                levels.push(queued.get());
            }
            levels
        };
        let levels = futures::select_biased! {
            levels = taking.fuse() => levels,
            () = sending.fuse() => unreachable!(),
        };
        assert!(levels[20] + 2 <= levels[99], "queued: {levels:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn polls_do_not_grow_with_the_calls_that_wait_after_a_hold_has_expired() {
    for calls in [500, 8_000] {
        let polls = Cell::new(0);
        with_wire(acp().high_water(4 << 10), deaf(), async |peer, mut far| {
            let mut idle: Vec<_> = (0..200).map(|_| peer.call(&ask(""))).collect();
            for call in &mut idle {
                assert!(futures::poll!(call).is_pending());
            }
            let mut calls: FuturesUnordered<_> =
                (0..calls).map(|_| counted(&polls, peer.call(&ask("")))).collect();
            let asking = async { while calls.next().await.transpose().unwrap().is_some() {} };
            futures::select_biased! {
                () = asking.fuse() => {}
                () = answer_all(&mut far).fuse() => {}
            }
        })
        .await;
        assert!(polls.get() <= 4 * calls, "{} polls of {calls} calls", polls.get());
    }
}
