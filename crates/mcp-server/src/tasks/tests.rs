//! What a board does, whoever comes in which order.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_schema::{InputRequest, ListRootsRequest, Revision};
use futures::future::{join_all, poll_immediate};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::board::{Board, Outcome};
use super::boards::{Boards, NewTask, NoPlace};
use super::{TaskOwner, TaskRecord};
use crate::quota::{Holder, Limits, QuotaExceeded};

const ONE: Limits = Limits { total: 1, holder: 1 };
const NINE: Limits = Limits { total: 9, holder: 9 };

fn board() -> Arc<Board> {
    board_of("task")
}

fn board_of(id: &str) -> Arc<Board> {
    let board = Board::new(TaskRecord::new(id, TaskOwner::Bearer, Revision::V2026_07_28, None));
    board.begin();
    board
}

fn question() -> InputRequest {
    ListRootsRequest::default().into()
}

fn json(text: &'static str) -> RawJson {
    RawJson::parse(text.into()).expect("JSON")
}

/// Whether there was a place for a task.
fn has_place(
    boards: &Boards,
    id: &str,
    session: Option<&str>,
    ttl: Option<Duration>,
    limits: Limits,
) -> bool {
    let task = NewTask { id, session, ttl, bytes: 1 };
    boards.reserve(&task, &Holder::Unknown, limits, NINE).is_ok()
}

fn done() -> Outcome {
    Outcome::Result(json("{}"))
}

fn status(board: &Board) -> TaskStatus {
    board.record().status
}

#[tokio::test]
async fn it_works_again_once_all_that_it_asks_is_answered() {
    let board = board();
    let (mut one, mut two) = (Box::pin(board.ask("one", question())), Box::pin(board.ask("two", question())));
    assert!(poll_immediate(&mut one).await.is_none() && poll_immediate(&mut two).await.is_none());
    board.answer([("three".to_owned(), Ok(json("3"))), ("one".to_owned(), Ok(json("1")))]);
    assert_eq!(status(&board), TaskStatus::InputRequired);
    board.answer([("one".to_owned(), Ok(json("9")))]);
    assert_eq!(one.await.expect("an answer").as_str(), "1", "the first answer counts");
    board.answer([("two".to_owned(), Ok(json("2")))]);
    assert_eq!(status(&board), TaskStatus::Working);
    assert_eq!(two.await.expect("an answer").as_str(), "2");
}

#[tokio::test]
async fn a_question_that_is_dropped_is_withdrawn_and_its_key_is_used() {
    let board = board();
    let mut asked = Box::pin(board.ask("one", question()));
    assert!(poll_immediate(&mut asked).await.is_none());
    drop(asked);
    assert_eq!((status(&board), board.record().input_requests.len()), (TaskStatus::Working, 0));
    let again = poll_immediate(Box::pin(board.ask("one", question()))).await;
    assert!(again.is_some_and(|refused| refused.is_err()), "another question has another key");
}

#[tokio::test]
async fn what_is_final_changes_no_more() {
    for end in [
        |board: &Board| board.finish(done()),
        |board: &Board| board.finish(Outcome::Error(ErrorObject::internal_error("no"))),
        |board: &Board| assert!(board.cancel("enough")),
    ] {
        let board = board();
        board.say("half".to_owned());
        end(&board);
        let (version, record) = board.now();
        board.say("more".to_owned());
        board.finish(done());
        assert!(!board.cancel("too late") && board.ask("one", question()).await.is_err());
        board.answer([("one".to_owned(), Ok(json("1")))]);
        assert_eq!(board.now(), (version, record));
    }
}

#[tokio::test]
async fn only_one_takes_a_question_to_the_client_until_it_leaves() {
    let (board, none) = (board(), BTreeSet::new());
    let mut asked = Box::pin(board.ask("one", question()));
    assert!(poll_immediate(&mut asked).await.is_none());
    let (taken, _) = board.take_question(&none).await.expect("a question");
    let mut next = Box::pin(board.take_question(&none));
    assert!(poll_immediate(&mut next).await.is_none());
    drop(taken);
    let (taken, _) = next.await.expect("it is there again");
    taken.answer(Ok(json("1")));
    assert_eq!(asked.await.expect("an answer").as_str(), "1");
}

#[tokio::test(start_paused = true)]
async fn the_board_of_a_task_that_nobody_carries_any_more_leaves_with_its_time() {
    let (boards, board, minute) = (Boards::default(), board(), Duration::from_secs(60));
    assert!(has_place(&boards, board.id(), None, Some(minute), ONE));
    boards.add(&board);
    tokio::time::advance(minute).await;
    assert!(!has_place(&boards, "next", None, Some(minute), ONE), "it still runs");
    board.give_up("dropped");
    assert!(has_place(&boards, "next", None, Some(minute), ONE) && boards.all().is_empty());
    tokio::time::advance(minute).await;
    assert!(has_place(&boards, "last", None, Some(minute), ONE));
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_session_is_left_when_it_is_over() {
    let (boards, running, done) = (Boards::default(), board_of("running"), board_of("done"));
    for board in [&running, &done] {
        assert!(has_place(&boards, board.id(), Some("session"), None, NINE));
        boards.add(board);
    }
    assert!(has_place(&boards, "other", Some("another"), None, NINE));
    done.finish(self::done());
    boards.end_session("session");
    assert!(boards.all().is_empty() && running.is_cancelled() && !done.is_cancelled());
    let mut stale = [boards.take_stale(), boards.take_stale()];
    stale.sort();
    assert_eq!(stale, [Some("done".to_owned()), Some("running".to_owned())]);
    assert!(boards.take_stale().is_none() && boards.has_any());
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

/// The function: it asks some questions, several at once, gives up some of them, and ends, unless nobody lets it.
fn function(board: Arc<Board>, seed: u64) -> JoinHandle<()> {
    start(seed, 1, async move |mut chance| {
        for round in 0..4 {
            let asking = (0..=chance.below(3)).map(|number| {
                let (board, patience) = (board.clone(), chance.below(60));
                async move {
                    let key = format!("{round}-{number}");
                    let answer = board.ask(&key, question());
                    let _given_up = timeout(Duration::from_millis(2 + patience), answer).await;
                }
            });
            join_all(asking).await;
            board.say(format!("round {round}"));
            chance.pause().await;
        }
        board.finish(done());
    })
}

/// A client that polls, and answers some of what it sees, and keys that nobody asked.
fn client(board: Arc<Board>, seed: u64, role: u64) -> JoinHandle<()> {
    start(seed, role, async move |mut chance| {
        while !board.is_over() {
            let open: Vec<_> = board.record().input_requests.into_keys().collect();
            let some = open.into_iter().filter(|_| chance.below(2) == 0).chain(["none".to_owned()]);
            board.answer(some.map(|key| (key, Ok(json("1")))));
            chance.pause().await;
        }
    })
}

/// A client that waits for the result, is asked, and at times leaves in between.
fn waiter(board: Arc<Board>, seed: u64, role: u64) -> JoinHandle<()> {
    start(seed, role, async move |mut chance| {
        let none = BTreeSet::new();
        while let Some((taken, _)) = board.take_question(&none).await {
            let _withdrawn = timeout(Duration::from_millis(chance.below(4)), taken.withdrawn()).await;
            if chance.below(3) > 0 {
                taken.answer(Ok(json("1")));
            }
            chance.pause().await;
        }
    })
}

/// Sees every status that there is, and the end.
fn witness(board: Arc<Board>, trace: Arc<Mutex<Vec<TaskRecord>>>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut version = 0;
        loop {
            let (next, record) = board.changed(version).await;
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
        let (board, trace) = (board(), Arc::default());
        let cancelled = board.cancelled();
        let mut all = vec![witness(board.clone(), Arc::clone(&trace)), function(board.clone(), seed)];
        all.extend((2..4).map(|role| client(board.clone(), seed, role)));
        all.extend((4..7).map(|role| waiter(board.clone(), seed, role)));
        if seed % 3 == 0 {
            let board = board.clone();
            all.push(start(seed, 7, async move |mut chance| {
                sleep(Duration::from_millis(chance.below(60))).await;
                let was_open = board.cancel("enough");
                assert!(board.is_over() && was_open == board.is_cancelled());
            }));
        }
        let ended = timeout(Duration::from_secs(3600), join_all(all)).await;
        for end in ended.unwrap_or_else(|_| panic!("seed {seed}: somebody waits for ever")) {
            end.unwrap_or_else(|panic| panic!("seed {seed}: {panic}"));
        }
        if board.is_cancelled() {
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
    let boards = Boards::default();
    let take = |id, bytes| {
        let task = NewTask { id, session: None, ttl: Some(Duration::from_secs(60)), bytes };
        boards.reserve(&task, &Holder::Unknown, NINE, NINE)
    };
    assert!(take("one", 6).is_ok());
    assert!(matches!(take("two", 4), Err(NoPlace::TooManyBytes(QuotaExceeded::Total(9)))));
    assert!(
        boards.resize("one", 10, NINE).is_err() && take("two", 9).is_ok(),
        "nothing is kept of what is too long"
    );
    assert_eq!(boards.resize("one", 1, NINE), Err(QuotaExceeded::Total(9)));
    assert_eq!(boards.resize("gone", 10, NINE), Ok(()));
    boards.release("two");
    assert_eq!(boards.resize("one", 9, NINE), Ok(()));
    tokio::time::advance(Duration::from_secs(60)).await;
    assert!(take("three", 9).is_ok(), "the time of the others is over");
}
