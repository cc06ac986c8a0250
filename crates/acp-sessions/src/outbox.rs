//! The one way that what happens in a session takes: into the journal first, then to the client.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use agentwire_acp_agent::{CallError, Client, Closed};
use agentwire_acp_schema::v1::{SessionId, SessionNotification, SessionUpdate};
use agentwire_jsonrpc::RawJson;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::facts::{Facts, Said, told};
use crate::store::{SessionHeader, SessionStore, StoreError, Timestamp};
use crate::turn::TurnError;

/// How many updates may wait to be written. Whoever has more to say waits.
const ROOM: usize = 64;

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
    /// The turn that may speak.
    turn: Option<u64>,
    turns: u64,
    queue: VecDeque<Entry>,
    /// How many entries were ever queued.
    queued: u64,
    /// How many of them are done with.
    done: u64,
    work: Work,
    /// Since which entry on nothing works any more, and why.
    failure: Option<(u64, Failure)>,
    driver: Option<Waker>,
    waiting: BTreeMap<u64, Waker>,
    waiters: u64,
    closed: bool,
}

/// Something to write and then to send.
#[derive(Default)]
struct Entry {
    records: Vec<RawJson>,
    aloud: Vec<(Client, SessionUpdate)>,
    header: Option<SessionHeader>,
    sync: bool,
}

enum Work {
    Idle,
    /// Somebody polls it now. Whether it is to be polled again then.
    Polled {
        again: bool,
    },
    Waiting(BoxFuture<'static, Result<(), Failure>>),
}

/// Why entries fail.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Store(Arc<StoreError>),
    Closed(Closed),
}

impl From<Failure> for TurnError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => Self::Store(error),
            Failure::Closed(closed) => Self::Call(closed.into()),
        }
    }
}

impl Outbox {
    pub(crate) fn new(store: Arc<dyn SessionStore>, header: SessionHeader, facts: Facts) -> Self {
        let session_id = header.session_id.clone();
        let state = State {
            facts,
            header,
            turn: None,
            turns: 0,
            queue: VecDeque::new(),
            queued: 0,
            done: 0,
            work: Work::Idle,
            failure: None,
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
        if matches!(state.failure, Some((_, Failure::Store(_)))) {
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
    /// It is said in full even when this future is dropped after its first poll.
    pub(crate) async fn say<E: From<TurnError>>(
        &self,
        turn: Option<u64>,
        client: &Client,
        change: impl FnOnce(&mut Facts) -> Result<Vec<Said>, E>,
    ) -> Result<(), E> {
        let mut change = Some(change);
        let mut waiter = Waiter { outbox: self, key: None };
        let number = poll_fn(|cx| {
            let mut state = self.lock();
            if turn.is_some() && turn != state.turn {
                return Poll::Ready(Err(TurnError::Over.into()));
            }
            if let Some((_, failure)) = &state.failure {
                return Poll::Ready(Err(TurnError::from(failure.clone()).into()));
            }
            if state.queue.len() >= ROOM {
                waiter.wait(&mut state, cx);
                return Poll::Pending;
            }
            let change = change.take().expect("it is not polled again once it is ready");
            Poll::Ready(change(&mut state.facts).and_then(|said| Ok(state.push(client, said)?)))
        })
        .await?;
        self.done(number).await?;
        Ok(())
    }

    /// Notes that something happened just now, and lets the store make durable what it has.
    pub(crate) async fn settle(&self) -> Result<(), TurnError> {
        let number = {
            let mut state = self.lock();
            if let Some((_, failure)) = &state.failure {
                return Err(failure.clone().into());
            }
            state.header.updated = Timestamp::now().max(state.header.updated);
            let header = Some(state.header.clone());
            state.enqueue(Entry { header, sync: true, ..Entry::default() })
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

    /// Lets [`drive`](Self::drive) end once all is done.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let driver = state.driver.take();
        drop(state);
        driver.into_iter().for_each(Waker::wake);
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
            Poll::Ready(match &state.failure {
                Some((since, failure)) if *since <= number => Err(failure.clone().into()),
                _ => Ok(()),
            })
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Queues what is said, and notes what holds from now on.
    fn push(&mut self, client: &Client, said: Vec<Said>) -> Result<u64, TurnError> {
        let mut entry = Entry::default();
        for Said { update, aloud } in said {
            let record = RawJson::encode(&update).map_err(|why| unwritable(StoreError::other(why)))?;
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
        Ok(self.enqueue(entry))
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
        let failed = self.failure.as_ref().map(|(_, failure)| failure.clone());
        let work = work(store.clone(), session_id.clone(), entries);
        let work = AssertUnwindSafe(async move {
            match failed {
                Some(failure) => Err(failure),
                None => work.await,
            }
        });
        let panicked = |_| Err(Failure::Store(Arc::new(StoreError::other("the store panicked"))));
        Some(work.catch_unwind().map(move |outcome| outcome.unwrap_or_else(panicked)).boxed())
    }

    /// What was worked on is done. Gives who is to be woken.
    fn finish(&mut self, outcome: Result<(), Failure>) -> BTreeMap<u64, Waker> {
        let first = self.done + 1;
        self.done = self.queued - self.queue.len() as u64;
        if let Err(failure) = outcome
            && self.failure.is_none()
        {
            self.failure = Some((first, failure));
        }
        std::mem::take(&mut self.waiting)
    }
}

/// Writes entries, then sends them.
async fn work(
    store: Arc<dyn SessionStore>,
    session_id: SessionId,
    entries: Vec<Entry>,
) -> Result<(), Failure> {
    let mut records = Vec::with_capacity(entries.len());
    let mut aloud = Vec::with_capacity(entries.len());
    let (mut header, mut sync) = (None, false);
    for entry in entries {
        records.extend(entry.records);
        aloud.extend(entry.aloud);
        header = entry.header.or(header);
        sync |= entry.sync;
    }
    if !records.is_empty() {
        store.append(&session_id, &records).await?;
    }
    if let Some(header) = header {
        store.update_header(&header).await?;
    }
    for (client, update) in aloud {
        // Whether the client takes it was looked at before, and that it can be written has been seen: nothing else fails.
        let sent = client.session_update(SessionNotification::new(&session_id, update)).await;
        if let Err(CallError::Closed(closed)) = sent {
            return Err(Failure::Closed(closed));
        }
    }
    if sync {
        store.sync(&session_id).await?;
    }
    Ok(())
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

fn unwritable(error: StoreError) -> TurnError {
    TurnError::Store(Arc::new(error))
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
