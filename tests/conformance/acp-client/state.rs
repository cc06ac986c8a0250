//! The client's current knowledge of a session, as JSON.

use agentwire_acp_toolkit::{Conversation, Entry, MessageKind};
use serde_json::{Value, json};

/// Messages, tool calls, compactions, the plan and the settings of a session.
pub(crate) fn of(conversation: &Conversation) -> Value {
    let (mut messages, mut calls, mut compactions, mut notices) = (vec![], vec![], vec![], vec![]);
    for (_, entry) in conversation.entries() {
        match entry {
            Entry::Message(message) => messages.push(json!({
                "role": match message.kind {
                    MessageKind::User => "user",
                    MessageKind::Thought => "thought",
                    _ => "agent",
                },
                "id": message.message_id,
                "text": message.text(),
                "content": message.content,
            })),
            Entry::ToolCall(entry) => calls.push(json!({
                "toolCallId": entry.call.tool_call_id,
                "title": entry.call.title,
                "name": entry.call.name,
                "kind": entry.call.kind,
                "status": entry.call.status,
                "content": entry.call.content,
                "locations": entry.call.locations,
                "cancelled": entry.cancelled,
            })),
            Entry::Compaction(compaction) => compactions.push(json!({
                "compactionId": compaction.compaction_id,
                "status": compaction.status,
                "summary": compaction.summary,
                "error": compaction.error,
            })),
            Entry::Notice(notice) => notices.push(json!(notice)),
            _ => {}
        }
    }
    json!({
        "messages": messages,
        "tool_calls": calls,
        "compactions": compactions,
        "notices": notices,
        "plan": conversation.plan().map(|plan| &plan.entries),
        "commands": conversation.commands(),
        "modes": conversation.modes(),
        "mode": conversation.current_mode(),
        "options": conversation.config_options().collect::<Vec<_>>(),
        "usage": conversation.usage(),
        "title": conversation.title(),
        "updated_at": conversation.updated_at(),
    })
}
