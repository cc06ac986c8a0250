//! Converts updates for a client of version 1. Most records are updates of version 1 already.

use agentwire_acp_schema::v1::{SessionUpdate, ToolCallStatus};

use crate::update::call_status::{CANCELLED, PAUSED};

/// Returns an update of version 1, or `None` for an update that version 1 does not have: the output of the agent's own
/// terminals.
pub(crate) fn to_v1(mut update: SessionUpdate) -> Option<SessionUpdate> {
    match &mut update {
        SessionUpdate::ToolCall(call) => replace_status(&mut call.status),
        SessionUpdate::ToolCallUpdate(call) => {
            if let Some(status) = &mut call.status {
                replace_status(status);
            }
        }
        SessionUpdate::Unknown(object) => {
            let kind = object.text("sessionUpdate");
            if matches!(kind.as_deref(), Some("terminal_update" | "terminal_output_chunk")) {
                return None;
            }
        }
        _ => {}
    }
    Some(update)
}

/// Replaces a status that only version 2 has.
fn replace_status(status: &mut ToolCallStatus) {
    if let ToolCallStatus::Other(word) = status {
        match word.as_str() {
            CANCELLED => *status = ToolCallStatus::Failed,
            PAUSED => *status = ToolCallStatus::InProgress,
            _ => {}
        }
    }
}
