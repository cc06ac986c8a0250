//! For any interleaving of two connections, every call ends once, every request is answered once, and both become idle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use agentwire_connection::{
    CallFailure, CallId, CallOptions, Config, Connection, Dialect, Event, IncomingId,
};
use agentwire_jsonrpc::{ErrorObject, Frame, Message, RawJson, RequestId};
use proptest::prelude::*;

const REQUEST_LIMIT: usize = 4;
const BATCH_LIMIT: usize = 4;
const HIGH_WATER: usize = 600;
const REFUSED_BY_THE_HANDLER: i64 = 7;

/// A step of one of the two sides (0 or 1).
#[derive(Clone, Debug)]
enum Step {
    Call {
        timeout: Option<u8>,
        maximum: Option<u8>,
    },
    Notify,
    Cancel(prop::sample::Index),
    /// Completes any one of the requests, so handlers end in any order.
    Answer(prop::sample::Index, bool),
    Progress(prop::sample::Index),
    /// A caller leaves, and both sides are notified at once.
    Abandon(prop::sample::Index),
    /// Sends this many frames, as one batch if the flag is set and the dialect has batches.
    Transmit(usize, bool),
    Deliver(usize),
    Wait(u8),
    /// The peer closes its side. Frames that are under way still arrive.
    End,
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        6 => (prop::option::of(0..20u8), prop::option::of(0..40u8))
            .prop_map(|(timeout, maximum)| Step::Call { timeout, maximum }),
        3 => Just(Step::Notify),
        3 => index().prop_map(Step::Cancel),
        6 => (index(), any::<bool>()).prop_map(|(which, good)| Step::Answer(which, good)),
        2 => index().prop_map(Step::Progress),
        1 => index().prop_map(Step::Abandon),
        6 => (1..6usize, any::<bool>()).prop_map(|(count, joined)| Step::Transmit(count, joined)),
        6 => (1..4usize).prop_map(Step::Deliver),
        3 => (0..8u8).prop_map(Step::Wait),
        // Rare, since little happens after it.
        1 => prop::bool::weighted(0.1).prop_map(|end| if end { Step::End } else { Step::Wait(1) }),
    ]
}

/// The caller's knowledge of a call.
#[derive(Debug, PartialEq)]
enum Fate {
    Open {
        made: Instant,
        timeout: Option<Duration>,
        most: Option<Duration>,
    },
    Cancelled,
    Answered,
    /// Ended without a response, which may still arrive.
    Failed,
}

struct Side {
    connection: Connection,
    dialect: Dialect,
    /// The frames on their way to this side.
    incoming: VecDeque<String>,
    /// No more frames are added to `incoming`.
    ending: bool,
    ended: bool,
    calls: BTreeMap<CallId, Fate>,
    owed: Vec<IncomingId>,
    cancelled: BTreeSet<u64>,
    /// The ids of the requests that arrived here, each with the number of responses that were sent.
    answers: BTreeMap<u64, usize>,
    /// The requests that must not be answered.
    unanswered: BTreeSet<u64>,
    notifications_sent: u64,
    notifications_seen: u64,
}

struct Simulation {
    now: Instant,
    sides: [Side; 2],
}

impl Simulation {
    fn new(dialect: &Dialect) -> Self {
        let side = || Side {
            connection: Connection::new(
                Config::new(dialect.clone())
                    .request_limit(REQUEST_LIMIT)
                    .high_water(HIGH_WATER)
                    .backlog_limit(0),
            ),
            dialect: dialect.clone(),
            incoming: VecDeque::new(),
            ending: false,
            ended: false,
            calls: BTreeMap::new(),
            owed: Vec::new(),
            cancelled: BTreeSet::new(),
            answers: BTreeMap::new(),
            unanswered: BTreeSet::new(),
            notifications_sent: 0,
            notifications_seen: 0,
        };
        Self { now: Instant::now(), sides: [side(), side()] }
    }

    fn step(&mut self, who: usize, step: &Step) {
        let now = self.now;
        let side = &mut self.sides[who];
        match step {
            // As a driver does: a new notification or call waits for room.
            Step::Call { timeout, maximum } if side.connection.has_room() => {
                side.call(now, *timeout, *maximum)
            }
            Step::Notify if side.connection.has_room() => side.notify(),
            Step::Cancel(which) => side.cancel(which),
            Step::Answer(which, good) if !side.owed.is_empty() => {
                let owed = side.owed.swap_remove(which.index(side.owed.len()));
                side.answer(owed, *good);
            }
            Step::Progress(which) if side.connection.has_room() => side.report(which),
            Step::Abandon(which) if !side.owed.is_empty() => {
                let owed = *which.get(&side.owed);
                let id = side.connection.incoming_request_id(owed).unwrap().clone();
                side.connection.handle_caller_left(&id);
                side.unanswered.insert(id.as_u64().unwrap());
                self.sides[1 - who].give_up(|call| call.request_id() == id);
            }
            Step::Transmit(count, joined) => self.transmit(who, *count, *joined),
            Step::Deliver(count) => self.deliver(who, *count),
            Step::Wait(time) => {
                self.now += Duration::from_millis(u64::from(*time));
                for side in &mut self.sides {
                    side.connection.handle_timeout(self.now);
                }
            }
            Step::End => side.ending = true,
            _ => {}
        }
        self.sides.iter_mut().for_each(|side| side.take_events(self.now));
    }

    fn transmit(&mut self, who: usize, count: usize, joined: bool) {
        let mut frames = Vec::new();
        for _ in 0..count {
            let Some(transmit) = self.sides[who].connection.poll_transmit() else { break };
            self.sides[who].count_answers(&transmit.frame);
            let mut text = Vec::new();
            transmit.frame.write(&mut text);
            frames.push(String::from_utf8(text).unwrap());
        }
        // Batches do not nest. A peer with batches may join any messages.
        let can_join =
            joined && self.sides[who].dialect.batches && frames.iter().all(|text| text.starts_with('{'));
        if can_join && !frames.is_empty() {
            frames = vec![format!("[{}]", frames.join(","))];
        }
        let peer = &mut self.sides[1 - who];
        if !peer.ending {
            peer.incoming.extend(frames);
        }
    }

    fn deliver(&mut self, who: usize, count: usize) {
        let side = &mut self.sides[who];
        for _ in 0..count {
            if !side.connection.wants_input() {
                break;
            }
            let Some(text) = side.incoming.pop_front() else { break };
            let frame = Frame::parse_with(text.into(), BATCH_LIMIT + 4);
            side.count_requests(&frame);
            side.connection.handle_frame(self.now, frame);
            side.take_events(self.now);
        }
        if side.ending && side.incoming.is_empty() && !side.ended {
            side.ended = true;
            side.connection.handle_end();
            side.take_events(self.now);
        }
    }

    /// Delivers all frames and completes all handlers, until both sides are idle.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            let mut busy = false;
            for who in 0..2 {
                self.transmit(who, usize::MAX, false);
                busy |= !self.sides[1 - who].incoming.is_empty();
                self.deliver(1 - who, usize::MAX);
                for owed in std::mem::take(&mut self.sides[who].owed) {
                    self.sides[who].answer(owed, true);
                    busy = true;
                }
            }
            if !busy {
                // When one direction is closed, the other ends too, as for a writer to a closed pipe.
                if self.sides.iter().any(|side| side.ending) && self.sides.iter().any(|side| !side.ended) {
                    self.sides.iter_mut().for_each(|side| side.ending = true);
                    continue;
                }
                return;
            }
        }
        panic!("the two never come to rest");
    }

    fn check_end(&self) {
        for side in &self.sides {
            assert!(side.connection.is_idle(), "{:?}", side.connection);
            assert_eq!(side.connection.poll_timeout(), None);
            for (call, fate) in &side.calls {
                assert!(!matches!(fate, Fate::Open { .. }), "{call:?} never ended: {fate:?}");
            }
            for (id, count) in &side.answers {
                let expected = usize::from(!side.unanswered.contains(id));
                assert_eq!(*count, expected, "answers to request {id}");
            }
        }
        for (from, to) in [(0, 1), (1, 0)] {
            if !self.sides[to].ended {
                assert_eq!(self.sides[from].notifications_sent, self.sides[to].notifications_seen);
            }
        }
    }
}

impl Side {
    fn call(&mut self, now: Instant, timeout: Option<u8>, maximum: Option<u8>) {
        let milliseconds = |count: u8| Duration::from_millis(u64::from(count));
        let (timeout, maximum) = (timeout.map(milliseconds), maximum.map(milliseconds));
        let mut options = CallOptions::new();
        (options.timeout, options.progress_maximum) = (timeout, maximum);
        let call = self.connection.reserve_call();
        let most = timeout.map(|timeout| timeout.max(maximum.unwrap_or_default()));
        self.calls.insert(call, Fate::Open { made: now, timeout, most });
        self.connection.call(now, call, "ask", None, options, None);
    }

    fn notify(&mut self) {
        self.notifications_sent += 1;
        let params = RawJson::encode(&[self.notifications_sent]).unwrap();
        self.connection.notify("note", Some(params), None);
    }

    fn cancel(&mut self, which: &prop::sample::Index) {
        if !self.calls.is_empty() {
            let chosen = *self.calls.keys().nth(which.index(self.calls.len())).unwrap();
            self.give_up(|call| call == chosen);
        }
    }

    /// Cancels a call, which may have ended.
    fn give_up(&mut self, which: impl Fn(CallId) -> bool) {
        let (call, fate) = self.calls.iter_mut().find(|(call, _)| which(**call)).unwrap();
        self.connection.cancel(*call, "no longer needed");
        if matches!(fate, Fate::Open { .. }) {
            *fate = Fate::Cancelled;
        }
    }

    /// Answers a request. The result contains its id and the number of notifications that were sent before it.
    fn answer(&mut self, owed: IncomingId, good: bool) {
        let id = self.connection.incoming_request_id(owed).unwrap().as_u64().unwrap();
        if self.cancelled.contains(&id) && !self.dialect.answers_cancelled {
            self.unanswered.insert(id);
        }
        let outcome = if good {
            Ok(RawJson::encode(&[id, self.notifications_sent]).unwrap())
        } else {
            Err(ErrorObject::new(REFUSED_BY_THE_HANDLER, "no"))
        };
        self.connection.answer(owed, outcome.clone());
        self.connection.answer(owed, outcome);
    }

    fn report(&mut self, which: &prop::sample::Index) {
        if let (Some(method), false) = (self.dialect.progress_method, self.owed.is_empty()) {
            let id = self.connection.incoming_request_id(*which.get(&self.owed)).unwrap();
            let params = RawJson::encode(&serde_json::json!({ "progressToken": id, "progress": 1 })).unwrap();
            self.connection.notify(method, Some(params), None);
        }
    }

    fn count_requests(&mut self, frame: &Frame) {
        for message in messages(frame) {
            if let Message::Request(request) = message {
                let before = self.answers.insert(request.id.as_u64().unwrap(), 0);
                assert_eq!(before, None, "an id was used twice");
            }
        }
    }

    fn count_answers(&mut self, frame: &Frame) {
        for message in messages(frame) {
            if let Message::Response(response) = message {
                *self.answers.get_mut(&response.id.as_u64().unwrap()).expect("an answer to nothing") += 1;
            }
        }
    }

    fn take_events(&mut self, now: Instant) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Request { incoming, .. } => self.owed.push(incoming),
                Event::Notification(notification) => {
                    self.notifications_seen += 1;
                    assert_eq!(
                        notification.params.unwrap().decode::<[u64; 1]>().unwrap(),
                        [self.notifications_seen]
                    );
                }
                Event::Progress { call, .. } => assert!(matches!(self.calls[&call], Fate::Open { .. })),
                Event::CallEnded { call, outcome } => self.take_answer(now, call, outcome),
                Event::Cancelled(owed) => {
                    let id = self.connection.incoming_request_id(owed).expect("it is still owed");
                    assert!(self.cancelled.insert(id.as_u64().unwrap()), "cancelled twice");
                }
                Event::UnmatchedResponse(response) | Event::CancelledResponse(response) => {
                    self.take_stray(&response.id);
                }
                other => panic!("a new event: {other:?}"),
            }
        }
        assert!(self.connection.pending_requests() <= REQUEST_LIMIT);
        assert_eq!(self.connection.pending_requests(), self.owed.len());
        let open = self.calls.values().filter(|fate| matches!(fate, Fate::Open { .. })).count();
        assert_eq!(self.connection.calls_in_flight(), open);
    }

    fn take_answer(&mut self, now: Instant, call: CallId, outcome: Result<RawJson, CallFailure>) {
        let fate = self.calls.get_mut(&call).unwrap();
        let Fate::Open { made, timeout, most } = *fate else { panic!("{call:?} ended twice: {fate:?}") };
        *fate = match outcome {
            Ok(result) => {
                let [id, notified] = result.decode::<[u64; 2]>().unwrap();
                assert_eq!(RequestId::from(id), call.request_id());
                assert!(self.notifications_seen >= notified, "the response overtook a notification");
                Fate::Answered
            }
            Err(CallFailure::Refused(error)) => {
                assert!(error.code == REFUSED_BY_THE_HANDLER || error.data.is_some(), "{error}");
                Fate::Answered
            }
            Err(CallFailure::TimedOut(waited)) => {
                assert!(timeout.unwrap() <= waited && waited <= most.unwrap() && waited <= now - made);
                Fate::Failed
            }
            Err(CallFailure::Closed) => {
                assert!(self.ended);
                Fate::Failed
            }
            Err(other) => panic!("{other}"),
        };
    }

    /// An unmatched response must belong to a call that this side has given up.
    fn take_stray(&self, id: &RequestId) {
        let call = self.calls.iter().find(|(call, _)| call.request_id() == *id);
        assert!(matches!(call, Some((_, Fate::Cancelled | Fate::Failed))), "{id} is not a stray: {call:?}");
    }
}

fn messages(frame: &Frame) -> Vec<&Message> {
    match frame {
        Frame::Single(message) => vec![message],
        Frame::Batch(messages) => messages.iter().map(|message| message.as_ref().unwrap()).collect(),
        Frame::Malformed(malformed) => panic!("{malformed:?}"),
    }
}

fn dialect() -> impl Strategy<Value = Dialect> {
    let mut with_batches = Dialect::MCP;
    with_batches.batches = true;
    prop_oneof![Just(Dialect::ACP), Just(Dialect::MCP), Just(with_batches)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_ends_once_and_nothing_is_left(
        dialect in dialect(),
        steps in prop::collection::vec((0..2usize, step()), 1..150),
    ) {
        let mut simulation = Simulation::new(&dialect);
        for (who, step) in &steps {
            simulation.step(*who, step);
        }
        simulation.settle();
        simulation.check_end();
    }
}
