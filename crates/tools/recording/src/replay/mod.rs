//! Plays one side of a recording against the live other side, and collects the differences. `Replay` has no I/O and no clock.

mod compare;
mod difference;
mod drive;
mod entries;
mod values;
mod volatile;
mod wire;

use std::time::Duration;

use agentwire_jsonrpc::{RawJson, code};
use serde_json::Value;

pub use self::difference::{Difference, DifferenceKind};
pub use self::drive::{ReplayConfig, replay};
pub use self::volatile::{VOLATILE_MEMBERS, VolatileKind, VolatileMember};
pub use self::wire::{Incoming, LineWire, PacketWire, Wire};

use self::compare::{Comparison, Place};
use self::entries::{Entry, Progress, entries};
use self::values::Values;
use self::volatile::VolatileTable;
use crate::event::Side;
use crate::json_text::encoded;
use crate::message::{MessageKind, messages, tree};
use crate::reader::Recording;

/// The number of recorded messages that one live message is compared with to find its match.
const CANDIDATE_LIMIT: usize = 64;

/// The number of differences that are kept. Further ones are only counted.
const DIFFERENCE_LIMIT: usize = 1000;

/// A recording that is being played.
#[derive(Debug)]
pub struct Replay {
    entries: Vec<Entry>,
    next: usize,
    /// The highest index of a request or notification that has arrived.
    newest: Option<usize>,
    table: VolatileTable,
    values: Values,
    differences: Vec<Difference>,
    more: usize,
    /// The number of recorded messages that were sent, have arrived or were given up.
    settled: usize,
}

/// The next step of the played side.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Sends a message.
    Send(Outgoing),
    /// Waits for a message of the live side.
    Wait,
    /// Every message was sent, has arrived or was given up.
    Done,
}

/// A message to send.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outgoing {
    /// The message, or a recorded line that is not a message.
    pub text: String,
    /// The id, as JSON text, of the live side's request that it answers.
    pub answers: Option<String>,
    /// The id of the live side's request whose HTTP response carries the message.
    pub in_reply_to: Option<String>,
    /// The recorded time between the previous message and this one.
    pub pause: Duration,
}

impl Replay {
    /// A replay in which `side` is played by the recording.
    ///
    /// `ignored` are JSON Pointers of values that are not compared, in which `*` is any one step and `**` any number of them.
    /// `masks` are pairs of a mask, such as `«home»`, and the text that is sent in its place.
    pub fn new(recording: &Recording, side: Side, ignored: &[String], masks: Vec<(String, String)>) -> Self {
        Self {
            entries: entries(recording, side.is_client()),
            next: 0,
            newest: None,
            table: VolatileTable::new(ignored),
            values: Values::new(masks),
            differences: Vec::new(),
            more: 0,
            settled: 0,
        }
    }

    /// The next action. A message that it returns counts as sent.
    pub fn next_action(&mut self) -> Action {
        while let Some(entry) = self.entries.get(self.next) {
            if entry.is_played && entry.is_pending() {
                if let Some(outgoing) = self.outgoing(self.next) {
                    self.next += 1;
                    return Action::Send(outgoing);
                }
                self.entries[self.next].progress = Progress::Skipped;
                self.settled += 1;
            } else if entry.is_pending() {
                return Action::Wait;
            }
            self.next += 1;
        }
        Action::Done
    }

    /// Takes a message or a batch of the live side. Returns answers to requests that were not recorded.
    pub fn receive(&mut self, frame: &RawJson) -> Vec<Outgoing> {
        messages(frame).iter().filter_map(|message| self.receive_message(message)).collect()
    }

    /// Takes text of the live side that is not a message.
    pub fn receive_text(&mut self, text: &str) {
        self.add(
            DifferenceKind::Unexpected,
            None,
            Place { pointer: String::new(), recorded: None, seen: Some(Value::from(text)) },
        );
    }

    /// Takes the failure of a request: no response to it will arrive. `id` is JSON text.
    pub fn receive_failure(&mut self, id: &str, why: &str) {
        let kind = MessageKind::Response { id: id.to_owned() };
        let is_answer = |entry: &Entry| !entry.is_played && entry.is_pending() && entry.is_of_kind(&kind);
        let Some(index) = self.entries.iter().position(is_answer) else { return self.receive_text(why) };
        self.entries[index].progress = Progress::Skipped;
        self.settled += 1;
        let recorded = Some(tree(&self.entries[index].message));
        let place = Place { pointer: String::new(), recorded, seen: Some(Value::from(why)) };
        self.add(DifferenceKind::Changed, Some(index), place);
    }

    /// Gives up the live messages that the next message to send waits for. Returns whether there were any.
    pub fn give_up(&mut self) -> bool {
        let until = self.entries[self.next..].iter().position(|entry| entry.is_played && entry.is_pending());
        self.give_up_until(until.map_or(self.entries.len(), |count| self.next + count))
    }

    /// Gives up every message that has not arrived: the live side has ended.
    pub fn end(&mut self) {
        self.give_up_until(self.entries.len());
        self.next = self.entries.len();
    }

    /// The number of recorded messages that were sent, have arrived or were given up.
    pub(crate) fn settled(&self) -> usize {
        self.settled
    }

    /// The differences so far, up to 1,000, and how many more there are.
    pub fn differences(&self) -> (&[Difference], usize) {
        (&self.differences, self.more)
    }

    fn outgoing(&mut self, index: usize) -> Option<Outgoing> {
        let entry = &self.entries[index];
        let answers = match &entry.kind {
            MessageKind::Response { id } => Some(self.live_id(index, id)?),
            MessageKind::Request { .. } | MessageKind::Notification { .. } => None,
        };
        let text = match &entry.line {
            Some(line) => line.clone(),
            None => self.values.substitute(entry.message.as_str(), answers.as_deref(), &self.table),
        };
        let before = index.checked_sub(1).and_then(|before| self.entries[before].at);
        let pause = entry.at.zip(before).map_or(Duration::ZERO, |(at, before)| at.saturating_sub(before));
        let in_reply_to = answers.clone().or_else(|| self.in_reply_to(index));
        self.entries[index].progress = Progress::Done { live_id: None };
        self.settled += 1;
        Some(Outgoing { text, answers, in_reply_to, pause })
    }

    /// The live id of the request that a response answers. `None` if that request has not arrived.
    fn live_id(&self, response: usize, id: &str) -> Option<String> {
        let requests = self.entries[..response].iter().rev().filter(|entry| !entry.is_played);
        let mut requests = requests
            .filter(|entry| matches!(&entry.kind, MessageKind::Request { id: other, .. } if other == id));
        match requests.next().map(|entry| &entry.progress) {
            Some(Progress::Done { live_id }) => live_id.clone(),
            // The recording has no such request: the response is sent unchanged.
            None => Some(id.to_owned()),
            Some(Progress::Pending | Progress::Skipped) => None,
        }
    }

    /// The live id of the request whose HTTP response carries a message: the one of its exchange, or else the newest unanswered one.
    fn in_reply_to(&self, index: usize) -> Option<String> {
        let entry = &self.entries[index];
        let live_id = |entry: &Entry| match (&entry.kind, &entry.progress) {
            (MessageKind::Request { .. }, Progress::Done { live_id }) => live_id.clone(),
            _ => None,
        };
        let before = || self.entries[..index].iter().rev().filter(|entry| !entry.is_played);
        match entry.exchange {
            Some(exchange) => before().filter(|request| request.exchange == Some(exchange)).find_map(live_id),
            None => before().find_map(|request| {
                let MessageKind::Request { id, .. } = &request.kind else { return None };
                let is_answered = self.entries[..index].iter().any(|answer| {
                    answer.is_played
                        && matches!(&answer.kind, MessageKind::Response { id: other } if other == id)
                });
                if is_answered { None } else { live_id(request) }
            }),
        }
    }

    fn receive_message(&mut self, message: &RawJson) -> Option<Outgoing> {
        let kind = MessageKind::of(message);
        let seen = tree(message);
        let Some((index, comparison)) = self.find(&kind, &seen) else {
            return self.refuse(&kind, seen);
        };
        let (places, learned) = comparison;
        for (recorded, live) in learned {
            self.values.set(recorded, live);
        }
        if !self.entries[index].is_response() {
            if self.newest.is_some_and(|newest| index < newest) {
                self.add(
                    DifferenceKind::Order,
                    Some(index),
                    Place { pointer: String::new(), recorded: None, seen: None },
                );
            }
            self.newest = self.newest.max(Some(index));
        }
        let live_id = match kind {
            MessageKind::Request { id, .. } => Some(id),
            MessageKind::Notification { .. } | MessageKind::Response { .. } => None,
        };
        if let (Some(live), MessageKind::Request { id, .. }) = (&live_id, &self.entries[index].kind) {
            // `notifications/cancelled` and `$/cancel_request` contain the id.
            self.values.set(id.clone(), live.clone());
        }
        self.entries[index].progress = Progress::Done { live_id };
        self.settled += 1;
        for place in places {
            self.add(DifferenceKind::Changed, Some(index), place);
        }
        None
    }

    /// Finds the recorded message that a live message is matched with: an equal one, or else the first of its kind.
    #[allow(clippy::type_complexity, reason = "the parts of a comparison that outlive its borrow")]
    fn find(&self, kind: &MessageKind, seen: &Value) -> Option<(usize, (Vec<Place>, Vec<(String, String)>))> {
        let is_candidate = |entry: &Entry| !entry.is_played && entry.is_pending() && entry.is_of_kind(kind);
        let candidates = self.entries.iter().enumerate().skip(self.next);
        let candidates = candidates.filter(|(_, entry)| is_candidate(entry)).take(CANDIDATE_LIMIT);
        let mut first = None;
        for (index, entry) in candidates {
            let comparison = Comparison::of(&self.table, &self.values, &tree(&entry.message), seen);
            let found = (index, (comparison.places, comparison.learned));
            if found.1.0.is_empty() {
                return Some(found);
            }
            first.get_or_insert(found);
        }
        first
    }

    /// Adds a difference for a message that was not recorded, and refuses it if it is a request.
    fn refuse(&mut self, kind: &MessageKind, seen: Value) -> Option<Outgoing> {
        let place = Place { pointer: String::new(), recorded: None, seen: Some(seen) };
        let method = kind.method().unwrap_or_default().to_owned();
        self.push(Difference {
            kind: DifferenceKind::Unexpected,
            event: None,
            method,
            pointer: place.pointer,
            recorded: None,
            seen: place.seen,
        });
        let MessageKind::Request { id, method } = kind else { return None };
        let why = encoded(&format!("the recording has no further `{method}`"));
        let code = code::METHOD_NOT_FOUND;
        let text =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{why}}}}}");
        Some(Outgoing { text, answers: Some(id.clone()), in_reply_to: None, pause: Duration::ZERO })
    }

    fn give_up_until(&mut self, end: usize) -> bool {
        let mut has_given_up = false;
        for index in self.next..end {
            let entry = &mut self.entries[index];
            if !entry.is_pending() {
                continue;
            }
            entry.progress = Progress::Skipped;
            self.settled += 1;
            if !entry.is_played {
                has_given_up = true;
                let recorded = Some(tree(&entry.message));
                self.add(
                    DifferenceKind::Missing,
                    Some(index),
                    Place { pointer: String::new(), recorded, seen: None },
                );
            }
        }
        has_given_up
    }

    fn add(&mut self, kind: DifferenceKind, index: Option<usize>, place: Place) {
        let entry = index.map(|index| &self.entries[index]);
        let Place { pointer, recorded, seen } = place;
        let method = entry.map(|entry| entry.method.clone()).unwrap_or_default();
        self.push(Difference {
            kind,
            event: entry.map(|entry| entry.event),
            method,
            pointer,
            recorded,
            seen,
        });
    }

    fn push(&mut self, difference: Difference) {
        if self.differences.len() < DIFFERENCE_LIMIT {
            self.differences.push(difference);
        } else {
            self.more += 1;
        }
    }
}

#[cfg(test)]
mod tests;
