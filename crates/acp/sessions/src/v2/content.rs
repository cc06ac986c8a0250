//! Converts content blocks and the content of tool calls. Most of it has the same JSON in both versions.

use agentwire_acp_schema::{v1, v2};

use super::{diff, transcode};

/// Returns the blocks of a prompt as types of version 1. The icons of a resource link are left out, because
/// version 1 has none.
pub(super) fn prompt(blocks: &[v2::ContentBlock]) -> Result<Vec<v1::ContentBlock>, serde_json::Error> {
    let block = |block: &v2::ContentBlock| match block {
        v2::ContentBlock::Text(text) if text.annotations.is_none() => {
            let mut same = v1::TextContent::new(&*text.text);
            same.meta.clone_from(&text.meta);
            Ok(same.into())
        }
        other => transcode(other),
    };
    blocks.iter().map(block).collect()
}

pub(super) fn block(block: v1::ContentBlock) -> Result<v2::ContentBlock, serde_json::Error> {
    match block {
        v1::ContentBlock::Text(text) if text.annotations.is_none() => {
            let mut same = v2::TextContent::new(text.text);
            same.meta = text.meta;
            Ok(same.into())
        }
        other => transcode(&other),
    }
}

pub(super) fn tool_content(
    content: Vec<v1::ToolCallContent>,
) -> Result<Vec<v2::ToolCallContent>, serde_json::Error> {
    let one = |content| match content {
        v1::ToolCallContent::Content(content) => {
            let mut same = v2::Content::new(block(content.content)?);
            same.meta = content.meta;
            Ok(same.into())
        }
        v1::ToolCallContent::Diff(change) => Ok(diff::diff(change).into()),
        v1::ToolCallContent::Terminal(terminal) => Ok(terminal.into()),
        other => transcode(&other),
    };
    content.into_iter().map(one).collect()
}

pub(super) fn locations(locations: Vec<v1::ToolCallLocation>) -> Vec<v2::ToolCallLocation> {
    let location = |location: v1::ToolCallLocation| {
        let mut same = v2::ToolCallLocation::new(location.path);
        same.line = location.line.and_then(std::num::NonZeroU32::new);
        same.meta = location.meta;
        same
    };
    locations.into_iter().map(location).collect()
}
