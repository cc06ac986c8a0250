//! Applies updates to tool calls.

use agentwire_acp_schema::v1::{ToolCall, ToolCallStatus, ToolCallUpdate};

use crate::update::call_status::PAUSED;

/// Applies an update of a tool call: a member that is missing keeps its value.
pub(crate) fn apply(call: &mut ToolCall, update: ToolCallUpdate) {
    set(&mut call.title, update.title);
    set(&mut call.status, update.status);
    set(&mut call.content, update.content);
    set(&mut call.locations, update.locations);
    call.kind = update.kind.or(call.kind.take());
    call.name = update.name.or(call.name.take());
    call.raw_input = update.raw_input.or(call.raw_input.take());
    call.raw_output = update.raw_output.or(call.raw_output.take());
    call.meta = update.meta.or(call.meta.take());
}

/// Returns whether a call with this status has neither succeeded nor failed.
pub(crate) fn is_open(status: &ToolCallStatus) -> bool {
    match status {
        ToolCallStatus::Pending | ToolCallStatus::InProgress => true,
        ToolCallStatus::Other(word) => word == PAUSED,
        _ => false,
    }
}

fn set<T>(member: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *member = value;
    }
}

/// Fills those omitted members of an update that describe the call, not its progress.
pub(crate) fn fill(update: &mut ToolCallUpdate, known: &ToolCallUpdate) {
    fill_member(&mut update.title, &known.title);
    fill_member(&mut update.name, &known.name);
    fill_member(&mut update.kind, &known.kind);
    fill_member(&mut update.locations, &known.locations);
    fill_member(&mut update.raw_input, &known.raw_input);
    fill_member(&mut update.content, &known.content);
}

fn fill_member<T: Clone>(member: &mut Option<T>, known: &Option<T>) {
    if member.is_none() {
        member.clone_from(known);
    }
}
