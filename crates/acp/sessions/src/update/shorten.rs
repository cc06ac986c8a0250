//! Shortens updates that are over the limit.

use agentwire_acp_schema::v1::{
    Content, ContentBlock, ContentChunk, SessionUpdate, ToolCall, ToolCallContent, ToolCallUpdate,
};
use agentwire_jsonrpc::RawJson;
use serde::Serialize;

/// The most bytes of JSON that a shortened update keeps.
const KEPT_LIMIT: usize = 64 << 10;

/// The longest title in a shortened update, in bytes.
const TITLE_LIMIT: usize = 1 << 10;

/// Returns the update with the beginning of its text and a mark that it is shortened, within `limit` bytes. `bytes` is its
/// length. Returns `None` for an update that is neither a tool call nor text, or whose ids alone are too long.
pub(crate) fn shorten(update: &SessionUpdate, bytes: usize, limit: usize) -> Option<SessionUpdate> {
    let mark = format!("[shortened: this had {bytes} bytes, and the limit is {limit}]");
    let room = KEPT_LIMIT.min(limit / 4);
    let short = match update {
        SessionUpdate::ToolCall(call) => {
            let title = cut(&call.title, TITLE_LIMIT.min(room));
            let mut short = ToolCall::new(call.tool_call_id.clone(), title);
            (short.kind, short.status) = (call.kind.clone(), call.status.clone());
            short.content = contents(&call.content, room, mark);
            short.into()
        }
        SessionUpdate::ToolCallUpdate(call) => {
            let mut short = ToolCallUpdate::new(call.tool_call_id.clone());
            short.title = call.title.as_deref().map(|title| cut(title, TITLE_LIMIT.min(room)).to_owned());
            (short.kind, short.status) = (call.kind.clone(), call.status.clone());
            short.content = Some(contents(call.content.as_deref().unwrap_or_default(), room, mark));
            short.into()
        }
        SessionUpdate::UserMessageChunk(chunk) => {
            SessionUpdate::UserMessageChunk(self::chunk(chunk, room, &mark))
        }
        SessionUpdate::AgentMessageChunk(chunk) => {
            SessionUpdate::AgentMessageChunk(self::chunk(chunk, room, &mark))
        }
        SessionUpdate::AgentThoughtChunk(chunk) => {
            SessionUpdate::AgentThoughtChunk(self::chunk(chunk, room, &mark))
        }
        _ => return None,
    };
    (length(&short) <= limit).then_some(short)
}

/// Returns the beginning of a text that fits into `room` bytes of JSON.
pub(crate) fn cut(text: &str, room: usize) -> &str {
    let mut kept = beginning(text, room);
    // Escapes are longer in JSON, which also adds two quotation marks.
    while !kept.is_empty() && length(kept) > room.saturating_add(2) {
        kept = beginning(kept, kept.len() / 2);
    }
    kept
}

/// Returns the beginning of a text, of at most `bytes` bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the beginning of the content of a call, and the mark.
fn contents(contents: &[ToolCallContent], mut room: usize, mark: String) -> Vec<ToolCallContent> {
    let mut kept = Vec::new();
    for content in contents {
        let bytes = length(content);
        if bytes <= room {
            room -= bytes;
            kept.push(content.clone());
            continue;
        }
        if let ToolCallContent::Content(content) = content
            && let Some(text) = content.content.as_text()
        {
            kept.push(Content::from(cut(text, room)).into());
        }
        break;
    }
    kept.push(Content::from(mark).into());
    kept
}

fn chunk(chunk: &ContentChunk, room: usize, mark: &str) -> ContentChunk {
    let text = chunk.content.as_text().map_or("", |text| cut(text, room));
    let mut short = ContentChunk::new(ContentBlock::from(format!("{text}\n{mark}")));
    short.message_id = chunk.message_id.clone();
    short
}

/// Returns the length of a value in JSON. A value without JSON is longer than any limit.
fn length<T: Serialize + ?Sized>(value: &T) -> usize {
    RawJson::encode(value).map_or(usize::MAX, |json| json.len())
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::{
        Diff, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, ToolCallStatus,
    };
    use serde_json::json;

    use super::*;

    const LIMIT: usize = 4 << 10;

    fn short(update: impl Into<SessionUpdate>) -> Option<serde_json::Value> {
        let update = update.into();
        let short = shorten(&update, length(&update), LIMIT)?;
        assert!(length(&short) <= LIMIT);
        Some(serde_json::to_value(short).unwrap())
    }

    #[test]
    fn a_call_keeps_its_end_and_the_beginning_of_its_text() {
        for text in ["x".repeat(9000), "\u{1}\u{e4}".repeat(9000)] {
            let call = ToolCallUpdate::new("c")
                .status(ToolCallStatus::Completed)
                .content([Content::from("first"), Content::from(text.clone()), Content::from("last")])
                .raw_output(json!("x".repeat(9000)));
            let short = short(call).unwrap();
            assert_eq!((&short["toolCallId"], &short["status"]), (&json!("c"), &json!("completed")));
            assert_eq!(short["rawOutput"], json!(null));
            let said: Vec<_> = short["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(|part| part["content"]["text"].as_str().unwrap())
                .collect();
            assert_eq!((said.len(), said[0]), (3, "first"));
            assert!(said[1].len() > 20 && text.starts_with(said[1]));
            assert!(
                said[2].starts_with("[shortened: this had ") && said[2].ends_with("the limit is 4096]"),
                "{}",
                said[2]
            );
        }
    }

    #[test]
    fn binary_content_is_left_out() {
        let call = ToolCall::new("c", "t".repeat(9000)).content([Diff::new("/a", "x".repeat(9000))]);
        let short = short(call).unwrap();
        assert_eq!(short["content"].as_array().unwrap().len(), 1);
        assert_eq!(short["title"].as_str().unwrap().len(), TITLE_LIMIT);
    }

    #[test]
    fn update_without_a_shorter_form_has_none() {
        assert!(short(ToolCallUpdate::new("c".repeat(9000))).is_none());
        let entry = PlanEntry::new("x".repeat(9000), PlanEntryPriority::Low, PlanEntryStatus::Pending);
        assert!(short(Plan::new(vec![entry])).is_none());
        let said = SessionUpdate::AgentMessageChunk(ContentChunk::new("x".repeat(9000)));
        assert!(short(said).unwrap()["content"]["text"].as_str().unwrap().contains("x\n[shortened"));
    }
}
