//! Each test of the contract fails on a store with a fault: a test that cannot fail proves nothing.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_store::contract::{Fixture, Test, buses, cuts, events, leases, once, records, writers};
use agentwire_store::{
    Bus, BusMessage, Clock, Durable, Event, EventId, EventStore, Lease, MemoryBus, MemoryNodes, NodeId,
    Nodes, OnceStore, Replay, SessionId, SessionRecord, SessionRecords, StoreError, StoreLimits, Stores,
    StreamBlock, StreamRun, Subscription, TAKE_OVER_GAP,
};
use bytes::Bytes;
use futures::executor::block_on;
use futures::future::{BoxFuture, FutureExt, ready};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// A replay has the newest event first.
    Reversed,
    /// A replay begins with the event of the place itself.
    OneTooMany,
    /// Of three events one is lost, which the writer does not learn.
    LosesEvents,
    /// An event is stored with the next, or when its writer waits for it.
    StoresLate,
    /// All streams are one.
    OneStream,
    /// All sessions are one.
    OneSession,
    /// Data is trimmed.
    Trims,
    NoReplayLimit,
    NoSessionLimit,
    /// The end of a stream is not stored.
    NoEnd,
    /// Where a stream runs is not stored.
    NoRuns,
    /// A refused event is reported as stored.
    HidesRefusal,
    /// A take-over always reports success.
    TakesAlways,
    /// A stream that is taken over does not end.
    TakesWithoutEnd,
    /// The last event of a stream that is taken over has the next place.
    TakesNextPlace,
    /// A stream that is forgotten stays.
    NoForget,
    /// An update replaces any version.
    UpdatesAlways,
    /// A record that is deleted stays.
    NoDelete,
    /// The clock stands still.
    NoExpiry,
    /// A use does not restart the time to live.
    NoTouch,
    /// The record of a session in use is deleted as one that is not.
    DeletesUsed,
    /// Each node gets the same numbers of streams.
    SameNumbers,
    /// A name can be used again.
    NamesAgain,
    /// A long name is taken for its beginning.
    CutsNames,
    /// A name that was removed stays.
    KeepsNames,
    /// A node is alive for ever.
    Immortal,
    /// A lost lease is not noticed.
    LeaseNotLost,
    /// A lease that is lost is settled.
    SettledForEver,
    /// The end of a lease ends that which its node has taken again.
    EndsAnyLease,
    /// A message reaches its sender as well.
    Echo,
    /// A message to one node reaches all.
    SendsToAll,
    /// A subscription that was interrupted does not say so.
    NoMissed,
    /// A restart loses all.
    Forgetful,
}

struct Broken {
    fault: Fault,
    clock: Clock,
    stores: Mutex<Stores>,
    sessions: Sessions,
    bus: MemoryBus,
    nodes: MemoryNodes,
}

impl Broken {
    fn new(fault: Fault) -> Self {
        let (clock, bus, nodes) = (Clock::manual(), MemoryBus::default(), MemoryNodes::default());
        let sessions = Sessions::default();
        let stores = Mutex::new(stores(fault, &sessions, &clock, &bus, &nodes));
        Self { fault, clock, stores, sessions, bus, nodes }
    }
}

/// The sessions that had events.
type Sessions = Arc<Mutex<BTreeSet<SessionId>>>;

fn stores(fault: Fault, sessions: &Sessions, clock: &Clock, bus: &MemoryBus, nodes: &MemoryNodes) -> Stores {
    let session_limit = if fault == Fault::NoSessionLimit { 16 << 20 } else { 1 << 20 };
    let limits = StoreLimits::new().session_events(session_limit).events(64 << 20);
    let mut inner = Stores::memory(&limits, clock);
    inner.bus = Arc::new(bus.clone());
    inner.nodes = Arc::new(nodes.clone());
    Stores::of(&Arc::new(Mutant {
        fault,
        inner,
        sessions: sessions.clone(),
        nodes: nodes.clone(),
        late: Late::default(),
    }))
}

impl Fixture for Broken {
    fn node(&self) -> BoxFuture<'_, Stores> {
        ready(self.stores.lock().unwrap().clone()).boxed()
    }

    fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
        if self.fault != Fault::NoExpiry {
            self.clock.advance(time);
        }
        ready(()).boxed()
    }

    fn session_limit(&self) -> usize {
        1 << 20
    }

    fn in_time<'a>(&'a self, operation: BoxFuture<'a, ()>) -> BoxFuture<'a, bool> {
        ready(now(operation)).boxed()
    }

    /// The bytes of all events that can be replayed.
    fn size(&self) -> BoxFuture<'_, Option<u64>> {
        let (stores, after) = (self.stores.lock().unwrap().clone(), EventId::new(1, 0));
        let size = |session: &SessionId| {
            let replay = stores.events.replay(*session, after, usize::MAX).now_or_never().unwrap().unwrap();
            replay.events.iter().map(|event| event.data.len() as u64).sum::<u64>()
        };
        ready(Some(self.sessions.lock().unwrap().iter().map(size).sum())).boxed()
    }

    fn expire(&self, node: NodeId) -> BoxFuture<'_, bool> {
        self.nodes.expire(node);
        ready(true).boxed()
    }

    fn cut(&self) -> BoxFuture<'_, bool> {
        if self.fault != Fault::NoMissed {
            self.bus.interrupt();
        }
        ready(true).boxed()
    }

    fn restart(&self) -> BoxFuture<'_, bool> {
        if self.fault == Fault::Forgetful {
            *self.stores.lock().unwrap() =
                stores(self.fault, &self.sessions, &self.clock, &self.bus, &self.nodes);
        }
        ready(true).boxed()
    }
}

/// Whether a future completes within a few polls.
fn now(mut operation: BoxFuture<'_, ()>) -> bool {
    (0..4).any(|_| (&mut operation).now_or_never().is_some())
}

#[derive(Debug)]
struct Mutant {
    fault: Fault,
    inner: Stores,
    sessions: Sessions,
    nodes: MemoryNodes,
    late: Late,
}

/// The events that are not stored yet.
type Late = Arc<Mutex<Vec<(SessionId, Event, bool)>>>;

/// Stores what is late. The result of the last.
fn store_late(late: &Late, events: &dyn EventStore) -> Result<(), StoreError> {
    let late = std::mem::take(&mut *late.lock().unwrap());
    let mut last = Ok(());
    for (session, event, is_last) in late {
        last = events.append(session, event, is_last).wait().now_or_never().unwrap();
    }
    last
}

impl Mutant {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn session(&self, session: SessionId) -> SessionId {
        if self.is(Fault::OneSession) { SessionId::parse(&[b'0'; 32]).unwrap() } else { session }
    }

    fn stream(&self, stream: u64) -> u64 {
        if self.is(Fault::OneStream) { 1 } else { stream }
    }
}

impl EventStore for Mutant {
    fn begin(&self, session: SessionId, stream: u64, runs: StreamRun) -> Durable {
        if self.is(Fault::NoRuns) {
            return Durable::Now;
        }
        self.inner.events.begin(self.session(session), self.stream(stream), runs)
    }

    fn append(&self, session: SessionId, mut event: Event, is_last: bool) -> Durable {
        self.sessions.lock().unwrap().insert(session);
        event.id.stream = self.stream(event.id.stream);
        if self.is(Fault::Trims) {
            event.data = Bytes::from(String::from_utf8(event.data.to_vec()).unwrap().replace(' ', ""));
        }
        if self.is(Fault::LosesEvents) && event.id.place.is_multiple_of(3) {
            return Durable::Now;
        }
        let is_last = is_last && !self.is(Fault::NoEnd);
        let session = self.session(session);
        if self.is(Fault::StoresLate) {
            let (events, late) = (self.inner.events.clone(), self.late.clone());
            _ = store_late(&late, &*events);
            late.lock().unwrap().push((session, event, is_last));
            return Durable::Later(async move { store_late(&late, &*events) }.boxed());
        }
        let appended = self.inner.events.append(session, event, is_last);
        if self.is(Fault::HidesRefusal) { Durable::Now } else { appended }
    }

    fn end(&self, session: SessionId, stream: u64) -> Durable {
        if self.is(Fault::NoEnd) {
            return Durable::Now;
        }
        self.inner.events.end(self.session(session), self.stream(stream))
    }

    fn replay(
        &self,
        session: SessionId,
        mut after: EventId,
        limit: usize,
    ) -> BoxFuture<'static, Result<Replay, StoreError>> {
        after.stream = self.stream(after.stream);
        if self.is(Fault::OneTooMany) {
            after.place = after.place.saturating_sub(1);
        }
        let limit = if self.is(Fault::NoReplayLimit) { usize::MAX } else { limit };
        let (is_reversed, takes_next) = (self.is(Fault::Reversed), self.is(Fault::TakesNextPlace));
        let replay = self.inner.events.replay(self.session(session), after, limit);
        Box::pin(replay.map(move |replay| {
            replay.map(|mut replay| {
                if is_reversed {
                    replay.events.reverse();
                }
                if takes_next {
                    let is_behind =
                        |place: u64| place < TAKE_OVER_GAP || place - TAKE_OVER_GAP + 1 > after.place;
                    replay.events.retain(|event| is_behind(event.id.place));
                }
                replay
            })
        }))
    }

    fn take_over(
        &self,
        session: SessionId,
        stream: u64,
        last: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        if self.is(Fault::TakesWithoutEnd) {
            return ready(Ok(true)).boxed();
        }
        let taken = self.inner.events.take_over(self.session(session), self.stream(stream), last);
        if self.is(Fault::TakesAlways) { ready(Ok(true)).boxed() } else { taken }
    }

    fn forget(&self, session: SessionId) {
        if !self.is(Fault::NoForget) {
            self.inner.events.forget(self.session(session));
        }
    }
}

impl SessionRecords for Mutant {
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        self.inner.records.create(session, record, time_to_live)
    }

    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>> {
        self.inner.records.load(session)
    }

    fn touch(
        &self,
        session: SessionId,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        if self.is(Fault::NoTouch) {
            ready(Ok(true)).boxed()
        } else {
            self.inner.records.touch(session, time_to_live)
        }
    }

    fn update(
        &self,
        session: SessionId,
        mut record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        if self.is(Fault::UpdatesAlways)
            && let Some(Ok(Some(stored))) = self.inner.records.load(session).now_or_never()
        {
            record.version = stored.version;
        }
        self.inner.records.update(session, record)
    }

    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        if self.is(Fault::NoDelete) { ready(Ok(true)).boxed() } else { self.inner.records.delete(session) }
    }

    fn delete_unused(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>> {
        if self.is(Fault::DeletesUsed) {
            self.inner.records.delete(session)
        } else {
            self.inner.records.delete_unused(session)
        }
    }

    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<Option<StreamBlock>, StoreError>> {
        let taken = self.inner.records.take_streams(session, count);
        if self.is(Fault::SameNumbers) {
            return Box::pin(taken.map(move |taken| Ok(taken?.map(|_| 1..1 + count))));
        }
        taken
    }
}

impl OnceStore for Mutant {
    fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        remember: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        let name = if self.is(Fault::CutsNames) { &name[..name.len().min(100)] } else { name };
        let inserted = self.inner.once.insert(name, owner, remember);
        if self.is(Fault::NamesAgain) { ready(Ok(true)).boxed() } else { inserted }
    }

    fn contains(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.inner.once.contains(name)
    }

    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        if self.is(Fault::KeepsNames) { ready(Ok(())).boxed() } else { self.inner.once.remove(name) }
    }
}

impl Nodes for Mutant {
    fn join(&self, node: NodeId) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>> {
        let (joined, fault, nodes) = (self.inner.nodes.join(node), self.fault, self.nodes.clone());
        Box::pin(
            joined
                .map(move |lease| Ok(Box::new(WrongLease { lease: lease?, fault, nodes }) as Box<dyn Lease>)),
        )
    }

    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>> {
        if self.is(Fault::Immortal) { ready(Ok(true)).boxed() } else { self.inner.nodes.is_alive(node) }
    }

    fn check(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.inner.nodes.check()
    }
}

#[derive(Debug)]
struct WrongLease {
    lease: Box<dyn Lease>,
    fault: Fault,
    nodes: MemoryNodes,
}

impl Lease for WrongLease {
    fn node(&self) -> NodeId {
        self.lease.node()
    }

    fn lost(&self) -> BoxFuture<'static, ()> {
        match self.fault {
            Fault::LeaseNotLost => futures::future::pending().boxed(),
            _ => self.lease.lost(),
        }
    }

    fn is_settled(&self) -> bool {
        self.fault == Fault::SettledForEver || self.lease.is_settled()
    }

    fn release(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        if self.fault == Fault::EndsAnyLease {
            self.nodes.expire(self.node());
        }
        self.lease.release()
    }
}

impl Bus for Mutant {
    fn publish(&self, from: NodeId, message: BusMessage) -> BoxFuture<'static, Result<(), StoreError>> {
        let from = if self.is(Fault::Echo) { NodeId::new(0) } else { from };
        self.inner.bus.publish(from, message)
    }

    fn send(&self, to: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>> {
        if self.is(Fault::SendsToAll) {
            return Box::pin(self.inner.bus.publish(NodeId::new(0), message).map(|sent| sent.map(|()| true)));
        }
        self.inner.bus.send(to, message)
    }

    fn subscribe(&self, node: NodeId) -> BoxFuture<'static, Result<Subscription, StoreError>> {
        self.inner.bus.subscribe(node)
    }
}

/// Every test of the contract, with faults on which it fails.
const CAUGHT: &[(Test, &[Fault])] = &[
    (events::events_are_replayed_in_order_after_a_place, &[Fault::Reversed, Fault::OneTooMany]),
    (events::unawaited_appends_keep_their_order, &[Fault::LosesEvents]),
    (events::a_replay_has_what_was_appended_before, &[Fault::StoresLate, Fault::LosesEvents]),
    (events::streams_and_sessions_are_apart, &[Fault::OneStream, Fault::OneSession, Fault::NoForget]),
    (events::data_is_kept_byte_for_byte, &[Fault::Trims]),
    (events::a_replay_has_a_limit, &[Fault::NoReplayLimit, Fault::OneTooMany]),
    (events::a_stream_runs_until_it_ends, &[Fault::NoEnd, Fault::NoRuns, Fault::HidesRefusal]),
    (events::the_events_of_a_session_are_bounded, &[Fault::NoSessionLimit, Fault::HidesRefusal]),
    (events::a_stream_without_events_is_forgotten_once_it_ends, &[Fault::NoEnd]),
    (events::many_events_take_bounded_room, &[Fault::NoForget]),
    (writers::of_two_writers_of_one_place_one_wins, &[Fault::HidesRefusal, Fault::LosesEvents]),
    (writers::a_place_is_never_taken_twice, &[Fault::HidesRefusal]),
    (
        writers::a_stream_that_is_taken_over_refuses_its_former_node,
        &[Fault::TakesWithoutEnd, Fault::TakesAlways, Fault::HidesRefusal],
    ),
    (writers::a_stream_that_has_ended_is_not_taken_over, &[Fault::TakesAlways, Fault::NoEnd]),
    (
        writers::of_several_take_overs_one_wins,
        &[Fault::TakesAlways, Fault::TakesWithoutEnd, Fault::TakesNextPlace],
    ),
    (writers::a_result_and_a_take_over_exclude_each_other, &[Fault::NoEnd, Fault::TakesAlways]),
    (records::a_record_is_found_until_it_is_deleted, &[Fault::NoDelete]),
    (records::of_several_updates_of_one_version_one_wins, &[Fault::UpdatesAlways]),
    (records::a_record_expires_when_it_is_not_used, &[Fault::NoExpiry, Fault::NoTouch]),
    (records::only_an_unused_record_is_deleted_as_such, &[Fault::DeletesUsed]),
    (records::numbers_of_streams_are_given_once, &[Fault::SameNumbers]),
    (once::a_name_is_taken_once_until_it_expires, &[Fault::NamesAgain, Fault::NoExpiry]),
    (once::of_several_uses_at_once_one_is_the_first, &[Fault::NamesAgain]),
    (once::a_name_has_a_longest_length, &[Fault::CutsNames]),
    (once::a_name_that_was_removed_is_used_again, &[Fault::KeepsNames, Fault::NamesAgain]),
    (leases::a_node_is_alive_while_it_holds_its_lease, &[Fault::Immortal]),
    (leases::a_node_that_was_stopped_writes_nothing_any_more, &[Fault::LeaseNotLost, Fault::HidesRefusal]),
    (
        leases::a_lease_is_taken_again,
        &[Fault::LeaseNotLost, Fault::SettledForEver, Fault::EndsAnyLease, Fault::Immortal],
    ),
    (buses::a_message_reaches_every_other_node, &[Fault::Echo]),
    (buses::a_message_to_one_node_reaches_it_alone, &[Fault::SendsToAll]),
    (buses::a_subscription_survives_an_interruption, &[Fault::NoMissed]),
    (cuts::a_cut_loses_and_doubles_no_event, &[Fault::LosesEvents]),
    (
        cuts::a_cut_gives_no_number_and_no_name_twice,
        &[Fault::SameNumbers, Fault::NamesAgain, Fault::NoDelete],
    ),
    (cuts::what_is_durable_survives_a_restart, &[Fault::Forgetful]),
];

fn passes(test: Test, fault: Fault) -> bool {
    catch_unwind(AssertUnwindSafe(|| block_on(test(&Broken::new(fault))))).is_ok()
}

#[test]
fn each_test_fails_on_a_store_with_a_fault() {
    for (number, (test, faults)) in CAUGHT.iter().enumerate() {
        assert!(passes(*test, Fault::None), "test {number} fails without a fault");
        for fault in *faults {
            assert!(!passes(*test, *fault), "test {number} passes with {fault:?}");
        }
    }
}

/// A test that is added to the contract is added here too.
#[test]
fn every_test_of_the_contract_is_tried() {
    let source = include_str!("../../src/contract/mod.rs");
    let listed = source.lines().map(str::trim).filter(|line| {
        line.split_once("::").is_some_and(|(area, name)| {
            !area.contains(' ')
                && !name.contains(|letter: char| !letter.is_ascii_lowercase() && letter != '_')
        })
    });
    assert_eq!(listed.count(), CAUGHT.len());
}
