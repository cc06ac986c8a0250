//! The messages of a recording, each with its progress in a replay.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use agentwire_jsonrpc::RawJson;

use crate::event::{Event, EventKind, Line};
use crate::message::{MessageKind, messages};
use crate::reader::Recording;

/// A message of the recording.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The number of its event, from 1.
    pub(super) event: usize,
    pub(super) at: Option<Duration>,
    pub(super) is_played: bool,
    pub(super) exchange: Option<u64>,
    pub(super) message: RawJson,
    /// The recorded line of the played side, if it is not a message.
    pub(super) line: Option<String>,
    pub(super) kind: MessageKind,
    /// The method, also of a response.
    pub(super) method: String,
    pub(super) progress: Progress,
}

/// The progress of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It has to be sent, or is awaited.
    Pending,
    /// It was sent or has arrived. `live_id` is the id of a live side's request.
    Done { live_id: Option<String> },
    /// It did not arrive, or answers a request that did not arrive.
    Skipped,
}

/// The messages of a recording, in order.
pub(super) fn entries(recording: &Recording, plays_client: bool) -> Vec<Entry> {
    let mut entries = Vec::new();
    // Each side chooses the ids of its requests.
    let mut methods: HashMap<(bool, String), String> = HashMap::new();
    let refused = refused_exchanges(recording);
    for (index, event) in recording.events.iter().enumerate() {
        if event.exchange.is_some_and(|exchange| refused.contains(&exchange)) {
            continue;
        }
        let is_played = event.from.is_client() == plays_client;
        let frame = match &event.kind {
            EventKind::Message(frame) => frame,
            // Over HTTP, text belongs to the transport: the event `endpoint`, or the body of a refusal.
            EventKind::Text(line) if is_played && event.exchange.is_none() && line.is_whole() => {
                entries.push(Entry::of_line(index + 1, event, line));
                continue;
            }
            _ => continue,
        };
        for message in messages(frame) {
            let kind = MessageKind::of(&message);
            let method = match &kind {
                MessageKind::Request { id, method } => {
                    methods.insert((is_played, id.clone()), method.clone());
                    method.clone()
                }
                MessageKind::Notification { method } => method.clone(),
                MessageKind::Response { id } => {
                    methods.get(&(!is_played, id.clone())).cloned().unwrap_or_default()
                }
            };
            entries.push(Entry {
                event: index + 1,
                at: event.at,
                is_played,
                exchange: event.exchange,
                message,
                line: None,
                kind,
                method,
                progress: Progress::Pending,
            });
        }
    }
    entries
}

/// The exchanges that were refused with an HTTP status and no response: a client's attempts to find the transport. A live
/// transport makes its own attempts.
fn refused_exchanges(recording: &Recording) -> HashSet<u64> {
    let mut refused = HashSet::new();
    for event in &recording.events {
        let Some(exchange) = event.exchange else { continue };
        match &event.kind {
            EventKind::Http(head) if head.status.is_some_and(|status| status >= 400) => {
                refused.insert(exchange);
            }
            EventKind::Message(frame) if !event.from.is_client() && answers(frame) => {
                refused.remove(&exchange);
            }
            _ => {}
        }
    }
    refused
}

/// Whether one of the messages has an id.
fn answers(frame: &RawJson) -> bool {
    messages(frame).iter().any(|message| message.member("id").is_some_and(|id| !id.is_null()))
}

impl Entry {
    /// A line of the played side that is not a message.
    fn of_line(number: usize, event: &Event, line: &Line) -> Self {
        Self {
            event: number,
            at: event.at,
            is_played: true,
            exchange: None,
            message: RawJson::parse("null".into()).expect("`null` is JSON"),
            line: Some(String::from_utf8_lossy(&line.bytes).into_owned()),
            kind: MessageKind::Notification { method: String::new() },
            method: String::new(),
            progress: Progress::Pending,
        }
    }

    pub(super) fn is_pending(&self) -> bool {
        self.progress == Progress::Pending
    }

    /// Whether the live side's message is of the same kind and method.
    pub(super) fn is_of_kind(&self, kind: &MessageKind) -> bool {
        match (&self.kind, kind) {
            (MessageKind::Request { method, .. }, MessageKind::Request { method: other, .. })
            | (MessageKind::Notification { method }, MessageKind::Notification { method: other }) => {
                method == other
            }
            (MessageKind::Response { id }, MessageKind::Response { id: other }) => id == other,
            _ => false,
        }
    }

    pub(super) fn is_response(&self) -> bool {
        matches!(self.kind, MessageKind::Response { .. })
    }
}
