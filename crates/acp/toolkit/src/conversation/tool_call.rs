//! A tool call of a conversation, and the patches that change it.

use agentwire_acp_schema::v1::{
    Meta, Patch, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolKind,
};
use agentwire_jsonrpc::RawJson;

use super::change::ChangedFields;
use super::limits::{ConversationLimits, ENTRY, first_difference, replace, replace_list};
use super::patch::{merge_meta, set_or_default};
use super::weight::weight;

/// A tool call with every update applied.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCallEntry {
    /// The call. The title is empty, and the kind is `None`, until the agent sends them.
    pub call: ToolCall,
    /// Whether the call or its turn was cancelled before the call had ended. The agent may still report the end.
    pub cancelled: bool,
    /// How many bytes of memory of its updates were left out, because they were too large.
    pub omitted: usize,
    /// The weights of its members, in the order of [`Self::patch`].
    weights: [usize; 9],
}

/// The index of the content in `ToolCallEntry::weights`.
const CONTENT: usize = 0;

/// The changes of a tool call: the `tool_call_update` of either version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCallPatch {
    /// The call.
    pub tool_call_id: ToolCallId,
    /// The kind of the tool.
    pub kind: Patch<ToolKind>,
    /// The status of the call.
    pub status: Patch<ToolCallStatus>,
    /// Whether the call was cancelled: a status of version 2 that version 1 does not have.
    pub cancelled: bool,
    /// The title, for users.
    pub title: Patch<String>,
    /// The tool's name, for programs.
    pub name: Patch<String>,
    /// All content of the call.
    pub content: Patch<Vec<ToolCallContent>>,
    /// All locations of the call.
    pub locations: Patch<Vec<ToolCallLocation>>,
    /// The input of the tool.
    pub raw_input: Patch<RawJson>,
    /// The output of the tool.
    pub raw_output: Patch<RawJson>,
    /// The `_meta`.
    pub meta: Patch<Meta>,
    /// Whether `meta` is merged key by key, as in version 2, or replaces the earlier one, as in version 1.
    pub merges_meta: bool,
}

impl ToolCallPatch {
    /// Makes a patch that changes nothing in this call.
    pub fn new(tool_call_id: impl Into<ToolCallId>) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            kind: Patch::Keep,
            status: Patch::Keep,
            cancelled: false,
            title: Patch::Keep,
            name: Patch::Keep,
            content: Patch::Keep,
            locations: Patch::Keep,
            raw_input: Patch::Keep,
            raw_output: Patch::Keep,
            meta: Patch::Keep,
            merges_meta: false,
        }
    }

    /// Estimates the memory of the patch, in bytes.
    pub(super) fn weight(&self) -> usize {
        let texts =
            weight(&self.tool_call_id) + weight(&self.title) + weight(&self.name) + weight(&self.meta);
        let lists = weight(&self.content) + weight(&self.locations);
        texts + lists + weight(&self.raw_input) + weight(&self.raw_output)
    }
}

impl From<ToolCallUpdate> for ToolCallPatch {
    fn from(update: ToolCallUpdate) -> Self {
        fn patch<T>(value: Option<T>) -> Patch<T> {
            value.map_or(Patch::Keep, Patch::Set)
        }
        Self {
            kind: patch(update.kind),
            status: patch(update.status),
            title: patch(update.title),
            name: patch(update.name),
            content: patch(update.content),
            locations: patch(update.locations),
            raw_input: patch(update.raw_input),
            raw_output: patch(update.raw_output),
            meta: patch(update.meta),
            ..Self::new(update.tool_call_id)
        }
    }
}

impl From<ToolCall> for ToolCallPatch {
    fn from(call: ToolCall) -> Self {
        fn patch<T>(value: Option<T>) -> Patch<T> {
            value.map_or(Patch::Keep, Patch::Set)
        }
        Self {
            kind: patch(call.kind),
            status: call.status.into(),
            title: call.title.into(),
            name: patch(call.name),
            content: call.content.into(),
            locations: call.locations.into(),
            raw_input: patch(call.raw_input),
            raw_output: patch(call.raw_output),
            meta: patch(call.meta),
            ..Self::new(call.tool_call_id)
        }
    }
}

impl ToolCallEntry {
    pub(super) fn new(id: ToolCallId) -> Self {
        Self { call: ToolCall::new(id, ""), cancelled: false, omitted: 0, weights: [0; 9] }
    }

    /// Returns whether the call has ended, by itself or with its turn.
    pub fn has_ended(&self) -> bool {
        self.cancelled || matches!(self.call.status, ToolCallStatus::Completed | ToolCallStatus::Failed)
    }

    pub(super) fn weight(&self) -> usize {
        ENTRY + self.call.tool_call_id.len() + self.weights.iter().sum::<usize>()
    }

    /// Applies a patch. Returns the changed fields, and how many bytes are left out.
    pub(super) fn patch(
        &mut self,
        patch: ToolCallPatch,
        limits: ConversationLimits,
    ) -> (ChangedFields, usize) {
        let ended = matches!(patch.status, Patch::Set(ToolCallStatus::Completed | ToolCallStatus::Failed));
        let call = &mut self.call;
        let [content, meta, kind, status, title, name, locations, raw_input, raw_output] = &mut self.weights;
        let mut fields = ChangedFields::default();
        let mut omitted = 0;
        if let Some(new) = set_or_default(patch.content) {
            omitted += replace_list(&mut call.content, new, content, limits.content, &mut fields.content);
        }
        if patch.merges_meta {
            omitted += merge_meta(&mut call.meta, patch.meta, meta, limits, &mut fields.meta);
        } else if let Patch::Set(new) = patch.meta {
            omitted += replace(&mut call.meta, Some(new), meta, limits.field, &mut fields.meta);
        }
        macro_rules! take {
            ($($member:ident, $limit:ident;)+) => {$(
                if let Some(new) = set_or_default(patch.$member) {
                    omitted += replace(&mut call.$member, new, $member, limits.$limit, &mut fields.$member);
                }
            )+};
        }
        macro_rules! take_optional {
            ($($member:ident, $limit:ident;)+) => {$(
                if !patch.$member.is_keep() {
                    let mut new = None;
                    patch.$member.apply(&mut new);
                    omitted += replace(&mut call.$member, new, $member, limits.$limit, &mut fields.$member);
                }
            )+};
        }
        take! { status, field; title, field; locations, field; }
        take_optional! { kind, field; name, field; raw_input, raw; raw_output, raw; }
        let cancelled = (self.cancelled || patch.cancelled) && !ended;
        fields.cancelled = self.cancelled != cancelled;
        fields.omitted = omitted > 0;
        self.cancelled = cancelled;
        self.omitted = self.omitted.saturating_add(omitted);
        (fields, omitted)
    }

    /// Appends content. Returns the changed fields, and how many bytes are left out.
    pub(super) fn push(
        &mut self,
        content: ToolCallContent,
        limits: ConversationLimits,
    ) -> (ChangedFields, usize) {
        let new = weight(&content);
        let held = self.weights[CONTENT].saturating_add(new);
        if held > limits.content {
            self.omitted = self.omitted.saturating_add(new);
            return (ChangedFields { omitted: true, ..ChangedFields::default() }, new);
        }
        self.weights[CONTENT] = held;
        self.call.content.push(content);
        let last = self.call.content.len() - 1;
        (ChangedFields { content: Some(last), ..ChangedFields::default() }, 0)
    }

    /// Returns the fields that differ from an earlier state.
    pub(super) fn differences(&self, before: &Self) -> ChangedFields {
        let (now, old) = (&self.call, &before.call);
        ChangedFields {
            content: first_difference(&old.content, &now.content),
            status: old.status != now.status,
            title: old.title != now.title,
            kind: old.kind != now.kind,
            name: old.name != now.name,
            locations: old.locations != now.locations,
            raw_input: old.raw_input != now.raw_input,
            raw_output: old.raw_output != now.raw_output,
            cancelled: before.cancelled != self.cancelled,
            meta: old.meta != now.meta,
            omitted: before.omitted != self.omitted,
            ..ChangedFields::default()
        }
    }
}
