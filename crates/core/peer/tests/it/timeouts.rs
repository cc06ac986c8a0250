//! Calls that are not answered in time.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agentwire_peer::runtime::{CallExt, PeerExt};
use agentwire_peer::{CallError, Clock, Peer, TokioClock};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::{Far, HOUR, acp, ask, beside, deaf, mcp, note, settle, wire, with_wire, within};

const SECOND: Duration = Duration::from_secs(1);

/// Awaits a call and returns its outcome, and the time.
async fn timed<R>(call: impl Future<Output = Result<R, CallError>>) -> (bool, u64) {
    let start = tokio::time::Instant::now();
    let late = matches!(call.await, Err(CallError::TimedOut { .. }));
    (late, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn one_timer_serves_many_deadlines() {
    with_wire(acp(), deaf(), async |peer, mut far| {
        let calls = [3, 1, 2, 30, 2].map(|seconds| timed(peer.call(&ask("")).timeout(seconds * SECOND)));
        let script = async {
            tokio::time::sleep(10 * SECOND).await;
            assert_eq!(far.heard_so_far().len(), 5 + 4, "those who are late are cancelled");
            far.say(json!({"jsonrpc": "2.0", "id": 4, "result": 1}));
        };
        let (ends, ()) = tokio::join!(join_all(calls), script);
        assert_eq!(ends, [(true, 3), (true, 1), (true, 2), (false, 10), (true, 2)]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_error_says_what_was_called_and_how_long_was_waited() {
    let error = with_wire(acp(), deaf(), async |peer, _| {
        peer.call(&ask("")).timeout(Duration::from_millis(1500)).await.unwrap_err()
    });
    assert_eq!(error.await.to_string(), "ask: no answer within 1.5s");
}

/// Makes a call whose peer reports progress every two seconds for so long.
async fn with_progress(
    peer: &Peer,
    far: &Far,
    seconds: u64,
    maximum: Option<Duration>,
) -> (bool, u64, usize) {
    let heard = Arc::new(AtomicUsize::new(0));
    let hook = heard.clone();
    let id = peer.reserve_call();
    let mut call = peer.call(&ask("")).reserved(id).timeout(3 * SECOND).on_progress(move |_| {
        hook.fetch_add(1, Ordering::Relaxed);
    });
    if let Some(maximum) = maximum {
        call = call.progress_maximum(maximum);
    }
    let script = async {
        for _ in 0..seconds / 2 {
            tokio::time::sleep(2 * SECOND).await;
            let params = json!({"progressToken": id.request_id(), "progress": 1});
            far.say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
        }
    };
    let ((late, elapsed), ()) = tokio::join!(timed(call), script);
    (late, elapsed, heard.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn progress_extends_the_time_up_to_a_maximum_where_that_is_wanted() {
    with_wire(mcp(), deaf(), async |peer, far| {
        assert_eq!(with_progress(&peer, &far, 10, None).await, (true, 3, 1));
        assert_eq!(with_progress(&peer, &far, 10, Some(100 * SECOND)).await, (true, 13, 5));
        assert_eq!(with_progress(&peer, &far, 20, Some(7 * SECOND)).await, (true, 7, 3));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn times_too_long_for_a_clock_are_none() {
    let config = acp().drain(Duration::MAX).close(Duration::MAX);
    let (peer, driver) = crate::support::driver(config);
    let (wire, mut far) = wire();
    let main = async {
        let call = peer.call(&ask("")).timeout(Duration::MAX);
        let script = async {
            far.heard().await;
            tokio::time::sleep(SECOND).await;
            far.hang_up();
        };
        assert!(matches!(tokio::join!(call, script).0, Err(CallError::Closed(_))));
    };
    within(HOUR, driver.run(deaf(), wire, main)).await;
}

/// The tokio clock, with a list of when it is to ring.
#[derive(Clone, Default)]
struct Watched {
    alarms: Arc<Mutex<Vec<Instant>>>,
}

impl Clock for Watched {
    fn now(&self) -> Instant {
        TokioClock::default().now()
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.alarms.lock().unwrap().push(deadline);
        TokioClock::default().sleep_until(deadline)
    }
}

#[tokio::test(start_paused = true)]
async fn an_alarm_is_set_only_where_one_comes_first() {
    let clock = Watched::default();
    let (peer, driver) = agentwire_peer::driver(acp(), clock.clone());
    let (wire, mut far) = wire();
    let set = || std::mem::take(&mut *clock.alarms.lock().unwrap()).len();
    let mut answered = async |timeout: Duration| {
        let script = async {
            let id = far.heard().await["id"].clone();
            far.say(json!({"jsonrpc": "2.0", "id": id, "result": null}));
        };
        tokio::join!(peer.call(&ask("")).timeout(timeout), script).0.unwrap()
    };
    let main = async {
        for _ in 0..100 {
            assert_eq!(answered(60 * SECOND).await, Value::Null);
            tokio::time::sleep(SECOND / 10).await;
        }
        assert_eq!(set(), 1, "a later deadline can wait for the earlier alarm");
        answered(10 * SECOND).await;
        assert_eq!(set(), 1, "an earlier one cannot");
        // Nothing is due any more: what was set rings and is not set again.
        tokio::time::sleep(1_000 * SECOND).await;
        assert_eq!(set(), 0);
        join_all((0..50).map(|number| {
            let call = peer.call(&ask("")).timeout((10 + number) * SECOND);
            async move { call.await.unwrap_err() }
        }))
        .await;
        let set = set();
        assert!((50..=51).contains(&set), "one for each of 50 deadlines, not {set}");
        settle().await;
    };
    within(HOUR, driver.run(deaf(), wire, main)).await;
}

/// Sends a message at the last moment: when everything else in a round is done, the alarm is set.
#[derive(Clone, Default)]
struct Late {
    peer: Arc<Mutex<Option<Peer>>>,
}

impl Clock for Late {
    fn now(&self) -> Instant {
        TokioClock::default().now()
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        if let Some(peer) = self.peer.lock().unwrap().take() {
            peer.notify_now(&note(1)).unwrap();
        }
        TokioClock::default().sleep_until(deadline)
    }
}

#[tokio::test(start_paused = true)]
async fn change_at_the_last_moment_is_not_missed() {
    let clock = Late::default();
    let (peer, driver) = agentwire_peer::driver(acp(), clock.clone());
    *clock.peer.lock().unwrap() = Some(peer.clone());
    let (wire, mut far) = wire();
    let script = async {
        settle().await;
        let mut call = peer.call(&ask("")).timeout(SECOND);
        assert!(futures::poll!(&mut call).is_pending());
        settle().await;
        assert_eq!(far.heard_so_far().len(), 2);
        far.hang_up();
    };
    within(HOUR, beside(async { driver.serve(deaf(), wire).await.unwrap() }, script)).await;
}

/// A keeper of the time of several calls reports it in the same words.
#[test]
fn a_time_that_somebody_else_keeps() {
    let error = agentwire_peer::CallError::timed_out("turn", std::time::Duration::from_secs(3));
    assert!(matches!(error, agentwire_peer::CallError::TimedOut { .. }));
    assert_eq!(error.to_string(), "turn: no answer within 3s");
}
