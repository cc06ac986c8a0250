use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use agentwire_connection::{CallFailure, CallId, CallOptions, Config, Connection, IncomingId};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestId};
use agentwire_peer::{Clock, Dialect};
use agentwire_sync::{Mutex, MutexGuard};
use bytestring::ByteString;

use crate::envelope::CancelParams;
use crate::proxy::Direction;

/// One of the two ends of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Client,
    Agent,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Client, Self::Agent];

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }

    /// Which way what comes from this side goes.
    pub(crate) fn outbound(self) -> Direction {
        match self {
            Self::Client => Direction::ToAgent,
            Self::Agent => Direction::ToClient,
        }
    }
}

/// A request on its way through: the side that it came from, and the id of the request there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) from: Side,
    pub(crate) incoming: IncomingId,
}

/// What a relay and all handles on it share.
pub(crate) struct Shared {
    state: Mutex<State>,
    clock: Box<dyn Clock>,
}

pub(crate) struct State {
    /// The exchanges with the client and with the agent.
    pub(crate) client: Connection,
    pub(crate) agent: Connection,
    slots: HashMap<(Side, CallId), Slot>,
    passing: HashMap<Key, Passing>,
    /// Those who wait until there is room to say more to a side.
    room: [Vec<Waker>; 2],
    /// Whether anything changed since the relay last looked.
    changed: bool,
    /// The relay, while it sleeps.
    waker: Option<Waker>,
    over: bool,
}

/// A call of ours that somebody waits for.
struct Slot {
    waker: Option<Waker>,
    outcome: Option<Result<RawJson, CallFailure>>,
}

/// A request on its way through.
#[derive(Default)]
struct Passing {
    cancelled: bool,
    /// Whether it was passed on.
    passed: bool,
    /// As what it waits at the other side.
    calls: Vec<CallId>,
    /// Those who wait for its being cancelled.
    wakers: Vec<Waker>,
    /// The `protocolVersion` that the agent has answered, as text.
    version: Option<String>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(config: &Config, clock: Box<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                client: Connection::new(config.clone()),
                agent: Connection::new(config.clone()),
                slots: HashMap::new(),
                passing: HashMap::new(),
                room: [Vec::new(), Vec::new()],
                changed: false,
                waker: None,
                over: false,
            }),
            clock,
        })
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes the state and tells the relay. What the change lets go of is to be returned, so that it is dropped
    /// without the lock: a waker may be the last owner of anything.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.lock();
        let changed = change(&mut state);
        state.changed = true;
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        changed
    }

    /// Tells everybody that it is over.
    pub(crate) fn hang_up(&self) {
        let mut state = self.lock();
        state.over = true;
        let mut wakers: Vec<_> = state.room.iter_mut().flat_map(std::mem::take).collect();
        for slot in state.slots.values_mut() {
            slot.outcome.get_or_insert(Err(CallFailure::Closed));
            wakers.extend(slot.waker.take());
        }
        let unheard: Vec<_> = state.passing.drain().collect();
        wakers.extend(state.waker.take());
        drop(state);
        drop(unheard);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl State {
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(crate) fn connection(&mut self, side: Side) -> &mut Connection {
        match side {
            Side::Client => &mut self.client,
            Side::Agent => &mut self.agent,
        }
    }

    /// Whether what comes from this side may be read: it can be passed on, and be answered.
    pub(crate) fn may_read(&mut self, from: Side) -> bool {
        self.connection(from.other()).has_room() && self.connection(from).wants_input()
    }

    /// Has the waker woken by the next change, and gives the one that it replaces. None if there was a change already.
    pub(crate) fn rest(&mut self, waker: &Waker) -> Option<Option<Waker>> {
        if std::mem::take(&mut self.changed) {
            return None;
        }
        Some(self.waker.replace(waker.clone()))
    }

    /// Asks one side something, perhaps in the course of a request of the other's.
    pub(crate) fn call(
        &mut self,
        now: Instant,
        to: Side,
        method: ByteString,
        params: Option<RawJson>,
        course: Option<Key>,
    ) -> CallId {
        let connection = self.connection(to);
        let call = connection.reserve_call();
        connection.call(now, call, method, params, CallOptions::new(), None);
        self.slots.insert((to, call), Slot { waker: None, outcome: None });
        if let Some(passing) = course.and_then(|key| self.passing.get_mut(&key)) {
            passing.passed = true;
            passing.calls.push(call);
        }
        call
    }

    /// The outcome of a call, once. Gives the waker that is replaced while there is none.
    pub(crate) fn poll_slot(
        &mut self,
        to: Side,
        call: CallId,
        waker: &Waker,
    ) -> Result<Result<RawJson, CallFailure>, Option<Waker>> {
        let Some(slot) = self.slots.get_mut(&(to, call)) else {
            return Ok(Err(CallFailure::Closed));
        };
        match slot.outcome.take() {
            Some(outcome) => {
                self.slots.remove(&(to, call));
                Ok(outcome)
            }
            None => Err(slot.waker.replace(waker.clone())),
        }
    }

    /// A call is over. Gives whom to wake.
    pub(crate) fn settle(
        &mut self,
        to: Side,
        call: CallId,
        outcome: Result<RawJson, CallFailure>,
    ) -> Option<Waker> {
        let slot = self.slots.get_mut(&(to, call))?;
        slot.outcome = Some(outcome);
        slot.waker.take()
    }

    /// Whether the outcome of a call still waits for whoever made it.
    pub(crate) fn is_unheard(&self, to: Side, call: CallId) -> bool {
        self.slots.contains_key(&(to, call))
    }

    /// Nobody waits for a call any more.
    pub(crate) fn forget_call(&mut self, to: Side, call: CallId, course: Option<Key>) -> Option<Waker> {
        let slot = self.slots.remove(&(to, call));
        if let Some(passing) = course.and_then(|key| self.passing.get_mut(&key)) {
            passing.calls.retain(|other| *other != call);
        }
        if slot.as_ref().is_some_and(|slot| slot.outcome.is_none()) {
            self.connection(to).cancel(call, "");
        }
        slot.and_then(|slot| slot.waker)
    }

    pub(crate) fn begin(&mut self, key: Key) {
        self.passing.insert(key, Passing::default());
    }

    /// The id that a request of the client's has there, where it is at work at the agent under this one.
    pub(crate) fn id_at_client(&self, at_agent: &RequestId) -> Option<RequestId> {
        let is_it = |passing: &Passing| passing.calls.iter().any(|call| call.request_id() == *at_agent);
        let mut passing = self.passing.iter();
        let (key, _) = passing.find(|(key, passing)| key.from == Side::Client && is_it(passing))?;
        self.client.incoming_request_id(key.incoming).cloned()
    }

    /// Whether requests of this side are on their way through; if asked so, only those that were not passed on.
    pub(crate) fn is_passing(&self, from: Side, only_held: bool) -> bool {
        self.passing.iter().any(|(key, passing)| key.from == from && !(only_held && passing.passed))
    }

    pub(crate) fn was_passed_on(&self, key: Key) -> bool {
        self.passing.get(&key).is_some_and(|passing| passing.passed)
    }

    /// Answers a request. Gives the wakers of those who waited for its being cancelled.
    pub(crate) fn answer(&mut self, key: Key, outcome: Result<RawJson, ErrorObject>) -> Vec<Waker> {
        self.connection(key.from).answer(key.incoming, outcome);
        self.passing.remove(&key).map(|passing| passing.wakers).unwrap_or_default()
    }

    pub(crate) fn is_cancelled(&self, key: Key) -> bool {
        self.passing.get(&key).is_some_and(|passing| passing.cancelled)
    }

    pub(crate) fn wait_for_cancel(&mut self, key: Key, waker: &Waker) {
        if let Some(passing) = self.passing.get_mut(&key)
            && !passing.wakers.iter().any(|other| other.will_wake(waker))
        {
            passing.wakers.push(waker.clone());
        }
    }

    /// A request is no longer wanted: so are the calls that it has become, each under the id that it has on its hop.
    /// They are waited for all the same, because they are answered all the same. Gives whom to wake.
    pub(crate) fn cancel(&mut self, key: Key) -> Vec<Waker> {
        let Some(passing) = self.passing.get_mut(&key) else {
            return Vec::new();
        };
        passing.cancelled = true;
        let calls = passing.calls.clone();
        let wakers = std::mem::take(&mut passing.wakers);
        for call in calls {
            let params = CancelParams { request_id: call.request_id() };
            let params = RawJson::encode(&params).expect("an id always has a JSON form");
            let to = key.from.other();
            self.connection(to).notify(Dialect::ACP.cancel_method, Some(params), None);
        }
        wakers
    }

    pub(crate) fn agree(&mut self, key: Key, version: Option<String>) {
        if let Some(passing) = self.passing.get_mut(&key) {
            passing.version = version;
        }
    }

    pub(crate) fn agreed(&self, key: Key) -> Option<String> {
        self.passing.get(&key).and_then(|passing| passing.version.clone())
    }

    /// Waits until there is room to say more to a side. True if there is.
    pub(crate) fn poll_room(&mut self, to: Side, waker: &Waker) -> bool {
        if self.connection(to).has_room() {
            return true;
        }
        let waiting = &mut self.room[to as usize];
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        false
    }

    /// Those to wake because there is room.
    pub(crate) fn take_room_wakers(&mut self, to: Side) -> Vec<Waker> {
        if self.room[to as usize].is_empty() || !self.connection(to).has_room() {
            return Vec::new();
        }
        std::mem::take(&mut self.room[to as usize])
    }
}
