use agentwire_jsonrpc::Notice as NoticeMethod;
use serde::{Deserialize, Serialize};

use super::{
    AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate, ConfigOptionUpdate, ContentBlock,
    CurrentModeUpdate, Notice, Plan, ToolCall, ToolCallUpdate,
};
use crate::common::lenient::lenient;
use crate::common::{MessageId, Meta, Patch, SessionId, builder, tagged_union};

/// `session/update`: what happens in a session, told by the agent as it happens.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionNotification {
    /// The session.
    pub session_id: SessionId,
    /// What happened.
    pub update: SessionUpdate,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    SessionNotification::new(session_id: SessionId, update: SessionUpdate) {
        option meta: Meta,
    }
}

impl SessionNotification {
    /// A piece of the agent's answer: the update `agent_message_chunk`.
    #[must_use]
    pub fn message(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::AgentMessageChunk(ContentChunk::new(content)))
    }

    /// A piece of what the agent thinks: the update `agent_thought_chunk`.
    #[must_use]
    pub fn thought(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::AgentThoughtChunk(ContentChunk::new(content)))
    }

    /// A piece of what the person said, as told in a replay: the update `user_message_chunk`.
    #[must_use]
    pub fn user_message(session_id: impl Into<SessionId>, content: impl Into<ContentBlock>) -> Self {
        Self::new(session_id, SessionUpdate::UserMessageChunk(ContentChunk::new(content)))
    }
}

impl NoticeMethod for SessionNotification {
    const NAME: &'static str = "session/update";
}

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionUpdate {
    /// A piece of what the person said.
    UserMessageChunk(ContentChunk),
    /// A piece of the agent's answer.
    AgentMessageChunk(ContentChunk),
    /// A piece of what the agent thinks.
    AgentThoughtChunk(ContentChunk),
    /// A tool is called.
    ToolCall(Box<ToolCall>),
    /// Something about a tool call changed.
    ToolCallUpdate(Box<ToolCallUpdate>),
    /// The plan, all of it; it replaces the one before.
    Plan(Plan),
    /// The slash commands, all of them.
    AvailableCommandsUpdate(AvailableCommandsUpdate),
    /// The session is in another mode.
    CurrentModeUpdate(CurrentModeUpdate),
    /// The configuration options, all of them.
    ConfigOptionUpdate(ConfigOptionUpdate),
    /// Something about the session itself changed.
    SessionInfoUpdate(Box<SessionInfoUpdate>),
    /// How full the context is, and what the session has cost.
    UsageUpdate(UsageUpdate),
    /// Something to tell the person that is no part of the conversation. Only for clients with the capability
    /// `session.notices`.
    Notice(Notice),
    /// A compaction of the context began or changed. Only for clients with the capability `session.compaction`.
    CompactionUpdate(Box<CompactionUpdate>),
    /// A piece of a compaction's summary. Only for clients with the capability `session.compaction`.
    CompactionSummaryChunk(CompactionSummaryChunk),
    /// An update of a kind that this version does not know: the whole object.
    Unknown(Meta),
}

tagged_union! {
    SessionUpdate by "sessionUpdate" {
        "user_message_chunk" => UserMessageChunk(ContentChunk),
        "agent_message_chunk" => AgentMessageChunk(ContentChunk),
        "agent_thought_chunk" => AgentThoughtChunk(ContentChunk),
        "tool_call" => ToolCall(Box<ToolCall>),
        "tool_call_update" => ToolCallUpdate(Box<ToolCallUpdate>),
        "plan" => Plan(Plan),
        "available_commands_update" => AvailableCommandsUpdate(AvailableCommandsUpdate),
        "current_mode_update" => CurrentModeUpdate(CurrentModeUpdate),
        "config_option_update" => ConfigOptionUpdate(ConfigOptionUpdate),
        "session_info_update" => SessionInfoUpdate(Box<SessionInfoUpdate>),
        "usage_update" => UsageUpdate(UsageUpdate),
        "notice" => Notice(Notice),
        "compaction_update" => CompactionUpdate(Box<CompactionUpdate>),
        "compaction_summary_chunk" => CompactionSummaryChunk(CompactionSummaryChunk),
    }
}

/// Each update whose type says by itself which one it is converts into the union.
macro_rules! from_updates {
    ($($name:ident)+) => {$(
        impl From<$name> for SessionUpdate {
            fn from(update: $name) -> Self {
                Self::$name(update.into())
            }
        }
    )+};
}

from_updates! {
    ToolCall ToolCallUpdate Plan AvailableCommandsUpdate CurrentModeUpdate ConfigOptionUpdate SessionInfoUpdate
    UsageUpdate Notice CompactionUpdate CompactionSummaryChunk
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContentChunk {
    /// The piece.
    pub content: ContentBlock,
    /// The message it belongs to. Another id begins another message.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ContentChunk::new(content: ContentBlock) {
        option message_id: MessageId,
        option meta: Meta,
    }
}

/// The update `session_info_update`: what is kept is left out, what is cleared is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionInfoUpdate {
    /// What to call the session in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Patch::is_keep")]
    pub title: Patch<String>,
    /// When something last happened in it, in ISO 8601.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Patch::is_keep")]
    pub updated_at: Patch<String>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    SessionInfoUpdate::new() {
        patch title: String,
        patch updated_at: String,
        option meta: Meta,
    }
}

/// The update `usage_update`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UsageUpdate {
    /// Tokens in the context now.
    pub used: u64,
    /// Tokens that fit into it.
    pub size: u64,
    /// What the session has cost so far.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

impl UsageUpdate {
    /// So many tokens of so many.
    #[must_use]
    pub fn new(used: u64, size: u64) -> Self {
        Self { used, size, cost: None, meta: None }
    }
}

builder! { UsageUpdate { option cost: Cost, option meta: Meta, } }

/// An amount of money, or of whatever the agent counts in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Cost {
    /// How much, in total.
    pub amount: f64,
    /// Of what: a currency of ISO 4217 such as `EUR`, or another unit such as `credits`.
    pub currency: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

impl Cost {
    /// So much of that currency.
    #[must_use]
    pub fn new(amount: f64, currency: impl Into<String>) -> Self {
        Self { amount, currency: currency.into(), meta: None }
    }
}

builder! { Cost { option meta: Meta, } }
