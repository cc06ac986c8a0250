//! The text of a message, taken out of an update so that it is shown and not kept, and the parts of updates that are not shown.

use agentwire_acp_schema::v1::{
    Content, ContentBlock, ContentChunk, MessageId, SessionUpdate, ToolCallContent, ToolCallUpdate,
};
use agentwire_acp_schema::v2;
use agentwire_acp_toolkit::{MessageKind, last_bytes};

use crate::chat::draw::content_text;
use crate::output::text::beginning;

/// How many bytes of a tool's text are kept, the last of them: 128 KiB.
const TOOL_TEXT_LIMIT: usize = 128 << 10;

/// From this length in bytes on, a user message of the agent is not compared with the prompt, and is shown: 1 MiB.
const LONG_ECHO: usize = 1 << 20;

/// How many bytes of a tool call's title are kept: 4 KiB, which is more than is shown of it.
const TITLE_LIMIT: usize = 4 << 10;

/// A piece of a message, or all of it.
pub(in crate::chat) struct MessageText {
    pub(in crate::chat) kind: MessageKind,
    pub(in crate::chat) id: Option<MessageId>,
    pub(in crate::chat) text: String,
    /// Whether it is all of the message, and not more of it.
    pub(in crate::chat) is_whole: bool,
    /// Whether the agent may send all of the message later.
    pub(in crate::chat) may_be_whole: bool,
}

/// Takes the text out of an update of version 1 that extends a message.
pub(in crate::chat) fn take(update: &mut SessionUpdate) -> Option<MessageText> {
    let (kind, chunk) = match update {
        SessionUpdate::AgentMessageChunk(chunk) => (MessageKind::Agent, chunk),
        SessionUpdate::AgentThoughtChunk(chunk) => (MessageKind::Thought, chunk),
        // The conversation compares shorter ones with the prompt.
        SessionUpdate::UserMessageChunk(chunk)
            if chunk.content.as_text().is_some_and(|text| text.len() >= LONG_ECHO) =>
        {
            (MessageKind::User, chunk)
        }
        _ => return None,
    };
    let text = take_block(chunk);
    Some(MessageText { kind, id: chunk.message_id.clone(), text, is_whole: false, may_be_whole: false })
}

fn take_block(chunk: &mut ContentChunk) -> String {
    match &mut chunk.content {
        ContentBlock::Text(text) => std::mem::take(&mut text.text),
        other => {
            let text = content_text(other).into_owned();
            *other = ContentBlock::from("");
            text
        }
    }
}

/// Takes the text out of an update of version 2 that extends or sets a message.
pub(in crate::chat) fn take_v2(update: &mut v2::SessionUpdate) -> Option<MessageText> {
    use v2::SessionUpdate as Newer;
    let chunk = match update {
        Newer::UserMessageChunk(chunk) => Some((MessageKind::User, chunk)),
        Newer::AgentMessageChunk(chunk) => Some((MessageKind::Agent, chunk)),
        Newer::AgentThoughtChunk(chunk) => Some((MessageKind::Thought, chunk)),
        _ => None,
    };
    if let Some((kind, chunk)) = chunk {
        let text = take_block_v2(&mut chunk.content);
        let id = Some(chunk.message_id.clone());
        return Some(MessageText { kind, id, text, is_whole: false, may_be_whole: true });
    }
    let (kind, id, content) = match update {
        Newer::UserMessage(message) => (MessageKind::User, &message.message_id, &mut message.content),
        Newer::AgentMessage(message) => (MessageKind::Agent, &message.message_id, &mut message.content),
        Newer::AgentThought(message) => (MessageKind::Thought, &message.message_id, &mut message.content),
        _ => return None,
    };
    let v2::Patch::Set(blocks) = content else { return None };
    let text = std::mem::take(blocks).iter_mut().map(take_block_v2).collect();
    Some(MessageText { kind, id: Some(id.clone()), text, is_whole: true, may_be_whole: true })
}

fn take_block_v2(block: &mut v2::ContentBlock) -> String {
    match block {
        v2::ContentBlock::Text(text) => std::mem::take(&mut text.text),
        other => {
            let text = match &*other {
                v2::ContentBlock::ResourceLink(link) => {
                    let same = agentwire_acp_schema::v1::ResourceLink::new(&*link.name, &*link.uri);
                    content_text(&same.into()).into_owned()
                }
                v2::ContentBlock::Image(_) => "[an image]".to_owned(),
                v2::ContentBlock::Audio(_) => "[a sound]".to_owned(),
                _ => "[content that cannot be shown here]".to_owned(),
            };
            *other = v2::ContentBlock::from("");
            text
        }
    }
}

/// Removes the parts of a tool call that are never shown: raw input, raw output and locations. Long texts are cut.
pub(in crate::chat) fn remove_hidden_parts(update: &mut SessionUpdate) {
    let contents = match update {
        SessionUpdate::ToolCall(call) => {
            (call.raw_input, call.raw_output) = (None, None);
            call.locations.clear();
            keep_beginning(&mut call.title);
            Some(&mut call.content)
        }
        SessionUpdate::ToolCallUpdate(call) => {
            (call.raw_input, call.raw_output, call.locations) = (None, None, None);
            call.title.iter_mut().for_each(keep_beginning);
            call.content.as_mut()
        }
        _ => None,
    };
    for content in contents.into_iter().flatten() {
        if let ToolCallContent::Content(content) = content
            && let ContentBlock::Text(text) = &mut content.content
        {
            keep_end(&mut text.text);
        }
    }
}

/// The same for version 2.
pub(in crate::chat) fn remove_hidden_parts_v2(update: &mut v2::SessionUpdate) {
    let keep = |content: &mut v2::ToolCallContent| {
        if let v2::ToolCallContent::Content(content) = content
            && let v2::ContentBlock::Text(text) = &mut content.content
        {
            keep_end(&mut text.text);
        }
    };
    match update {
        v2::SessionUpdate::ToolCallUpdate(call) => {
            (call.raw_input, call.raw_output) = (v2::Patch::Keep, v2::Patch::Keep);
            (call.locations, call.meta) = (v2::Patch::Keep, v2::Patch::Keep);
            if let v2::Patch::Set(title) = &mut call.title {
                keep_beginning(title);
            }
            if let v2::Patch::Set(contents) = &mut call.content {
                contents.iter_mut().for_each(keep);
            }
        }
        v2::SessionUpdate::ToolCallContentChunk(chunk) => keep(&mut chunk.content),
        _ => {}
    }
}

/// Keeps the beginning of a title. A longer one would not be kept at all.
fn keep_beginning(title: &mut String) {
    if title.len() > TITLE_LIMIT {
        *title = beginning(&*title, TITLE_LIMIT);
    }
}

/// Keeps the end of a tool's text, behind a line that counts what is left out.
fn keep_end(text: &mut String) {
    if text.len() <= TOOL_TEXT_LIMIT {
        return;
    }
    let end = last_bytes(text, TOOL_TEXT_LIMIT);
    *text = format!("[{} bytes before this are left out]\n{end}", text.len() - end.len());
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
        let SessionUpdate::ToolCall(call) = update else { panic!("it is a call") };
        assert_eq!(call.title, format!("{}… [2093056 bytes more]", "ä".repeat(2048)));
        let mut update = ToolCallUpdate::new("1").title(long).into();
        remove_hidden_parts(&mut update);
        let SessionUpdate::ToolCallUpdate(update) = update else { panic!("it is an update") };
        assert_eq!(update.title, Some(call.title));
    }
}
