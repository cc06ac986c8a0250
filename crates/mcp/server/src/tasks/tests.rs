//! A task handle under calls in any order.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_schema::{InputRequest, ListRootsRequest, Revision};
use futures::future::{join_all, poll_immediate};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::handle::{Outcome, TaskHandle};
use super::registry::{NewTask, ReserveError, TaskRegistry};
use super::{TaskOwner, TaskRecord};
use crate::quota::{Holder, Limits, QuotaExceeded};

const ONE: Limits = Limits { total: 1, holder: 1 };
const NINE: Limits = Limits { total: 9, holder: 9 };

fn handle() -> Arc<TaskHandle> {
    board_of("task")
}

fn board_of(id: &str) -> Arc<TaskHandle> {
    let handle = TaskHandle::new(TaskRecord::new(id, TaskOwner::Bearer, Revision::V2026_07_28, None));
    handle.begin();
    handle
}

fn question() -> InputRequest {
    ListRootsRequest::default().into()
}

fn json(text: &'static str) -> RawJson {
    RawJson::parse(text.into()).expect("JSON")
}

/// Whether there was a place for a task.
fn has_place(
    registry: &TaskRegistry,
    id: &str,
    session: Option<&str>,
    ttl: Option<Duration>,
    limits: Limits,
) -> bool {
    let task = NewTask { id, session, ttl, bytes: 1 };
    registry.reserve(&task, &Holder::Unknown, limits, NINE).is_ok()
}

fn done() -> Outcome {
    Outcome::Result(json("{}"))
}

fn status(handle: &TaskHandle) -> TaskStatus {
    handle.record().status
}

#[tokio::test]
async fn it_works_again_once_all_that_it_asks_is_answered() {
    let handle = handle();
    let (mut one, mut two) =
        (Box::pin(handle.ask_raw("one", question())), Box::pin(handle.ask_raw("two", question())));
    assert!(poll_immediate(&mut one).await.is_none() && poll_immediate(&mut two).await.is_none());
    handle.answer([("three".to_owned(), Ok(json("3"))), ("one".to_owned(), Ok(json("1")))]);
    assert_eq!(status(&handle), TaskStatus::InputRequired);
    handle.answer([("one".to_owned(), Ok(json("9")))]);
    assert_eq!(one.await.expect("an answer").as_str(), "1", "the first answer counts");
    handle.answer([("two".to_owned(), Ok(json("2")))]);
    assert_eq!(status(&handle), TaskStatus::Working);
    assert_eq!(two.await.expect("an answer").as_str(), "2");
}

#[tokio::test]
async fn a_question_that_is_dropped_is_withdrawn_and_its_key_is_used() {
    let handle = handle();
    let mut asked = Box::pin(handle.ask_raw("one", question()));
    assert!(poll_immediate(&mut asked).await.is_none());
    drop(asked);
    assert_eq!((status(&handle), handle.record().input_requests.len()), (TaskStatus::Working, 0));
    let again = poll_immediate(Box::pin(handle.ask_raw("one", question()))).await;
    assert!(again.is_some_and(|refused| refused.is_err()), "another question has another key");
}

#[tokio::test]
async fn final_state_does_not_change() {
    for end in [
        |handle: &TaskHandle| handle.finish(done()),
        |handle: &TaskHandle| handle.finish(Outcome::Error(ErrorObject::internal_error("no"))),
        |handle: &TaskHandle| assert!(handle.cancel("enough")),
    ] {
        let handle = handle();
        handle.set_status("half".to_owned());
        end(&handle);
        let (version, record) = handle.now();
        handle.set_status("more".to_owned());
        handle.finish(done());
        assert!(!handle.cancel("too late") && handle.ask_raw("one", question()).await.is_err());
        handle.answer([("one".to_owned(), Ok(json("1")))]);
        assert_eq!(handle.now(), (version, record));
    }
}

#[tokio::test]
async fn only_one_takes_a_question_to_the_client_until_it_leaves() {
    let (handle, none) = (handle(), BTreeSet::new());
    let mut asked = Box::pin(handle.ask_raw("one", question()));
    assert!(poll_immediate(&mut asked).await.is_none());
    let (taken, _) = handle.claim_question(&none).await.expect("a question");
    let mut next = Box::pin(handle.claim_question(&none));
    assert!(poll_immediate(&mut next).await.is_none());
    drop(taken);
    let (taken, _) = next.await.expect("it is there again");
    taken.answer(Ok(json("1")));
    assert_eq!(asked.await.expect("an answer").as_str(), "1");
}

#[tokio::test(start_paused = true)]
async fn the_board_of_a_task_that_nobody_carries_any_more_leaves_with_its_time() {
    let (registry, handle, minute) = (TaskRegistry::default(), handle(), Duration::from_secs(60));
    assert!(has_place(&registry, handle.id(), None, Some(minute), ONE));
    registry.add(&handle);
    tokio::time::advance(minute).await;
    assert!(!has_place(&registry, "next", None, Some(minute), ONE), "it still runs");
    handle.fail("dropped");
    assert!(has_place(&registry, "next", None, Some(minute), ONE) && registry.all().is_empty());
    tokio::time::advance(minute).await;
    assert!(has_place(&registry, "last", None, Some(minute), ONE));
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_session_is_left_when_it_is_over() {
    let (registry, running, done) = (TaskRegistry::default(), board_of("running"), board_of("done"));
    for handle in [&running, &done] {
        assert!(has_place(&registry, handle.id(), Some("session"), None, NINE));
        registry.add(handle);
    }
    assert!(has_place(&registry, "other", Some("another"), None, NINE));
    done.finish(self::done());
    registry.end_session("session");
    assert!(registry.all().is_empty() && running.is_cancelled() && !done.is_cancelled());
    let mut stale = [registry.take_stale(), registry.take_stale()];
    stale.sort();
    assert_eq!(stale, [Some("done".to_owned()), Some("running".to_owned())]);
    assert!(registry.take_stale().is_none() && registry.has_any());
}

/// Numbers by chance, the same for each seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    async fn pause(&mut self) {
        match self.below(4) {
            0 => tokio::task::yield_now().await,
            _ => sleep(Duration::from_millis(self.below(5))).await,
        }
    }
}

fn start<F: Future<Output = ()> + Send + 'static>(
    seed: u64,
    role: u64,
    work: impl FnOnce(Chance) -> F,
) -> JoinHandle<()> {
    tokio::spawn(work(Chance(
        (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ role.wrapping_mul(0x0100_0000_01B3),
    )))
}

/// The function: it asks some questions, several at once, drops some of them, and ends.
fn function(handle: Arc<TaskHandle>, seed: u64) -> JoinHandle<()> {
    start(seed, 1, async move |mut chance| {
        for round in 0..4 {
            let questions = (0..=chance.below(3)).map(|number| {
                let (handle, patience) = (handle.clone(), chance.below(60));
                async move {
                    let key = format!("{round}-{number}");
                    let answer = handle.ask_raw(&key, question());
                    let _given_up = timeout(Duration::from_millis(2 + patience), answer).await;
                }
            });
            join_all(questions).await;
            handle.set_status(format!("round {round}"));
            chance.pause().await;
        }
        handle.finish(done());
    })
}

/// A client that polls, and answers some of the questions, and keys of no question.
fn client(handle: Arc<TaskHandle>, seed: u64, role: u64) -> JoinHandle<()> {
    start(seed, role, async move |mut chance| {
        while !handle.is_over() {
            let open: Vec<_> = handle.record().input_requests.into_keys().collect();
            let some = open.into_iter().filter(|_| chance.below(2) == 0).chain(["none".to_owned()]);
            handle.answer(some.map(|key| (key, Ok(json("1")))));
            chance.pause().await;
        }
    })
}

/// A client that waits for the result, is asked, and at times leaves in between.
fn waiter(handle: Arc<TaskHandle>, seed: u64, role: u64) -> JoinHandle<()> {
    start(seed, role, async move |mut chance| {
        let none = BTreeSet::new();
        while let Some((taken, _)) = handle.claim_question(&none).await {
            let _withdrawn = timeout(Duration::from_millis(chance.below(4)), taken.withdrawn()).await;
            if chance.below(3) > 0 {
                taken.answer(Ok(json("1")));
            }
            chance.pause().await;
        }
    })
}

/// Sees every status that there is, and the end.
fn witness(handle: Arc<TaskHandle>, trace: Arc<Mutex<Vec<TaskRecord>>>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut version = 0;
        loop {
            let (next, record) = handle.changed(version).await;
            assert!(next > version);
            version = next;
            let is_final = record.is_final();
            trace.lock().expect("nobody panicked").push(record);
            if is_final {
                return;
            }
        }
    })
}

#[tokio::test(start_paused = true)]
async fn whatever_the_order_nobody_waits_for_ever() {
    let mut ends = BTreeSet::new();
    for seed in 0..2000 {
        let (handle, trace) = (handle(), Arc::default());
        let cancelled = handle.cancelled();
        let mut all = vec![witness(handle.clone(), Arc::clone(&trace)), function(handle.clone(), seed)];
        all.extend((2..4).map(|role| client(handle.clone(), seed, role)));
        all.extend((4..7).map(|role| waiter(handle.clone(), seed, role)));
        if seed % 3 == 0 {
            let handle = handle.clone();
            all.push(start(seed, 7, async move |mut chance| {
                sleep(Duration::from_millis(chance.below(60))).await;
                let was_open = handle.cancel("enough");
                assert!(handle.is_over() && was_open == handle.is_cancelled());
            }));
        }
        let ended = timeout(Duration::from_secs(3600), join_all(all)).await;
        for end in ended.unwrap_or_else(|_| panic!("seed {seed}: somebody waits for ever")) {
            end.unwrap_or_else(|panic| panic!("seed {seed}: {panic}"));
        }
        if handle.is_cancelled() {
            cancelled.await;
        }
        for record in trace.lock().expect("nobody panicked").iter() {
            assert_eq!(
                record.status == TaskStatus::InputRequired,
                !record.input_requests.is_empty(),
                "seed {seed}"
            );
            ends.insert(record.status.clone());
        }
    }
    let seen = [TaskStatus::Working, TaskStatus::InputRequired, TaskStatus::Completed, TaskStatus::Cancelled];
    assert!(seen.iter().all(|status| ends.contains(status)), "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_counts_with_the_bytes_that_it_has_now() {
    let registry = TaskRegistry::default();
    let take = |id, bytes| {
        let task = NewTask { id, session: None, ttl: Some(Duration::from_secs(60)), bytes };
        registry.reserve(&task, &Holder::Unknown, NINE, NINE)
    };
    assert!(take("one", 6).is_ok());
    assert!(matches!(take("two", 4), Err(ReserveError::TooManyBytes(QuotaExceeded::Total(9)))));
    assert!(
        registry.resize("one", 10, NINE).is_err() && take("two", 9).is_ok(),
        "nothing is kept of what is too long"
    );
    assert_eq!(registry.resize("one", 1, NINE), Err(QuotaExceeded::Total(9)));
    assert_eq!(registry.resize("gone", 10, NINE), Ok(()));
    registry.release("two");
    assert_eq!(registry.resize("one", 9, NINE), Ok(()));
    tokio::time::advance(Duration::from_secs(60)).await;
    assert!(take("three", 9).is_ok(), "the time of the others is over");
}
