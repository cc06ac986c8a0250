//! Renders content as text for a model.

use agentwire_acp_schema::v1::{ContentBlock, EmbeddedResourceResource, ToolCallContent, ToolCallStatus};
use agentwire_jsonrpc::RawJson;

use crate::update::call_status::CANCELLED;
use crate::update::tool_call::is_open;

pub(super) fn blocks(blocks: &[ContentBlock]) -> String {
    let mut text = String::new();
    for block in blocks {
        push_block(&mut text, block);
    }
    text
}

/// Appends a block. One that is not text begins on a new line.
pub(super) fn push_block(text: &mut String, block: &ContentBlock) {
    let other = match block {
        ContentBlock::Text(block) => return text.push_str(&block.text),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::Text(resource) => format!("[{}]\n{}", resource.uri, resource.text),
            EmbeddedResourceResource::Blob(resource) => format!("[{}: binary]", resource.uri),
            _ => "[a resource]".to_owned(),
        },
        ContentBlock::Image(image) => format!("[{}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[{}]", audio.mime_type),
        _ => "[content of an unknown type]".to_owned(),
    };
    push_lines(text, &other);
}

/// Returns the result of a tool call as one text.
pub(super) fn result(
    status: &ToolCallStatus,
    content: &[ToolCallContent],
    raw_output: Option<&RawJson>,
) -> String {
    let mut text = String::new();
    for content in content {
        match content {
            ToolCallContent::Content(content) => match &content.content {
                ContentBlock::Text(block) => push_lines(&mut text, &block.text),
                block => push_block(&mut text, block),
            },
            ToolCallContent::Diff(diff) => {
                push_lines(&mut text, &format!("[{}]\n{}", diff.path.display(), diff.new_text));
            }
            ToolCallContent::Terminal(terminal) => {
                push_lines(&mut text, &format!("[terminal {}]", terminal.terminal_id));
            }
            _ => push_lines(&mut text, "[content of an unknown type]"),
        }
    }
    match (status, raw_output) {
        (status, _) if is_open(status) => push_lines(&mut text, "[the call has not ended: no result]"),
        (_, Some(raw)) if text.is_empty() => text.push_str(raw.as_str()),
        (ToolCallStatus::Failed, None) if text.is_empty() => text.push_str("failed"),
        (ToolCallStatus::Other(word), None) if text.is_empty() && word == CANCELLED => {
            text.push_str(CANCELLED)
        }
        _ => {}
    }
    text
}

/// Appends a text that begins on a line of its own.
fn push_lines(text: &mut String, more: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
}
