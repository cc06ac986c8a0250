//! Converts updates for a client of version 2. The journal and the rest of the crate have them as types of version 1.

use agentwire_acp_schema::v1::{ContentChunk, SessionInfoUpdate, SessionUpdate, ToolCall, ToolCallUpdate};
use agentwire_acp_schema::v2::{self, Patch};
use serde::de::Error as _;

use super::{content, settings, transcode};

/// The id of the plan. Version 1 has one plan per session and no id for it.
const PLAN: &str = "plan";

/// Returns an update of version 2, or `None` for a change of the mode, for which version 2 has an option.
///
/// # Errors
///
/// When the update has no form in version 2, such as a chunk without the id of its message.
pub(super) fn to_v2(update: SessionUpdate) -> Result<Option<v2::SessionUpdate>, serde_json::Error> {
    let update = match update {
        SessionUpdate::UserMessageChunk(chunk) => v2::SessionUpdate::UserMessageChunk(self::chunk(chunk)?),
        SessionUpdate::AgentMessageChunk(chunk) => v2::SessionUpdate::AgentMessageChunk(self::chunk(chunk)?),
        SessionUpdate::AgentThoughtChunk(chunk) => v2::SessionUpdate::AgentThoughtChunk(self::chunk(chunk)?),
        SessionUpdate::ToolCall(call) => tool_call(*call)?.into(),
        SessionUpdate::ToolCallUpdate(call) => tool_call_update(*call)?.into(),
        SessionUpdate::Plan(plan) => {
            let entries = plan.entries.iter().map(transcode).collect::<Result<Vec<_>, _>>()?;
            let mut update = v2::PlanUpdate::new(v2::PlanItems::new(PLAN, entries));
            update.meta = plan.meta;
            update.into()
        }
        SessionUpdate::AvailableCommandsUpdate(update) => {
            let mut same = v2::AvailableCommandsUpdate::new(settings::commands(update.available_commands));
            same.meta = update.meta;
            same.into()
        }
        SessionUpdate::CurrentModeUpdate(_) => return Ok(None),
        SessionUpdate::ConfigOptionUpdate(update) => {
            let mut same = v2::ConfigOptionUpdate::new(settings::options(update.config_options)?);
            same.meta = update.meta;
            same.into()
        }
        SessionUpdate::SessionInfoUpdate(update) => session_info(*update).into(),
        SessionUpdate::UsageUpdate(usage) => {
            let mut same = v2::UsageUpdate::new(usage.used, usage.size);
            (same.cost, same.meta) = (set(usage.cost), usage.meta);
            same.into()
        }
        SessionUpdate::Notice(notice) => v2::SessionUpdate::Notice(notice),
        // A record of version 2 that version 1 does not have, such as the output of a terminal.
        SessionUpdate::Unknown(object) => object.decode()?,
        other => transcode(&other)?,
    };
    Ok(Some(update))
}

fn chunk(chunk: ContentChunk) -> Result<v2::ContentChunk, serde_json::Error> {
    let id = chunk.message_id.ok_or_else(|| serde_json::Error::missing_field("messageId"))?;
    let mut same = v2::ContentChunk::new(id, content::block(chunk.content)?);
    same.meta = chunk.meta;
    Ok(same)
}

/// Returns the update that begins a tool call. Members that are not set stay as they are in a new call.
fn tool_call(call: ToolCall) -> Result<v2::ToolCallUpdate, serde_json::Error> {
    let mut same = v2::ToolCallUpdate::new(call.tool_call_id);
    same.name = set(call.name);
    same.title = Patch::Set(call.title);
    same.kind = set(call.kind);
    same.status = Patch::Set(transcode(&call.status)?);
    same.content = set(list(content::tool_content(call.content)?));
    same.locations = set(list(content::locations(call.locations)));
    same.raw_input = set(call.raw_input);
    same.raw_output = set(call.raw_output);
    same.meta = set(call.meta);
    Ok(same)
}

pub(super) fn tool_call_update(call: ToolCallUpdate) -> Result<v2::ToolCallUpdate, serde_json::Error> {
    let mut same = v2::ToolCallUpdate::new(call.tool_call_id);
    same.name = set(call.name);
    same.title = set(call.title);
    same.kind = set(call.kind);
    same.status = set(call.status.as_ref().map(transcode).transpose()?);
    same.content = set(call.content.map(content::tool_content).transpose()?);
    same.locations = set(call.locations.map(content::locations));
    same.raw_input = set(call.raw_input);
    same.raw_output = set(call.raw_output);
    same.meta = set(call.meta);
    Ok(same)
}

fn session_info(info: SessionInfoUpdate) -> v2::SessionInfoUpdate {
    let mut same = v2::SessionInfoUpdate::new();
    (same.title, same.updated_at, same.meta) = (info.title, info.updated_at, set(info.meta));
    same
}

/// In version 1 a member that is left out keeps its value.
fn set<T>(value: Option<T>) -> Patch<T> {
    value.map_or(Patch::Keep, Patch::Set)
}

fn list<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
