//! Takes out of updates the text of messages, which is shown and not kept, and the parts that are not shown.

use agentwire_acp_schema::v1::{
    Content, ContentBlock, MessageId, Patch, SessionUpdate, TextContent, ToolCallContent, ToolCallUpdate,
};
use agentwire_acp_toolkit::{MessageKind, Update, last_bytes};

use crate::chat::draw::content_text;
use crate::output::text::beginning;

/// The most bytes of a tool's text that are kept, from its end: 128 KiB.
const TOOL_TEXT_LIMIT: usize = 128 << 10;

/// The length in bytes from which a user message of the agent is shown without comparing it with the prompt: 1 MiB.
const LONG_ECHO: usize = 1 << 20;

/// The most bytes of a tool call's title that are kept: 4 KiB, which is more than is shown.
const TITLE_LIMIT: usize = 4 << 10;

/// A piece of a message, or all of it.
pub(in crate::chat) struct MessageText {
    pub(in crate::chat) kind: MessageKind,
    pub(in crate::chat) id: Option<MessageId>,
    pub(in crate::chat) text: String,
    /// Whether it is the whole message, and not a continuation.
    pub(in crate::chat) is_whole: bool,
    /// Whether the agent may send the whole message later.
    pub(in crate::chat) may_be_whole: bool,
}

/// Whether an update is a message of the user.
pub(in crate::chat) fn is_of_user(update: &Update) -> bool {
    matches!(
        update,
        Update::Common(SessionUpdate::UserMessageChunk(_)) | Update::Message { kind: MessageKind::User, .. }
    )
}

/// Takes the text out of an update that extends or sets a message. `may_be_whole`: the agent may send the whole message later.
pub(in crate::chat) fn take(update: &mut Update, may_be_whole: bool) -> Option<MessageText> {
    let (kind, chunk) = match update {
        Update::Common(SessionUpdate::AgentMessageChunk(chunk)) => (MessageKind::Agent, chunk),
        Update::Common(SessionUpdate::AgentThoughtChunk(chunk)) => (MessageKind::Thought, chunk),
        // The conversation compares shorter ones of version 1 with the prompt.
        Update::Common(SessionUpdate::UserMessageChunk(chunk))
            if may_be_whole || chunk.content.as_text().is_some_and(|text| text.len() >= LONG_ECHO) =>
        {
            (MessageKind::User, chunk)
        }
        Update::Message { kind, message_id, content: Patch::Set(blocks), .. } => {
            let text = std::mem::take(blocks).iter_mut().map(take_block).collect();
            return Some(MessageText {
                kind: *kind,
                id: Some(message_id.clone()),
                text,
                is_whole: true,
                may_be_whole,
            });
        }
        _ => return None,
    };
    let text = take_block(&mut chunk.content);
    Some(MessageText { kind, id: chunk.message_id.clone(), text, is_whole: false, may_be_whole })
}

fn take_block(block: &mut ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => std::mem::take(&mut text.text),
        other => {
            let text = content_text(other).into_owned();
            *other = ContentBlock::from("");
            text
        }
    }
}

/// Removes the parts of a tool call that are never shown: raw input, raw output and locations. Long texts are cut.
pub(in crate::chat) fn remove_hidden_parts(update: &mut Update) {
    match update {
        Update::Common(SessionUpdate::ToolCall(call)) => {
            (call.raw_input, call.raw_output) = (None, None);
            call.locations.clear();
            keep_beginning(&mut call.title);
            call.content.iter_mut().for_each(keep_end);
        }
        Update::Common(SessionUpdate::ToolCallUpdate(call)) => {
            (call.raw_input, call.raw_output, call.locations) = (None, None, None);
            call.title.iter_mut().for_each(keep_beginning);
            call.content.iter_mut().flatten().for_each(keep_end);
        }
        Update::ToolCall(call) => {
            (call.raw_input, call.raw_output) = (Patch::Keep, Patch::Keep);
            (call.locations, call.meta) = (Patch::Keep, Patch::Keep);
            if let Patch::Set(title) = &mut call.title {
                keep_beginning(title);
            }
            if let Patch::Set(contents) = &mut call.content {
                contents.iter_mut().for_each(keep_end);
            }
        }
        Update::ToolCallContent { content, .. } => keep_end(content),
        _ => {}
    }
}

/// Keeps the beginning of a title. A longer one would not be kept at all.
fn keep_beginning(title: &mut String) {
    if title.len() > TITLE_LIMIT {
        *title = beginning(&*title, TITLE_LIMIT);
    }
}

/// Keeps the end of a tool's text, after a line that counts the bytes left out.
fn keep_end(content: &mut ToolCallContent) {
    if let ToolCallContent::Content(content) = content
        && let ContentBlock::Text(TextContent { text, .. }) = &mut content.content
        && text.len() > TOOL_TEXT_LIMIT
    {
        let end = last_bytes(text, TOOL_TEXT_LIMIT);
        *text = format!("[{} bytes before this are left out]\n{end}", text.len() - end.len());
    }
}

/// A copy of a tool call with only its shown parts. All of it may be as long as a message.
pub(in crate::chat) fn shown_parts(call: &ToolCallUpdate) -> ToolCallUpdate {
    let content = |content: &ToolCallContent| match content {
        ToolCallContent::Content(part) => match part.content.as_text() {
            Some(text) => Content::from(beginning(text, TOOL_TEXT_LIMIT)).into(),
            None => content.clone(),
        },
        other => other.clone(),
    };
    let mut shown = ToolCallUpdate::new(call.tool_call_id.clone());
    (shown.kind, shown.status) = (call.kind.clone(), call.status.clone());
    shown.title = call.title.as_ref().map(|title| beginning(title, TOOL_TEXT_LIMIT));
    shown.name = call.name.as_ref().map(|name| beginning(name, TOOL_TEXT_LIMIT));
    shown.content = call.content.as_ref().map(|contents| contents.iter().map(content).collect());
    shown
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::ToolCall;

    use super::*;

    #[test]
    fn the_beginning_of_a_title_is_kept() {
        let long = "ä".repeat(1 << 20);
        let mut update = ToolCall::new("1", &*long).into();
        remove_hidden_parts(&mut update);
        let Update::Common(SessionUpdate::ToolCall(call)) = update else { panic!("it is a call") };
        assert_eq!(call.title, format!("{}… [2093056 bytes more]", "ä".repeat(2048)));
        let mut update = ToolCallUpdate::new("1").title(long).into();
        remove_hidden_parts(&mut update);
        let Update::Common(SessionUpdate::ToolCallUpdate(update)) = update else { panic!("it is an update") };
        assert_eq!(update.title, Some(call.title));
    }
}
