//! The announced tool calls of a turn, from which permission requests about them are filled.

use std::collections::VecDeque;

use agentwire_acp_schema::v1::{SessionUpdate, ToolCall, ToolCallId, ToolCallUpdate};
use agentwire_jsonrpc::RawJson;
use serde::Serialize;

use crate::update::tool_call::{fill, is_open};

/// The memory limit of the open calls of a turn: 4 MiB.
const BYTES_LIMIT: usize = 4 << 20;

/// The open tool calls of a turn, oldest first, and the bytes of each.
#[derive(Default)]
pub(super) struct AnnouncedCalls {
    calls: VecDeque<(ToolCallUpdate, usize)>,
    bytes: usize,
}

impl AnnouncedCalls {
    /// Fills the members that the subject of a permission request omits, from the announcement of its call.
    pub(super) fn fill(&self, subject: &mut ToolCallUpdate) {
        let mut known = self.calls.iter().map(|(call, _)| call);
        if let Some(call) = known.find(|call| call.tool_call_id == subject.tool_call_id) {
            fill(subject, call);
        }
    }

    pub(super) fn apply(&mut self, change: CallChange) {
        match change {
            CallChange::Announced(call) => {
                self.remove(&call.tool_call_id);
                self.insert(*call);
            }
            CallChange::Changed(mut call) => {
                if let Some(known) = self.remove(&call.tool_call_id) {
                    fill(&mut call, &known);
                }
                self.insert(*call);
            }
            CallChange::Ended(id) => drop(self.remove(&id)),
        }
    }

    fn remove(&mut self, id: &ToolCallId) -> Option<ToolCallUpdate> {
        let index = self.calls.iter().position(|(call, _)| call.tool_call_id == *id)?;
        let (call, bytes) = self.calls.remove(index)?;
        self.bytes -= bytes;
        Some(call)
    }

    /// Keeps a call. Over the limit the oldest calls are dropped. The content of a call that is alone over the limit is
    /// dropped first.
    fn insert(&mut self, mut call: ToolCallUpdate) {
        let mut bytes = length(&call);
        if bytes > BYTES_LIMIT {
            call.content = None;
            bytes = length(&call);
        }
        if bytes > BYTES_LIMIT {
            return;
        }
        while self.bytes + bytes > BYTES_LIMIT
            && let Some((_, oldest)) = self.calls.pop_front()
        {
            self.bytes -= oldest;
        }
        self.bytes += bytes;
        self.calls.push_back((call, bytes));
    }
}

/// The change that an update makes to the open calls.
pub(super) enum CallChange {
    Announced(Box<ToolCallUpdate>),
    Changed(Box<ToolCallUpdate>),
    Ended(ToolCallId),
}

impl CallChange {
    /// Returns `None` if the update is not one of a tool call.
    pub(super) fn of(update: &SessionUpdate) -> Option<Self> {
        match update {
            SessionUpdate::ToolCall(call) if is_open(&call.status) => {
                Some(Self::Announced(Box::new(description(call))))
            }
            SessionUpdate::ToolCall(call) => Some(Self::Ended(call.tool_call_id.clone())),
            SessionUpdate::ToolCallUpdate(call) if call.status.as_ref().is_none_or(is_open) => {
                let mut known = ToolCallUpdate::new(call.tool_call_id.clone());
                fill(&mut known, call);
                Some(Self::Changed(Box::new(known)))
            }
            SessionUpdate::ToolCallUpdate(call) => Some(Self::Ended(call.tool_call_id.clone())),
            _ => None,
        }
    }
}

/// Returns the members that describe a call, without its progress. A permission request shows them.
pub(super) fn description(call: &ToolCall) -> ToolCallUpdate {
    let mut known = ToolCallUpdate::new(call.tool_call_id.clone());
    known.kind.clone_from(&call.kind);
    known.title = Some(call.title.clone()).filter(|title| !title.is_empty());
    known.name.clone_from(&call.name);
    known.locations = Some(call.locations.clone()).filter(|list| !list.is_empty());
    known.raw_input.clone_from(&call.raw_input);
    known.content = Some(call.content.clone()).filter(|list| !list.is_empty());
    known
}

/// Returns about how many bytes a call takes: its own, and those of its text and JSON.
fn length(call: &ToolCallUpdate) -> usize {
    fn json<T: Serialize>(value: &Option<T>) -> usize {
        value.as_ref().map_or(0, |value| RawJson::encode(value).map_or(0, |json| json.len()))
    }
    size_of::<ToolCallUpdate>()
        + call.tool_call_id.len()
        + call.title.as_ref().map_or(0, String::len)
        + call.name.as_ref().map_or(0, String::len)
        + call.raw_input.as_ref().map_or(0, RawJson::len)
        + json(&call.locations)
        + json(&call.content)
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::{Content, ToolCallStatus};
    use serde_json::json;

    use super::*;

    fn known(calls: &AnnouncedCalls, id: &str) -> ToolCallUpdate {
        let mut subject = ToolCallUpdate::new(id);
        calls.fill(&mut subject);
        subject
    }

    fn add(calls: &mut AnnouncedCalls, update: impl Into<SessionUpdate>) {
        calls.apply(CallChange::of(&update.into()).unwrap());
    }

    #[test]
    fn a_call_is_known_until_it_ends() {
        let mut calls = AnnouncedCalls::default();
        add(&mut calls, ToolCall::new("c", "Write").raw_input(json!({ "path": "/a" })));
        add(&mut calls, ToolCallUpdate::new("c").name("write").status(ToolCallStatus::InProgress));
        let subject = known(&calls, "c");
        assert_eq!((subject.title.as_deref(), subject.name.as_deref()), (Some("Write"), Some("write")));
        assert_eq!(subject.raw_input.unwrap().as_str(), r#"{"path":"/a"}"#);
        assert_eq!((subject.status, subject.content), (None, None));
        assert_eq!(known(&calls, "d"), ToolCallUpdate::new("d"));
        add(&mut calls, ToolCallUpdate::new("c").status(ToolCallStatus::Completed));
        assert_eq!(known(&calls, "c"), ToolCallUpdate::new("c"));
        assert_eq!((calls.bytes, calls.calls.len()), (0, 0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut calls = AnnouncedCalls::default();
        let third = "x".repeat(BYTES_LIMIT / 3);
        for id in ["a", "b", "c", "d"] {
            add(&mut calls, ToolCall::new(id, &*third));
            assert!(calls.bytes <= BYTES_LIMIT);
        }
        let is_known = |calls: &AnnouncedCalls, id| known(calls, id).title.is_some();
        assert_eq!(["a", "b", "c", "d"].map(|id| is_known(&calls, id)), [false, false, true, true]);
        // The content of a long call is forgotten, and its input is not.
        let content = [Content::from("x".repeat(BYTES_LIMIT))];
        add(&mut calls, ToolCall::new("e", "Title").raw_input(json!({ "n": 1 })).content(content));
        let subject = known(&calls, "e");
        assert!(subject.content.is_none() && subject.raw_input.is_some());
        add(&mut calls, ToolCall::new("f", "x".repeat(BYTES_LIMIT + 1)));
        assert!(!is_known(&calls, "f") && is_known(&calls, "e"));
    }

    #[test]
    fn many_small_calls_are_bounded_too() {
        let mut calls = AnnouncedCalls::default();
        for id in 0..20_000 {
            add(&mut calls, ToolCallUpdate::new(id.to_string()));
        }
        let memory = calls.calls.len() * size_of::<ToolCallUpdate>();
        assert!(memory <= BYTES_LIMIT, "{memory} bytes of {} calls", calls.calls.len());
        assert!(calls.calls.len() > 1000, "the newest are kept");
    }
}
