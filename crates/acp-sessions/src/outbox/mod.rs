//! The one way that what happens in a session takes: into the journal first, then to the client.

mod write;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::ops::RangeInclusive;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_acp_agent::{CallError, Client};
use agentwire_acp_schema::v1::{SessionId, SessionUpdate};
use agentwire_jsonrpc::RawJson;
use agentwire_sync::{Mutex, MutexGuard};
use futures::FutureExt;
use futures::future::BoxFuture;

use self::write::{Entry, Failure, write};
use crate::facts::{Facts, Said, told};
use crate::shorten::shortened;
use crate::store::{SessionHeader, SessionStore, StoreError, Timestamp};
use crate::turn::TurnError;

/// How many updates may wait to be written. Whoever has more to say waits.
const ROOM: usize = 64;

/// How many failures are remembered.
const LOST: usize = 16;

/// Keeps the order: what is said first is written first and sent first, and nothing is sent that is not written.
///
/// What is said is worked off by whoever says something, as far as that needs no waiting, and otherwise by
/// [`drive`](Self::drive) in the background. So nobody who stops polling a future of theirs holds up anybody else.
pub(crate) struct Outbox {
    session_id: SessionId,
    store: Arc<dyn SessionStore>,
    state: Mutex<State>,
}

struct State {
    facts: Facts,
    header: SessionHeader,
    /// How many bytes of JSON an update may have.
    update_limit: usize,
    /// The turn that may speak.
    turn: Option<u64>,
    turns: u64,
    queue: VecDeque<Entry>,
    /// How many entries were ever queued.
    queued: u64,
    /// How many of them are done with.
    done: u64,
    work: Work,
    /// Why nothing works any more, until a turn tries again.
    failure: Option<Failure>,
    /// Which entries have failed, for those who have not asked yet; the latest are last.
    lost: VecDeque<(RangeInclusive<u64>, Failure)>,
    /// What held before the choices that are not written yet: it holds again if they fail.
    undo: VecDeque<(u64, Facts, Option<String>)>,
    /// Whether something was said since the session was last settled.
    unsettled: bool,
    driver: Option<Waker>,
    waiting: BTreeMap<u64, Waker>,
    waiters: u64,
    closed: bool,
}

enum Work {
    Idle,
    /// Somebody polls it now. Whether it is to be polled again then.
    Polled {
        again: bool,
    },
    Waiting(BoxFuture<'static, Result<(), Failure>>),
}

impl Outbox {
    pub(crate) fn new(
        store: Arc<dyn SessionStore>,
        header: SessionHeader,
        facts: Facts,
        update_limit: usize,
    ) -> Self {
        let session_id = header.session_id.clone();
        let state = State {
            facts,
            header,
            update_limit,
            turn: None,
            turns: 0,
            queue: VecDeque::new(),
            queued: 0,
            done: 0,
            work: Work::Idle,
            failure: None,
            lost: VecDeque::new(),
            undo: VecDeque::new(),
            unsettled: false,
            driver: None,
            waiting: BTreeMap::new(),
            waiters: 0,
            closed: false,
        };
        Self { session_id, store, state: Mutex::new(state) }
    }

    pub(crate) fn facts<R>(&self, look: impl FnOnce(&mut Facts) -> R) -> R {
        look(&mut self.lock().facts)
    }

    pub(crate) fn title(&self) -> Option<String> {
        self.lock().header.title.clone()
    }

    /// Begins a turn. Failures of the store that others met are forgotten: it is tried again.
    pub(crate) fn begin_turn(&self) -> u64 {
        let mut state = self.lock();
        state.turns += 1;
        state.turn = Some(state.turns);
        if matches!(state.failure, Some(Failure::Store(_))) {
            state.failure = None;
        }
        state.turns
    }

    /// Ends the turn: whoever speaks in it from now on is refused.
    pub(crate) fn end_turn(&self) {
        let mut state = self.lock();
        state.turn = None;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
    }

    /// Says something: in a turn, which must not be over, or by the session itself. `change` runs once it is this one's
    /// turn to be queued, and gives what there is to say.
    ///
    /// Once it is queued, it is said in full even when this future is dropped.
    pub(crate) async fn say<E: From<TurnError>>(
        &self,
        turn: Option<u64>,
        client: &Client,
        change: impl FnOnce(&Facts) -> Result<Vec<Said>, E>,
    ) -> Result<(), E> {
        self.queue(turn, false, client, change).await
    }

    /// As [`say`](Self::say), by the session itself, which is [settled](Self::settle) with it.
    pub(crate) async fn say_and_settle<E: From<TurnError>>(
        &self,
        client: &Client,
        change: impl FnOnce(&Facts) -> Result<Vec<Said>, E>,
    ) -> Result<(), E> {
        self.queue(None, true, client, change).await
    }

    async fn queue<E: From<TurnError>>(
        &self,
        turn: Option<u64>,
        settle: bool,
        client: &Client,
        change: impl FnOnce(&Facts) -> Result<Vec<Said>, E>,
    ) -> Result<(), E> {
        let mut change = Some(change);
        let mut waiter = Waiter { outbox: self, key: None };
        let number = poll_fn(|cx| {
            let mut state = self.lock();
            if state.closed || turn.is_some() && turn != state.turn {
                return Poll::Ready(Err(TurnError::Over.into()));
            }
            if let Some(failure) = &state.failure {
                return Poll::Ready(Err(TurnError::from(failure.clone()).into()));
            }
            if state.queue.len() >= ROOM {
                waiter.wait(&mut state, cx);
                return Poll::Pending;
            }
            let change = change.take().expect("it is not polled again once it is ready");
            Poll::Ready(change(&state.facts).and_then(|said| Ok(state.push(client, said, settle)?)))
        })
        .await?;
        self.done(number).await?;
        Ok(())
    }

    /// Says something that is not kept, unless the session is closed. In the same queue as all else, so that closing the
    /// session waits for it.
    pub(crate) async fn announce(&self, client: &Client, update: SessionUpdate) {
        let number = {
            let mut state = self.lock();
            if state.closed || state.failure.is_some() {
                return;
            }
            state.enqueue(Entry { aloud: vec![(client.clone(), update)], ..Entry::default() })
        };
        // The client may be gone by now, which is no concern of this update's.
        let _sent = self.done(number).await;
    }

    /// Notes that something happened just now, and lets the store make durable what it has.
    pub(crate) async fn settle(&self) -> Result<(), TurnError> {
        let number = {
            let mut state = self.lock();
            if let Some(failure) = &state.failure {
                return Err(failure.clone().into());
            }
            let entry = state.settled(Entry::default());
            state.enqueue(entry)
        };
        self.done(number).await
    }

    /// Completes when all that was said so far is written and sent, or has failed.
    pub(crate) async fn flush(&self) {
        let number = self.lock().queued;
        // Who said it hears of failures.
        let _failed = self.done(number).await;
    }

    /// Works off what is queued, until the session is closed.
    pub(crate) async fn drive(self: Arc<Self>) {
        poll_fn(|cx| {
            self.lock().driver = Some(cx.waker().clone());
            self.advance();
            let state = self.lock();
            let idle = state.queue.is_empty() && matches!(state.work, Work::Idle);
            if state.closed && idle { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Refuses whatever is said from now on, and completes when all that was said before is written and sent, or has
    /// failed. A turn that was cut off, as its client is gone, is settled here.
    pub(crate) async fn close(&self) {
        let waiting = {
            let mut state = self.lock();
            state.closed = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_values().for_each(Waker::wake);
        self.flush().await;
        let (header, driver) = {
            let mut state = self.lock();
            let is_unsettled = state.unsettled && !matches!(state.failure, Some(Failure::Store(_)));
            let header = if is_unsettled { state.settled(Entry::default()).header } else { None };
            (header, state.driver.take())
        };
        driver.into_iter().for_each(Waker::wake);
        if let Some(header) = header {
            // Nobody is left who could be told; what was said is written already.
            let _updated = self.store.update_header(&header).await;
            let _synced = self.store.sync(&self.session_id).await;
        }
    }

    /// Completes when an entry has been written and sent.
    async fn done(&self, number: u64) -> Result<(), TurnError> {
        let mut waiter = Waiter { outbox: self, key: None };
        poll_fn(|cx| {
            self.advance();
            let mut state = self.lock();
            if state.done < number {
                waiter.wait(&mut state, cx);
                return Poll::Pending;
            }
            let lost = state.lost.iter().find(|(lost, _)| lost.contains(&number));
            Poll::Ready(lost.map_or(Ok(()), |(_, failure)| Err(failure.clone().into())))
        })
        .await
    }

    /// Works off what is queued as far as that needs no waiting.
    fn advance(&self) {
        let mut state = self.lock();
        loop {
            let mut work = match std::mem::replace(&mut state.work, Work::Polled { again: false }) {
                Work::Polled { .. } => {
                    state.work = Work::Polled { again: true };
                    return;
                }
                Work::Waiting(work) => work,
                Work::Idle => match state.next_work(&self.store, &self.session_id) {
                    Some(work) => work,
                    None => {
                        state.work = Work::Idle;
                        return;
                    }
                },
            };
            let waker = state.driver.clone();
            drop(state);
            let polled = work.poll_unpin(&mut Context::from_waker(waker.as_ref().unwrap_or(Waker::noop())));
            state = self.lock();
            let again = matches!(state.work, Work::Polled { again: true });
            match polled {
                Poll::Pending => {
                    state.work = Work::Waiting(work);
                    if !again {
                        return;
                    }
                }
                Poll::Ready(outcome) => {
                    state.work = Work::Idle;
                    let waiting = state.finish(outcome);
                    drop(state);
                    waiting.into_values().for_each(Waker::wake);
                    state = self.lock();
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Queues what is said, and notes what holds from now on. Nothing has changed where that fails.
    fn push(&mut self, client: &Client, said: Vec<Said>, settle: bool) -> Result<u64, TurnError> {
        let limit = self.update_limit;
        let encoded: Vec<_> = said.into_iter().map(|said| encode(said, limit)).collect::<Result<_, _>>()?;
        if encoded.iter().any(|(said, _)| is_choice(&said.update)) {
            self.undo.push_back((self.queued + 1, self.facts.clone(), self.header.title.clone()));
        }
        self.unsettled = true;
        let mut entry = Entry::default();
        for (Said { update, aloud, .. }, record) in encoded {
            entry.records.push(record);
            self.facts.tell(&update);
            if let SessionUpdate::SessionInfoUpdate(info) = &update
                && !info.title.is_keep()
            {
                info.title.clone().apply(&mut self.header.title);
                entry.header = Some(self.header.clone());
            }
            if aloud {
                entry.aloud.push((client.clone(), told(client, update)));
            }
        }
        let entry = if settle { self.settled(entry) } else { entry };
        Ok(self.enqueue(entry))
    }

    /// An entry with which the store is to make durable what it has, as of now.
    fn settled(&mut self, mut entry: Entry) -> Entry {
        self.unsettled = false;
        self.header.updated = Timestamp::now().max(self.header.updated);
        entry.header = Some(self.header.clone());
        entry.sync = true;
        entry
    }

    fn enqueue(&mut self, entry: Entry) -> u64 {
        self.queue.push_back(entry);
        self.queued += 1;
        self.queued
    }

    /// Everything that is queued, as one piece of work: it becomes durable in one go.
    fn next_work(
        &mut self,
        store: &Arc<dyn SessionStore>,
        session_id: &SessionId,
    ) -> Option<BoxFuture<'static, Result<(), Failure>>> {
        if self.queue.is_empty() {
            return None;
        }
        let entries: Vec<_> = self.queue.drain(..).collect();
        let work = AssertUnwindSafe(write(store.clone(), session_id.clone(), entries));
        let panicked = |_| Err(Failure::Store(Arc::new(StoreError::other("the store panicked"))));
        Some(work.catch_unwind().map(move |outcome| outcome.unwrap_or_else(panicked)).boxed())
    }

    /// What was worked on is done. Gives who is to be woken.
    fn finish(&mut self, outcome: Result<(), Failure>) -> BTreeMap<u64, Waker> {
        let first = self.done + 1;
        self.done = self.queued - self.queue.len() as u64;
        while self.undo.front().is_some_and(|(number, ..)| *number <= self.done && outcome.is_ok()) {
            self.undo.pop_front();
        }
        if let Err(failure) = outcome {
            self.fail(first, failure);
        }
        std::mem::take(&mut self.waiting)
    }

    /// Entries have failed, and with them those that wait behind them: a later one is not kept without an earlier one.
    fn fail(&mut self, first: u64, failure: Failure) {
        self.queue.clear();
        self.done = self.queued;
        self.unsettled = true;
        if let Some((_, facts, title)) = self.undo.drain(..).next() {
            (self.facts, self.header.title) = (facts, title);
        }
        match self.lost.back_mut() {
            Some((lost, _)) if *lost.end() + 1 == first => *lost = *lost.start()..=self.done,
            _ => self.lost.push_back((first..=self.done, failure.clone())),
        }
        // Who has not asked after so many turns that failed waits no more.
        if self.lost.len() > LOST {
            self.lost.pop_front();
        }
        self.failure = Some(failure);
    }
}

/// What is said, as it is kept.
fn encode(mut said: Said, limit: usize) -> Result<(Said, RawJson), TurnError> {
    let encode = |update: &SessionUpdate| {
        RawJson::encode(update).map_err(|why| CallError::not_allowed("session/update", why.to_string()))
    };
    let mut record = encode(&said.update)?;
    let bytes = record.len();
    if bytes > limit {
        let short = if said.shorten { shortened(&said.update, bytes, limit) } else { None };
        said.update = short.ok_or(TurnError::TooLong { bytes, limit })?;
        record = encode(&said.update)?;
    }
    Ok((said, record))
}

/// Whether an update says what holds from now on.
fn is_choice(update: &SessionUpdate) -> bool {
    matches!(
        update,
        SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::SessionInfoUpdate(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
    )
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

/// Somebody who waits, until dropped.
struct Waiter<'a> {
    outbox: &'a Outbox,
    key: Option<u64>,
}

impl Waiter<'_> {
    fn wait(&mut self, state: &mut State, cx: &Context<'_>) {
        let key = *self.key.get_or_insert_with(|| {
            state.waiters += 1;
            state.waiters
        });
        state.waiting.insert(key, cx.waker().clone());
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.outbox.lock().waiting.remove(&key);
        }
    }
}
