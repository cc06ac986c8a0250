//! Writes a change of the store as a line of the journal, and reads it back.

use agentwire_jsonrpc::RequestId;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Event, EventId, NodeId, SessionId, SessionRecord, StreamRun};

/// The first line of a journal: the version of its format.
pub(super) const FORM: &[u8] = b"agentwire-store 1";

/// The start of an event's line. The data of the event follows unchanged, and is not read as JSON.
const EVENT: &str = "event ";

/// A change of the store. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    /// A session, before its first event.
    Open { session: SessionId, owner: Option<String> },
    /// The start of a stream.
    Begin { session: SessionId, stream: u64, node: NodeId, requests: Vec<RequestId> },
    #[serde(skip)]
    Event { session: SessionId, event: Event, is_last: bool },
    /// The end of a stream.
    End { session: SessionId, stream: u64 },
    /// The end of a stream that was taken over.
    TakeOver { session: SessionId, stream: u64 },
    /// The events of a session were forgotten.
    Forget { session: SessionId },
    /// A record that was added or replaced.
    Record { session: SessionId, record: SessionRecord, expires: u64, next_stream: u64 },
    /// The time to live of a record was restarted.
    Touch { session: SessionId, expires: u64 },
    /// A record was deleted.
    Delete { session: SessionId },
    /// Numbers for streams were taken; the next one is given.
    Streams { session: SessionId, next: u64 },
    /// A name was used.
    Name {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        expires: u64,
    },
    /// A name that may be used again.
    NameRemoved { name: String },
    /// Changes nothing: a write that checks whether the disk works.
    Check,
}

impl Change {
    pub(super) fn begin(session: SessionId, stream: u64, runs: StreamRun) -> Self {
        let StreamRun { node, requests } = runs;
        Self::Begin { session, stream, node, requests }
    }

    /// About how many bytes the line has.
    pub(super) fn size(&self) -> usize {
        let more = match self {
            Self::Event { event, .. } => event.data.len(),
            Self::Record { record, .. } => record.messages.iter().map(|message| message.len()).sum(),
            Self::Begin { requests, .. } => requests.len() * 64,
            Self::Name { name, owner, .. } => name.len() + owner.as_ref().map_or(0, String::len),
            Self::NameRemoved { name } => name.len(),
            _ => 0,
        };
        size_of::<Self>() + more
    }

    /// Replaces `out` by the line.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        if let Self::Event { session, event, is_last } = self {
            let end = if *is_last { "last" } else { "more" };
            out.extend_from_slice(format!("{EVENT}{session} {} {end} ", event.id).as_bytes());
            out.extend_from_slice(&event.data);
        } else {
            serde_json::to_writer(out, self).expect("a change has a form in JSON");
        }
    }

    /// Reads a line.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        match text.strip_prefix(EVENT.as_bytes()) {
            Some(event) => {
                read_event(event).ok_or_else(|| "a line that begins as an event and is malformed".to_owned())
            }
            // read: this store has written it.
            None => serde_json::from_slice(text).map_err(|error| error.to_string()),
        }
    }
}

fn read_event(text: &[u8]) -> Option<Change> {
    let mut parts = text.splitn(4, |byte| *byte == b' ');
    let session = SessionId::parse(parts.next()?)?;
    let id = EventId::parse(std::str::from_utf8(parts.next()?).ok()?)?;
    let is_last = match parts.next()? {
        b"last" => true,
        b"more" => false,
        _ => return None,
    };
    let event = Event::new(id, Bytes::copy_from_slice(parts.next()?));
    Some(Change::Event { session, event, is_last })
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::RawJson;

    use super::*;

    #[test]
    fn each_change_is_read_back() {
        let session = SessionId::random().unwrap();
        let runs = StreamRun::new(NodeId::new(9), vec![1_u64.into(), "a".into()]);
        let record = SessionRecord::new(Some([7; 32]), vec![RawJson::NULL, RawJson::EMPTY_OBJECT]);
        let event = |data: &'static str, is_last| {
            let event = Event::new(EventId::new(3, 4), Bytes::from_static(data.as_bytes()));
            Change::Event { session, event, is_last }
        };
        let changes = [
            Change::Open { session, owner: Some("a \"name\"\n".into()) },
            Change::begin(session, 3, runs),
            event("{\"a\": 1 }", false),
            event("", true),
            Change::End { session, stream: 3 },
            Change::TakeOver { session, stream: u64::MAX },
            Change::Forget { session },
            Change::Record { session, record, expires: 2, next_stream: 3 },
            Change::Touch { session, expires: 5 },
            Change::Delete { session },
            Change::Streams { session, next: 65 },
            Change::Name { name: "state/1".into(), owner: None, expires: 7 },
            Change::Name { name: "state/1".into(), owner: Some("ada".into()), expires: 7 },
            Change::NameRemoved { name: "state/1".into() },
            Change::Check,
        ];
        let mut text = Vec::new();
        for change in changes {
            change.write(&mut text);
            assert_eq!(Change::read(&text), Ok(change));
        }
        assert!(Change::read(b"event x").is_err());
        assert!(Change::read(b"{\"later\":1}").is_err());
    }
}
