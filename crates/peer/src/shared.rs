use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};
use std::time::Instant;

use agentwire_connection::{CallFailure, CallId, Connection, Event, OwedId};
use agentwire_jsonrpc::{RawJson, RequestId, Skipped};
use agentwire_transport::Fault;
use bytestring::ByteString;
use serde::Serialize;
use slab::Slab;

use crate::clock::Clock;
use crate::error::Closed;
use crate::locked::{Litter, Locked};
use crate::room::{Room, Ticket};
use crate::scribe::Scribe;
use crate::sync::{AtomicBool, Mutex, MutexGuard};

/// Of the futures of a connection that fail or complete at once, one in so many is pending for a poll first.
const READY_IN_A_ROW: u32 = 128;

/// Of how many results it is kept what they were decoded without, until the handler is told.
const MOST_SKIPPED: usize = 16;

/// What the driver and all handles share.
pub(crate) struct Shared {
    state: Mutex<State>,
    scribe: Mutex<Scribe>,
    clock: Box<dyn Clock>,
    /// How much memory a result may take once decoded.
    value_limit: usize,
    /// Whether the main future is being polled.
    in_main: AtomicBool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(connection: Connection, clock: Box<dyn Clock>, value_limit: usize) -> Self {
        Self {
            state: Mutex::new(State {
                connection,
                waits: None,
                ends: Slab::new(),
                cancels: HashMap::new(),
                cut_off: HashSet::new(),
                driver: Drive::Looking,
                waker: None,
                end: None,
                shut: None,
                hung_up: false,
                ready: 0,
                litter: Vec::new(),
                skipped: Vec::new(),
            }),
            scribe: Mutex::default(),
            clock,
            value_limit,
            in_main: AtomicBool::new(false),
        }
    }

    /// No code of a user's runs while this is held, and no waker is woken or dropped.
    #[inline]
    pub(crate) fn lock(&self) -> Locked<'_> {
        let state = self.state.lock();
        Locked::new(state)
    }

    /// Tells everybody that the connection is over. Does nothing the second time.
    pub(crate) fn hang_up(&self) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.hung_up, true) {
            return;
        }
        let mut wakers = state.shut(Closed::default());
        wakers.extend(state.end(Closed::default()));
        while let Some(event) = state.connection.poll_event() {
            // Nothing arrives any more, so what is settled here has failed.
            if let Event::Answered { call, outcome: Err(failure) } = event
                && let Settled::Wake(waker, _) = state.settle(call, Err(failure))
            {
                wakers.push(waker);
            }
        }
        state.look();
        let waker = state.waker.take();
        let mut cancels = std::mem::take(&mut state.cancels);
        drop(state);
        wakers.extend(cancels.values_mut().flat_map(|cancel| cancel.wakers.drain()));
        drop((cancels, waker));
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn value_limit(&self) -> usize {
        self.value_limit
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Polls the main future. Whoever waits with the driver's own waker from in there is polled again with it; whoever
    /// has that waker from anywhere else is a neighbour in the driver's task.
    #[inline]
    pub(crate) fn in_main<R>(&self, poll: impl FnOnce() -> R) -> R {
        self.in_main.store(true, Ordering::Relaxed);
        let polled = poll();
        self.in_main.store(false, Ordering::Relaxed);
        polled
    }

    /// Whether this may be the main future. Only one with the driver's waker can tell: it runs on the driver's thread.
    #[inline]
    pub(crate) fn is_in_main(&self) -> bool {
        self.in_main.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<RawJson, serde_json::Error> {
        match self.busy_scribe() {
            Some(mut scribe) => scribe.encode(value),
            None => RawJson::encode(value),
        }
    }

    /// None if few values have been written, or somebody else is writing, perhaps this very thread further up its stack.
    fn busy_scribe(&self) -> Option<MutexGuard<'_, Scribe>> {
        let mut scribe = self.scribe.try_lock()?;
        scribe.is_busy().then_some(scribe)
    }

    /// The driver waits, with nothing left to say or to answer.
    pub(crate) fn rest(&self) {
        if let Some(mut scribe) = self.scribe.try_lock() {
            scribe.rest();
        }
    }
}

/// Where the driver is, seen by those who have work for it.
#[derive(Debug)]
pub(crate) enum Drive {
    /// It runs, and will look at everything once more before it waits.
    Looking,
    /// It runs, and something has changed since it last looked.
    Behind,
    /// It waits to be woken.
    Waiting,
}

/// A call that somebody waits for.
#[derive(Default)]
pub(crate) struct Slot {
    waker: Option<Waker>,
    /// Whether it may be the main future that waits.
    is_main: bool,
    outcome: Option<Result<RawJson, CallFailure>>,
    /// What the transport said of a call that it could not carry.
    fault: Option<Arc<Fault>>,
    pub(crate) progress: Option<ProgressHook>,
    on_answer: Option<AnswerHook>,
}

/// What a future finds that waits for one thing.
pub(crate) enum Wait<T> {
    Ready(T),
    Pending,
    /// It is ready, but [others run first](State::must_yield).
    Yield,
}

impl<T> Wait<T> {
    /// To be called without the lock.
    pub(crate) fn into_poll(self, waker: &Waker) -> Poll<T> {
        match self {
            Self::Ready(value) => Poll::Ready(value),
            Self::Pending => Poll::Pending,
            Self::Yield => {
                waker.wake_by_ref();
                Poll::Pending
            }
        }
    }
}

/// The result of a call, or why it has none, with the transport's fault where there is one.
pub(crate) type Outcome = Result<RawJson, (CallFailure, Option<Arc<Fault>>)>;

/// Decodes and checks the result of a call when it arrives.
pub(crate) type AnswerHook = Box<dyn FnOnce(RawJson) + Send>;

/// What is to be done when the outcome of a call is known.
pub(crate) enum Settled {
    /// The hook is to be run on the result without the lock. Then the call is settled with what is left of the result.
    Read(AnswerHook, RawJson),
    /// The caller is to be woken, who may be the main future.
    Wake(Waker, bool),
    /// Nobody waits.
    Done,
}

/// Hears the params of each progress notification on a call.
pub(crate) type ProgressHook = Box<dyn FnMut(RawJson) + Send>;

#[derive(Default)]
pub(crate) struct Cancel {
    cancelled: bool,
    wakers: Slab<Waker>,
}

/// Those who wait for the peer.
#[derive(Default)]
struct Waits {
    /// For the answer to a call.
    answers: BTreeMap<CallId, Slot>,
    /// For it to read.
    room: Room,
}

pub(crate) struct State {
    pub(crate) connection: Connection,
    /// Made when it is first needed: many connections only answer, and never have much to say.
    waits: Option<Box<Waits>>,
    /// Those who wait for the end.
    ends: Slab<Waker>,
    /// Requests of the peer's whose cancellation somebody waits for, or that are cancelled.
    cancels: HashMap<OwedId, Cancel>,
    /// Requests whose handlers were dropped because the connection ends.
    cut_off: HashSet<OwedId>,
    driver: Drive,
    /// Wakes the driver. It is kept while the driver runs: mostly it waits with the same again.
    waker: Option<Waker>,
    /// Set when nothing more will arrive, with the reason.
    end: Option<Closed>,
    /// Set when nothing more can be sent, with the reason.
    shut: Option<Closed>,
    /// Set when everybody has been told.
    hung_up: bool,
    /// Counts the futures that completed at once.
    ready: u32,
    /// What is to be dropped without the lock.
    pub(crate) litter: Vec<Litter>,
    /// What results were decoded without, by the methods of their calls, until the handler is told.
    pub(crate) skipped: Vec<(ByteString, Skipped)>,
}

impl State {
    /// Whether the future that is about to complete at once must be pending for one poll. Otherwise code that awaits such
    /// futures in a loop would hold its thread, and neither a cancel nor the end of the connection could reach it. What is
    /// sent needs none of this, because room for it ends.
    #[inline]
    pub(crate) fn must_yield(&mut self) -> bool {
        self.ready = self.ready.wrapping_add(1);
        self.ready.is_multiple_of(READY_IN_A_ROW)
    }

    /// Why nothing can be sent any more, if that is so.
    #[inline]
    pub(crate) fn closed(&self) -> Option<Closed> {
        self.shut.is_some().then(|| self.reason())
    }

    /// Why no call can be answered any more, if that is so.
    pub(crate) fn over(&self) -> Option<Closed> {
        (self.end.is_some() || self.shut.is_some()).then(|| self.reason())
    }

    /// Why the connection is over. What reading said comes first: it knows more than a broken pipe.
    pub(crate) fn reason(&self) -> Closed {
        let told = |closed: &&Closed| closed.reason.is_some();
        self.end.as_ref().filter(told).or(self.shut.as_ref()).cloned().unwrap_or_default()
    }

    /// Nothing more will arrive: calls of ours fail. The first reason stays. Gives those who waited for it.
    #[must_use]
    pub(crate) fn end(&mut self, reason: Closed) -> Vec<Waker> {
        self.connection.handle_end();
        self.end.get_or_insert(reason);
        if self.ends.is_empty() { Vec::new() } else { self.ends.drain().collect() }
    }

    /// Waits until nothing more will arrive. `key` is the caller's place among those who wait.
    pub(crate) fn poll_end(&mut self, key: &mut Option<usize>, waker: &Waker) -> Wait<Closed> {
        if self.end.is_some() {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(self.reason()) };
        }
        match key.and_then(|key| self.ends.get_mut(key)) {
            Some(place) => self.litter.extend(replace(place, waker)),
            None => *key = Some(self.ends.insert(waker.clone())),
        }
        Wait::Pending
    }

    pub(crate) fn forget_end(&mut self, key: usize) {
        self.litter.extend(self.ends.try_remove(key).map(Litter::Waker));
    }

    /// Nothing more can be sent. The first reason stays, and a peer that has left in good order is one: that
    /// it no longer reads is no news. Gives those who waited for room.
    pub(crate) fn shut(&mut self, reason: Closed) -> Vec<Waker> {
        let reason = self.end.clone().unwrap_or(reason);
        self.shut.get_or_insert(reason);
        self.waits.as_mut().map_or_else(Vec::new, |waits| waits.room.take_all())
    }

    /// The driver is about to wait. None when it must look once more first, else whether the connection is idle.
    pub(crate) fn rest(&mut self, waker: &Waker) -> Option<bool> {
        let rested = matches!(self.driver, Drive::Looking);
        self.driver = if rested { Drive::Waiting } else { Drive::Looking };
        if rested {
            match &mut self.waker {
                Some(place) => self.litter.extend(replace(place, waker)),
                place => *place = Some(waker.clone()),
            }
        }
        let idle = rested && self.connection.is_idle();
        if idle {
            self.connection.shrink();
        }
        rested.then_some(idle)
    }

    /// The driver looks at everything from here on.
    pub(crate) fn look(&mut self) {
        self.driver = Drive::Looking;
    }

    /// Something changed that the driver must see. The waker is to be woken when the lock is released.
    #[must_use]
    #[inline]
    pub(crate) fn changed(&mut self) -> Option<Waker> {
        match std::mem::replace(&mut self.driver, Drive::Behind) {
            Drive::Waiting => self.waker.take(),
            Drive::Looking | Drive::Behind => None,
        }
    }

    /// Waits for room in the queue, until the deadline at most.
    #[inline]
    pub(crate) fn poll_room(
        &mut self,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<()> {
        if self.connection.has_room() {
            self.forget_room(ticket);
            return Poll::Ready(());
        }
        let replaced = self.waits().room.wait(ticket, waker, deadline);
        self.litter.extend(replaced.map(Litter::Waker));
        Poll::Pending
    }

    pub(crate) fn forget_room(&mut self, ticket: &mut Option<Ticket>) {
        let waker = self.waits.as_mut().and_then(|waits| waits.room.leave(ticket));
        self.litter.extend(waker.map(Litter::Waker));
    }

    /// Those to wake because there is room again.
    pub(crate) fn take_room_wakers(&mut self) -> Vec<Waker> {
        match &mut self.waits {
            Some(waits) if self.connection.has_room() => waits.room.take_all(),
            _ => Vec::new(),
        }
    }

    /// Those to wake because they have waited for room for too long.
    pub(crate) fn take_late_wakers(&mut self, now: Instant) -> Vec<Waker> {
        self.waits.as_mut().map_or_else(Vec::new, |waits| waits.room.take_due(now))
    }

    /// When the driver has something to do, whatever happens until then.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let room = self.waits.as_ref().and_then(|waits| waits.room.next_deadline());
        self.connection.poll_timeout().into_iter().chain(room).min()
    }

    pub(crate) fn open_slot(
        &mut self,
        call: CallId,
        progress: Option<ProgressHook>,
        on_answer: Option<AnswerHook>,
    ) {
        self.waits().answers.insert(call, Slot { progress, on_answer, ..Slot::default() });
    }

    fn waits(&mut self) -> &mut Waits {
        self.waits.get_or_insert_default()
    }

    fn slot(&self, call: CallId) -> Option<&Slot> {
        self.waits.as_ref()?.answers.get(&call)
    }

    fn slot_mut(&mut self, call: CallId) -> Option<&mut Slot> {
        self.waits.as_mut()?.answers.get_mut(&call)
    }

    fn take_slot(&mut self, call: CallId) -> Option<Slot> {
        self.waits.as_mut()?.answers.remove(&call)
    }

    /// The outcome of a call, and the transport's fault where that is why it failed.
    pub(crate) fn poll_slot(&mut self, call: CallId, waker: &Waker, is_main: bool) -> Poll<Outcome> {
        let Some(slot) = self.waits.as_mut().and_then(|waits| waits.answers.get_mut(&call)) else {
            return Poll::Ready(Err((CallFailure::Closed, None)));
        };
        if slot.outcome.is_none() {
            slot.is_main = is_main;
            match &mut slot.waker {
                Some(place) => self.litter.extend(replace(place, waker)),
                place => *place = Some(waker.clone()),
            }
            return Poll::Pending;
        }
        let slot = self.take_slot(call);
        let outcome = slot.and_then(|mut slot| {
            let outcome = slot.outcome.take();
            let fault = slot.fault.take();
            self.litter.push(Litter::Slot(slot));
            Some(outcome?.map_err(|failure| (failure, fault)))
        });
        Poll::Ready(outcome.unwrap_or(Err((CallFailure::Closed, None))))
    }

    /// Whether there is a call with this id.
    pub(crate) fn is_known(&self, call: CallId) -> bool {
        self.slot(call).is_some()
    }

    /// Whether a call is still to be answered.
    pub(crate) fn is_open(&self, call: CallId) -> bool {
        self.slot(call).is_some_and(|slot| slot.outcome.is_none())
    }

    /// Keeps what the result of a call was decoded without, until the driver tells its handler.
    pub(crate) fn skipped(&mut self, method: ByteString, skipped: Skipped) -> Option<Waker> {
        if self.skipped.len() < MOST_SKIPPED {
            self.skipped.push((method, skipped));
        }
        self.changed()
    }

    /// Whoever waited for the call has gone.
    pub(crate) fn drop_slot(&mut self, call: CallId) -> (Option<Slot>, Option<Waker>) {
        let slot = self.take_slot(call);
        let waker = match &slot {
            Some(slot) if slot.outcome.is_none() => {
                self.connection.cancel(call, "the caller no longer waits");
                self.changed()
            }
            _ => None,
        };
        (slot, waker)
    }

    /// The transport could not carry a request of ours.
    pub(crate) fn fail(&mut self, id: &RequestId, fault: Arc<Fault>) {
        if let Some(slot) = self.connection.handle_failure(id).and_then(|call| self.slot_mut(call)) {
            slot.fault = Some(fault);
        }
    }

    /// The outcome of a call is known. A result that has a hook is [read](Settled::Read) first.
    pub(crate) fn settle(&mut self, call: CallId, outcome: Result<RawJson, CallFailure>) -> Settled {
        let Some(slot) = self.slot_mut(call) else { return Settled::Done };
        match (outcome, slot.on_answer.take()) {
            (Ok(result), Some(hook)) => Settled::Read(hook, result),
            (outcome, unused) => {
                slot.outcome = Some(outcome);
                let settled = match slot.waker.take() {
                    Some(waker) => Settled::Wake(waker, slot.is_main),
                    None => Settled::Done,
                };
                self.litter.extend(unused.map(Litter::AnswerHook));
                settled
            }
        }
    }

    /// Takes the hook out to be called without the lock; put it back with [`put_hook`](Self::put_hook).
    pub(crate) fn take_hook(&mut self, call: CallId) -> Option<ProgressHook> {
        self.slot_mut(call)?.progress.take()
    }

    /// Gives the hook back if the call was dropped meanwhile, to be dropped without the lock.
    pub(crate) fn put_hook(&mut self, call: CallId, hook: ProgressHook) -> Option<ProgressHook> {
        match self.slot_mut(call) {
            Some(slot) => slot.progress.replace(hook),
            None => Some(hook),
        }
    }

    pub(crate) fn is_cancelled(&self, owed: OwedId) -> bool {
        self.cancels.get(&owed).is_some_and(|cancel| cancel.cancelled) || self.is_cut_off(owed)
    }

    /// Whether the connection ended before the request was answered, or that was why its handler was dropped.
    fn is_cut_off(&self, owed: OwedId) -> bool {
        self.hung_up && self.connection.owed_request_id(owed).is_some() || self.cut_off.contains(&owed)
    }

    /// The connection ends, and the handler of this request was dropped. Gives who waits for its cancellation.
    #[must_use]
    pub(crate) fn cut_off(&mut self, owed: OwedId) -> Vec<Waker> {
        // Those that are answered already, and whose handler went on, are not among these.
        if self.connection.owed_request_id(owed).is_none() {
            return Vec::new();
        }
        self.cut_off.insert(owed);
        self.cancel(owed)
    }

    pub(crate) fn cancel(&mut self, owed: OwedId) -> Vec<Waker> {
        if self.connection.owed_request_id(owed).is_none() {
            return Vec::new();
        }
        let cancel = self.cancels.entry(owed).or_default();
        cancel.cancelled = true;
        cancel.wakers.drain().collect()
    }

    pub(crate) fn poll_cancelled(
        &mut self,
        owed: OwedId,
        key: &mut Option<usize>,
        waker: &Waker,
    ) -> Wait<()> {
        if self.is_cut_off(owed) {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(()) };
        }
        if self.connection.owed_request_id(owed).is_none() {
            return Wait::Pending;
        }
        let cancel = self.cancels.entry(owed).or_default();
        if cancel.cancelled {
            *key = None;
            return if self.must_yield() { Wait::Yield } else { Wait::Ready(()) };
        }
        match key.and_then(|key| cancel.wakers.get_mut(key)) {
            Some(place) => self.litter.extend(replace(place, waker)),
            None => *key = Some(cancel.wakers.insert(waker.clone())),
        }
        Wait::Pending
    }

    pub(crate) fn forget_cancelled(&mut self, owed: OwedId, key: usize) {
        if let Some(cancel) = self.cancels.get_mut(&owed) {
            self.litter.extend(cancel.wakers.try_remove(key).map(Litter::Waker));
        }
    }

    /// The request is answered: nobody need hear of its cancellation.
    pub(crate) fn forget_owed(&mut self, owed: OwedId) {
        if !self.cancels.is_empty() {
            self.litter.extend(self.cancels.remove(&owed).map(Litter::Cancel));
        }
    }
}

/// Puts a waker in the place of another, and gives that one unless both wake the same.
fn replace(place: &mut Waker, waker: &Waker) -> Option<Litter> {
    let differs = !place.will_wake(waker);
    differs.then(|| Litter::Waker(std::mem::replace(place, waker.clone())))
}
