//! Converts updates of version 2 into the types of version 1.

use agentwire_acp_schema::v1::{self, SessionUpdate};
use agentwire_acp_schema::v2::{self, Patch};
use agentwire_jsonrpc::RawObject;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::{CommandExit, MessageKind, TerminalPatch, ToolCallPatch, Update};

impl From<v2::SessionUpdate> for Update {
    fn from(update: v2::SessionUpdate) -> Self {
        use v2::SessionUpdate as V2;
        Self::Common(match update {
            V2::UserMessageChunk(piece) => SessionUpdate::UserMessageChunk(chunk(piece)),
            V2::AgentMessageChunk(piece) => SessionUpdate::AgentMessageChunk(chunk(piece)),
            V2::AgentThoughtChunk(piece) => SessionUpdate::AgentThoughtChunk(chunk(piece)),
            V2::UserMessage(whole) => {
                return message(MessageKind::User, whole.message_id, whole.content, whole.meta);
            }
            V2::AgentMessage(whole) => {
                return message(MessageKind::Agent, whole.message_id, whole.content, whole.meta);
            }
            V2::AgentThought(whole) => {
                return message(MessageKind::Thought, whole.message_id, whole.content, whole.meta);
            }
            V2::ToolCallUpdate(update) => return Self::ToolCall(Box::new(tool_call(*update))),
            V2::ToolCallContentChunk(piece) => {
                let v2::ToolCallContentChunk { tool_call_id, content, .. } = *piece;
                return Self::ToolCallContent { tool_call_id, content: tool_call_content(content) };
            }
            V2::TerminalUpdate(update) => return Self::Terminal(Box::new(terminal(*update))),
            V2::TerminalOutputChunk(chunk) => {
                let mut patch = TerminalPatch::new(chunk.terminal_id);
                patch.more_output = bytes(&chunk.data);
                return Self::Terminal(Box::new(patch));
            }
            V2::PlanUpdate(update) => match update.plan {
                v2::PlanUpdateContent::Items(items) => plan(items).into(),
                _ => return Self::Ignored,
            },
            V2::AvailableCommandsUpdate(update) => {
                v1::AvailableCommandsUpdate::new(commands(update.available_commands)).into()
            }
            V2::ConfigOptionUpdate(update) => {
                v1::ConfigOptionUpdate::new(config_options(update.config_options)).into()
            }
            V2::SessionInfoUpdate(update) => {
                let mut info = v1::SessionInfoUpdate::new();
                (info.title, info.updated_at) = (update.title, update.updated_at);
                update.meta.apply(&mut info.meta);
                info.into()
            }
            V2::UsageUpdate(update) => {
                let mut usage = v1::UsageUpdate::new(update.used, update.size);
                usage.meta = update.meta;
                return Self::Usage { usage, cost: update.cost };
            }
            V2::Notice(notice) => SessionUpdate::Notice(notice),
            V2::CompactionUpdate(update) => {
                let mut compaction = v1::CompactionUpdate::new(update.compaction_id, update.status);
                compaction.summary = patch(update.summary, contents);
                (compaction.error, compaction.meta) = (update.error, update.meta);
                compaction.into()
            }
            V2::CompactionSummaryChunk(piece) => {
                let content = content_block(piece.content);
                let mut chunk = v1::CompactionSummaryChunk::new(piece.compaction_id, content);
                chunk.meta = piece.meta;
                SessionUpdate::CompactionSummaryChunk(chunk)
            }
            V2::Unknown(object) => SessionUpdate::Unknown(object),
            _ => return Self::Ignored,
        })
    }
}

fn patch<T, U>(patch: Patch<T>, convert: impl FnOnce(T) -> U) -> Patch<U> {
    match patch {
        Patch::Keep => Patch::Keep,
        Patch::Clear => Patch::Clear,
        Patch::Set(value) => Patch::Set(convert(value)),
    }
}

fn message(
    kind: MessageKind,
    message_id: v1::MessageId,
    content: Patch<Vec<v2::ContentBlock>>,
    meta: Patch<v1::Meta>,
) -> Update {
    Update::Message { kind, message_id, content: patch(content, contents), meta }
}

fn chunk(piece: v2::ContentChunk) -> v1::ContentChunk {
    let mut chunk = v1::ContentChunk::new(content_block(piece.content));
    (chunk.message_id, chunk.meta) = (Some(piece.message_id), piece.meta);
    chunk
}

fn terminal(update: v2::TerminalUpdate) -> TerminalPatch {
    let mut terminal = TerminalPatch::new(update.terminal_id);
    terminal.command = update.command;
    terminal.cwd = patch(update.cwd, |cwd| cwd.as_path().to_string_lossy().into_owned());
    terminal.output = patch(update.output, |output| bytes(&output.data));
    terminal.exit =
        patch(update.exit_status, |exit| CommandExit { code: exit.exit_code, signal: exit.signal });
    terminal
}

/// Decodes Base64. Returns no bytes if it is invalid.
fn bytes(data: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(data).unwrap_or_default()
}

fn tool_call(update: v2::ToolCallUpdate) -> ToolCallPatch {
    let mut call = ToolCallPatch::new(update.tool_call_id);
    call.cancelled = matches!(update.status, Patch::Set(v2::ToolCallStatus::Cancelled));
    call.status = match update.status {
        Patch::Set(v2::ToolCallStatus::Cancelled) | Patch::Keep => Patch::Keep,
        Patch::Clear => Patch::Clear,
        Patch::Set(status) => Patch::Set(match status {
            v2::ToolCallStatus::Pending => v1::ToolCallStatus::Pending,
            v2::ToolCallStatus::InProgress => v1::ToolCallStatus::InProgress,
            v2::ToolCallStatus::Completed => v1::ToolCallStatus::Completed,
            v2::ToolCallStatus::Failed => v1::ToolCallStatus::Failed,
            v2::ToolCallStatus::Other(word) => v1::ToolCallStatus::Other(word),
            _ => v1::ToolCallStatus::Other("paused".into()),
        }),
    };
    (call.kind, call.title, call.name) = (update.kind, update.title, update.name);
    call.content = patch(update.content, |all| all.into_iter().map(tool_call_content).collect());
    call.locations = patch(update.locations, |all| all.into_iter().map(location).collect());
    (call.raw_input, call.raw_output) = (update.raw_input, update.raw_output);
    (call.meta, call.merges_meta) = (update.meta, true);
    call
}

pub(crate) fn location(location: v2::ToolCallLocation) -> v1::ToolCallLocation {
    let mut same = v1::ToolCallLocation::new(location.path);
    same.line = location.line.map(std::num::NonZeroU32::get);
    same.meta = location.meta;
    same
}

fn tool_call_content(content: v2::ToolCallContent) -> v1::ToolCallContent {
    match content {
        v2::ToolCallContent::Content(content) => {
            let mut same = v1::Content::new(content_block(content.content));
            same.meta = content.meta;
            same.into()
        }
        v2::ToolCallContent::Terminal(terminal) => terminal.into(),
        v2::ToolCallContent::Unknown(object) => v1::ToolCallContent::Unknown(object),
        diff => v1::ToolCallContent::Unknown(RawObject::encode(&diff).unwrap_or_default()),
    }
}

fn plan(items: v2::PlanItems) -> v1::Plan {
    let entries = items.entries.into_iter().map(|entry| {
        let status = match entry.status {
            v2::PlanEntryStatus::Pending => v1::PlanEntryStatus::Pending,
            v2::PlanEntryStatus::InProgress => v1::PlanEntryStatus::InProgress,
            v2::PlanEntryStatus::Completed => v1::PlanEntryStatus::Completed,
            v2::PlanEntryStatus::Other(word) => v1::PlanEntryStatus::Other(word),
            _ => v1::PlanEntryStatus::Other("cancelled".into()),
        };
        let mut same = v1::PlanEntry::new(entry.content, entry.priority, status);
        same.meta = entry.meta;
        same
    });
    let mut plan = v1::Plan::new(entries.collect::<Vec<_>>());
    plan.meta = items.meta;
    plan
}

/// Converts slash commands. Those of an unknown type are left out.
pub(crate) fn commands(commands: Vec<v2::AvailableCommand>) -> Vec<v1::AvailableCommand> {
    let known = commands.into_iter().filter_map(|command| match command {
        v2::AvailableCommand::Command(command) => Some(command),
        _ => None,
    });
    let same = known.map(|command| {
        let mut same = v1::AvailableCommand::new(command.name, command.description);
        same.input = command.input.and_then(|input| match input {
            v2::AvailableCommandInput::Text(text) => {
                let mut input = v1::UnstructuredCommandInput::new(text.hint);
                input.meta = text.meta;
                Some(input.into())
            }
            _ => None,
        });
        same.meta = command.meta;
        same
    });
    same.collect()
}

/// Converts configuration options.
pub(crate) fn config_options(options: Vec<v2::SessionConfigOption>) -> Vec<v1::SessionConfigOption> {
    let same = options.into_iter().map(|option| {
        let kind = match option.kind {
            v2::SessionConfigKind::Select(select) => {
                let options = match select.options {
                    v2::SessionConfigSelectOptions::Ungrouped(options) => options.into(),
                    v2::SessionConfigSelectOptions::Grouped(groups) => {
                        groups.into_iter().map(select_group).collect::<Vec<_>>().into()
                    }
                    _ => v1::SessionConfigSelectOptions::Ungrouped(Vec::new()),
                };
                v1::SessionConfigSelect::new(select.current_value, options).into()
            }
            v2::SessionConfigKind::Boolean(boolean) => boolean.into(),
            v2::SessionConfigKind::Unknown(object) => v1::SessionConfigKind::Unknown(object),
            _ => v1::SessionConfigKind::Unknown(RawObject::default()),
        };
        let mut same = v1::SessionConfigOption::new(option.config_id, option.name, kind);
        (same.description, same.category) = (option.description, option.category);
        same.meta = option.meta;
        same
    });
    same.collect()
}

fn select_group(group: v2::SessionConfigSelectGroup) -> v1::SessionConfigSelectGroup {
    let mut same = v1::SessionConfigSelectGroup::new(group.group_id, group.name, group.options);
    same.meta = group.meta;
    same
}

fn contents(blocks: Vec<v2::ContentBlock>) -> Vec<v1::ContentBlock> {
    blocks.into_iter().map(content_block).collect()
}

pub(crate) fn content_block(block: v2::ContentBlock) -> v1::ContentBlock {
    match block {
        v2::ContentBlock::Text(text) => {
            let mut same = v1::TextContent::new(text.text);
            (same.annotations, same.meta) = (annotations(text.annotations), text.meta);
            same.into()
        }
        v2::ContentBlock::Image(image) => {
            let mut same = v1::ImageContent::new(image.data, image.mime_type.to_string());
            same.uri = image.uri;
            (same.annotations, same.meta) = (annotations(image.annotations), image.meta);
            same.into()
        }
        v2::ContentBlock::Audio(audio) => {
            let mut same = v1::AudioContent::new(audio.data, audio.mime_type.to_string());
            (same.annotations, same.meta) = (annotations(audio.annotations), audio.meta);
            same.into()
        }
        v2::ContentBlock::ResourceLink(link) => {
            let mut same = v1::ResourceLink::new(link.name, link.uri);
            (same.title, same.description) = (link.title, link.description);
            same.mime_type = link.mime_type.map(|mime_type| mime_type.to_string());
            same.size = link.size.and_then(|size| size.try_into().ok());
            (same.annotations, same.meta) = (annotations(link.annotations), link.meta);
            same.into()
        }
        v2::ContentBlock::Resource(embedded) => resource(*embedded),
        v2::ContentBlock::Unknown(object) => v1::ContentBlock::Unknown(object),
        _ => v1::ContentBlock::Unknown(RawObject::default()),
    }
}

fn resource(embedded: v2::EmbeddedResource) -> v1::ContentBlock {
    let contents: v1::EmbeddedResourceResource = match embedded.resource {
        v2::EmbeddedResourceResource::Text(text) => {
            let mut same = v1::TextResourceContents::new(text.text, text.uri);
            same.mime_type = text.mime_type.map(|mime_type| mime_type.to_string());
            same.meta = text.meta;
            same.into()
        }
        v2::EmbeddedResourceResource::Blob(blob) => {
            let mut same = v1::BlobResourceContents::new(blob.blob, blob.uri);
            same.mime_type = blob.mime_type.map(|mime_type| mime_type.to_string());
            same.meta = blob.meta;
            same.into()
        }
        _ => return v1::ContentBlock::Unknown(RawObject::default()),
    };
    let mut same = v1::EmbeddedResource::new(contents);
    (same.annotations, same.meta) = (annotations(embedded.annotations), embedded.meta);
    same.into()
}

fn annotations(annotations: Option<Box<v2::Annotations>>) -> Option<Box<v1::Annotations>> {
    annotations.map(|annotations| {
        let v2::Annotations { audience, last_modified, priority, meta, .. } = *annotations;
        let mut same = v1::Annotations::new();
        (same.audience, same.last_modified, same.priority) = (audience, last_modified, priority);
        same.meta = meta;
        Box::new(same)
    })
}
