//! The older forms of parts that a revision does not have.

use agentwire_jsonrpc::RawJson;
use serde_json::Value;

use crate::{
    AudioContent, CallToolResult, ClientCapabilities, ContentBlock, CreateMessageRequest,
    CreateMessageResult, Downgrade, ElicitResult, InputRequest, ResourceLink, Revision, SamplingContent,
    SamplingMessage, SingleSelectSchema, TextContent, Tool, ToolResultContent, Unsupported,
};

impl Downgrade for InputRequest {
    fn downgrade(&mut self, revision: Revision) {
        match self {
            Self::CreateMessage(request) => request.downgrade(revision),
            Self::ListRoots(request) => request.downgrade(revision),
            Self::Elicit(request) => request.downgrade(revision),
        }
    }

    fn fits(&self, revision: Revision) -> Result<(), Unsupported> {
        match self {
            Self::CreateMessage(request) => request.fits(revision),
            Self::ListRoots(request) => request.fits(revision),
            Self::Elicit(request) => request.fits(revision),
        }
    }

    fn lacks(&self, can: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        match self {
            Self::CreateMessage(request) => request.lacks(can),
            Self::ListRoots(request) => request.lacks(can),
            Self::Elicit(request) => request.lacks(can),
        }
    }
}

pub(super) fn link_as_text(link: &mut ResourceLink) -> TextContent {
    let name = link.title.as_deref().unwrap_or(&link.name);
    TextContent { annotations: link.annotations.take(), ..TextContent::new(format!("{name}: {}", link.uri)) }
}

pub(super) fn audio_as_text(audio: &mut AudioContent) -> TextContent {
    let note = format!("[a sound of type {}, which this peer cannot take]", audio.mime_type);
    TextContent { annotations: audio.annotations.take(), ..TextContent::new(note) }
}

/// `{}` means forms to an older server, so a client that only opens pages must not send it.
pub(super) fn client_capabilities(capabilities: &mut ClientCapabilities, revision: Revision) {
    if !revision.has_url_elicitation() {
        capabilities.elicitation.take_if(|elicitation| !elicitation.has_form());
    }
}

/// 2025-03-26 has a tool's title among its annotations. Until 2025-11-25, structured content is an object.
pub(super) fn tool(tool: &mut Tool, revision: Revision) {
    if !revision.has_titles()
        && let Some(title) = tool.title.take()
    {
        tool.annotations.get_or_insert_default().title.get_or_insert(title);
    }
    if !revision.has_any_structured_content() {
        tool.output_schema.take_if(|schema| schema.as_map().get("type") != Some(&Value::from("object")));
    }
}

/// An answer that is only structured would arrive empty.
pub(super) fn tool_result(result: &mut CallToolResult, revision: Revision) {
    structured(&mut result.structured_content, &mut result.content, revision);
}

pub(super) fn used_tool_result(result: &mut ToolResultContent, revision: Revision) {
    structured(&mut result.structured_content, &mut result.content, revision);
}

fn structured(structured: &mut Option<RawJson>, content: &mut Vec<ContentBlock>, revision: Revision) {
    let Some(json) = structured else { return };
    let is_object = json.as_str().starts_with('{');
    if revision.has_any_structured_content() || revision.has_structured_content() && is_object {
        return;
    }
    if content.is_empty() {
        content.push(ContentBlock::text(json.as_str()));
    }
    *structured = None;
}

/// In revisions with one block per message, several blocks become several messages of the same role.
pub(super) fn conversation(request: &mut CreateMessageRequest, revision: Revision) {
    if !revision.has_several_blocks() && request.messages.iter().any(|message| message.content.len() != 1) {
        let messages = std::mem::take(&mut request.messages).into_iter();
        let blocks = |message: SamplingMessage| {
            message.content.into_iter().map(move |block| SamplingMessage::new(message.role.clone(), block))
        };
        request.messages = messages.flat_map(blocks).collect();
    }
}

/// In revisions with one block per answer, texts are joined to one; of other blocks the first is kept.
pub(super) fn said(result: &mut CreateMessageResult, revision: Revision) {
    if revision.has_several_blocks() || result.content.len() == 1 {
        return;
    }
    let text = |block: &SamplingContent| match block {
        SamplingContent::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    match result.content.iter().map(text).collect::<Option<Vec<_>>>() {
        Some(texts) => result.content = vec![TextContent::new(texts.concat()).into()],
        None => result.content.truncate(1),
    }
}

pub(super) fn titles(schema: &mut SingleSelectSchema, revision: Revision) {
    schema.legacy_titles |= !revision.has_titled_choices();
}

/// A message on its own cannot become several.
pub(super) fn is_one_block(message: &SamplingMessage, revision: Revision) -> Result<(), Unsupported> {
    if revision.has_several_blocks() || message.content.len() == 1 {
        return Ok(());
    }
    Err(Unsupported::Unknown { what: "a message of several blocks or of none", revision })
}

/// In revisions without fields for several choices, no field has several values.
pub(super) fn is_one_choice(result: &ElicitResult, revision: Revision) -> Result<(), Unsupported> {
    if revision.has_several_choices() || !result.content.iter().flatten().any(|(_, value)| value.is_array()) {
        return Ok(());
    }
    Err(Unsupported::Unknown { what: "several choices in a field", revision })
}
