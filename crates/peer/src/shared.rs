use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Instant;

use agentwire_connection::{CallFailure, CallId, Connection, OwedId};
use agentwire_jsonrpc::{Encoder, RawJson};
use serde::Serialize;
use slab::Slab;

use crate::clock::Clock;
use crate::error::Closed;

/// What the driver and all handles share.
pub(crate) struct Shared {
    state: Mutex<State>,
    encoder: Mutex<Encoder>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(connection: Connection, clock: Arc<dyn Clock>) -> Self {
        Self {
            state: Mutex::new(State {
                connection,
                answers: BTreeMap::new(),
                room: Slab::new(),
                cancels: HashMap::new(),
                driver: Drive::Looking,
                end: None,
                shut: None,
            }),
            encoder: Mutex::default(),
            clock,
        }
    }

    /// No code of a user's runs while this is held, and no waker is woken.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<RawJson, serde_json::Error> {
        match self.encoder.try_lock() {
            Ok(mut encoder) => encoder.encode(value),
            // Somebody else is encoding, perhaps this very thread further up its stack.
            Err(_) => RawJson::encode(value),
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
    Waiting(Waker),
}

/// A call that somebody waits for.
#[derive(Default)]
pub(crate) struct Slot {
    waker: Option<Waker>,
    outcome: Option<Result<RawJson, CallFailure>>,
    pub(crate) progress: Option<ProgressHook>,
}

/// Hears the params of each progress notification on a call.
pub(crate) type ProgressHook = Box<dyn FnMut(RawJson) + Send>;

#[derive(Default)]
struct Cancel {
    cancelled: bool,
    wakers: Slab<Waker>,
}

pub(crate) struct State {
    pub(crate) connection: Connection,
    answers: BTreeMap<CallId, Slot>,
    /// Those who wait for room in the queue.
    room: Slab<Waker>,
    /// Requests of the peer's whose cancellation somebody waits for, or that are cancelled.
    cancels: HashMap<OwedId, Cancel>,
    driver: Drive,
    /// Set when nothing more will arrive, with the reason.
    end: Option<Closed>,
    /// Set when nothing more can be sent, with the reason.
    shut: Option<Closed>,
}

impl State {
    /// Why nothing can be sent any more, if that is so.
    pub(crate) fn closed(&self) -> Option<Closed> {
        self.shut.is_some().then(|| self.reason())
    }

    /// Why the connection is over. What reading said comes first: it knows more than a broken pipe.
    pub(crate) fn reason(&self) -> Closed {
        let told = |closed: &&Closed| closed.reason.is_some();
        self.end.as_ref().filter(told).or(self.shut.as_ref()).cloned().unwrap_or_default()
    }

    /// Nothing more will arrive: calls of ours fail. The first reason stays.
    pub(crate) fn end(&mut self, reason: Closed) {
        self.connection.handle_end();
        self.end.get_or_insert(reason);
    }

    /// Nothing more can be sent. The first reason stays, and a peer that has left in good order is one: that
    /// it no longer reads is no news. Gives those who waited for room.
    pub(crate) fn shut(&mut self, reason: Closed) -> Vec<Waker> {
        let reason = self.end.clone().unwrap_or(reason);
        self.shut.get_or_insert(reason);
        self.room.drain().collect()
    }

    /// The driver is about to wait. False when it must look once more first.
    pub(crate) fn rest(&mut self, waker: &Waker) -> bool {
        let rested = matches!(self.driver, Drive::Looking);
        self.driver = if rested { Drive::Waiting(waker.clone()) } else { Drive::Looking };
        rested
    }

    pub(crate) fn look(&mut self) {
        self.driver = Drive::Looking;
    }

    /// Something changed that the driver must see. The waker is to be woken when the lock is released.
    #[must_use]
    pub(crate) fn changed(&mut self) -> Option<Waker> {
        match std::mem::replace(&mut self.driver, Drive::Behind) {
            Drive::Waiting(waker) => Some(waker),
            Drive::Looking | Drive::Behind => None,
        }
    }

    /// Waits for room in the queue. `key` is the caller's place among those who wait.
    pub(crate) fn poll_room(&mut self, key: &mut Option<usize>, waker: &Waker) -> Poll<()> {
        if self.connection.has_room() {
            self.forget_room(key);
            return Poll::Ready(());
        }
        match key.and_then(|key| self.room.get_mut(key)) {
            Some(place) => place.clone_from(waker),
            None => *key = Some(self.room.insert(waker.clone())),
        }
        Poll::Pending
    }

    pub(crate) fn forget_room(&mut self, key: &mut Option<usize>) {
        if let Some(key) = key.take() {
            self.room.try_remove(key);
        }
    }

    /// Those to wake because there is room again. All at once: whoever comes first fills it.
    pub(crate) fn take_room_wakers(&mut self) -> Vec<Waker> {
        if self.room.is_empty() || !self.connection.has_room() {
            Vec::new()
        } else {
            self.room.drain().collect()
        }
    }

    pub(crate) fn open_slot(&mut self, call: CallId, progress: Option<ProgressHook>) {
        self.answers.insert(call, Slot { progress, ..Slot::default() });
    }

    pub(crate) fn poll_slot(&mut self, call: CallId, waker: &Waker) -> Poll<Result<RawJson, CallFailure>> {
        let Some(slot) = self.answers.get_mut(&call) else {
            return Poll::Ready(Err(CallFailure::Closed));
        };
        if slot.outcome.is_none() {
            match &mut slot.waker {
                Some(place) => place.clone_from(waker),
                place => *place = Some(waker.clone()),
            }
            return Poll::Pending;
        }
        let slot = self.answers.remove(&call);
        Poll::Ready(slot.and_then(|slot| slot.outcome).unwrap_or(Err(CallFailure::Closed)))
    }

    /// Whoever waited for the call has gone.
    pub(crate) fn drop_slot(&mut self, call: CallId) -> (Option<Slot>, Option<Waker>) {
        let slot = self.answers.remove(&call);
        let waker = match &slot {
            Some(slot) if slot.outcome.is_none() => {
                self.connection.cancel(call, "the caller no longer waits");
                self.changed()
            }
            _ => None,
        };
        (slot, waker)
    }

    pub(crate) fn settle(&mut self, call: CallId, outcome: Result<RawJson, CallFailure>) -> Option<Waker> {
        let slot = self.answers.get_mut(&call)?;
        slot.outcome = Some(outcome);
        slot.waker.take()
    }

    /// Takes the hook out to be called without the lock; put it back with [`put_hook`](Self::put_hook).
    pub(crate) fn take_hook(&mut self, call: CallId) -> Option<ProgressHook> {
        self.answers.get_mut(&call)?.progress.take()
    }

    /// Gives the hook back if the call was dropped meanwhile, to be dropped without the lock.
    pub(crate) fn put_hook(&mut self, call: CallId, hook: ProgressHook) -> Option<ProgressHook> {
        match self.answers.get_mut(&call) {
            Some(slot) => slot.progress.replace(hook),
            None => Some(hook),
        }
    }

    pub(crate) fn is_cancelled(&self, owed: OwedId) -> bool {
        self.cancels.get(&owed).is_some_and(|cancel| cancel.cancelled)
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
    ) -> Poll<()> {
        if self.connection.owed_request_id(owed).is_none() {
            return Poll::Pending;
        }
        let cancel = self.cancels.entry(owed).or_default();
        if cancel.cancelled {
            *key = None;
            return Poll::Ready(());
        }
        match key.and_then(|key| cancel.wakers.get_mut(key)) {
            Some(place) => place.clone_from(waker),
            None => *key = Some(cancel.wakers.insert(waker.clone())),
        }
        Poll::Pending
    }

    pub(crate) fn forget_cancelled(&mut self, owed: OwedId, key: usize) {
        if let Some(cancel) = self.cancels.get_mut(&owed) {
            cancel.wakers.try_remove(key);
        }
    }

    /// The request is answered: nobody need hear of its cancellation.
    pub(crate) fn forget_owed(&mut self, owed: OwedId) {
        if !self.cancels.is_empty() {
            self.cancels.remove(&owed);
        }
    }
}
