//! Content blocks as text, and changes of files.

use std::borrow::Cow;
use std::io;
use std::time::Instant;

use agentwire_acp_schema::v1::{ContentBlock, Diff};
use agentwire_acp_schema::v2;
use agentwire_acp_toolkit::names_path;
use agentwire_jsonrpc::RawObject;

use crate::chat::input::prompt::embedded_uri;
use crate::output::text::one_line;
use crate::terminal::{MAX_ITEMS, Screen, short};

/// The most lines of a patch that are shown. [`Screen::more`] counts the others.
const MAX_PATCH_LINES: usize = 5000;

/// A content block as text.
pub(in crate::chat) fn content_text(content: &ContentBlock) -> Cow<'_, str> {
    match content {
        ContentBlock::Text(text) => text.text.as_str().into(),
        ContentBlock::ResourceLink(link) => {
            format!("[{}]({})", one_line(&link.name), one_line(&link.uri)).into()
        }
        ContentBlock::Image(image) => format!("[an image, {}]", short(&image.mime_type)).into(),
        ContentBlock::Audio(audio) => format!("[a sound, {}]", short(&audio.mime_type)).into(),
        ContentBlock::Resource(resource) => format!("[{}]", one_line(embedded_uri(resource))).into(),
        _ => "[content that cannot be shown here]".into(),
    }
}

/// Shows the change of a file. Its path is left out if the title of the call names it.
pub(super) fn draw_diff(screen: &mut Screen, diff: &Diff, title: &str, deadline: Instant) -> io::Result<()> {
    if !names_path(title, &diff.path) {
        screen.dim(&format!("  {}", diff.path.display()))?;
    }
    screen.diff(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text, deadline)
}

/// Shows a diff of version 2, which the conversation keeps as an object. Any other object is not shown.
pub(super) fn draw_patch(screen: &mut Screen, object: &RawObject) -> io::Result<()> {
    let Ok(v2::ToolCallContent::Diff(diff)) = object.decode() else { return Ok(()) };
    for change in diff.changes.iter().take(MAX_ITEMS) {
        screen.dim(&format!("  {}", change_text(&change.operation)))?;
    }
    screen.more(diff.changes.len().saturating_sub(MAX_ITEMS))?;
    let patch = diff.patch.as_ref().map(|patch| &*patch.text).unwrap_or_default();
    let mut lines = patch.lines();
    lines.by_ref().take(MAX_PATCH_LINES).try_for_each(|line| {
        let colour = match line.as_bytes().first() {
            Some(b'+') => "32",
            Some(b'-') => "31",
            _ => "2",
        };
        screen.shortened_line(colour, line)
    })?;
    screen.more(lines.count())
}

/// The kind and the path of a change.
fn change_text(operation: &v2::DiffOperation) -> String {
    match RawObject::encode(operation) {
        Ok(change) => {
            let member = |name| change.decode_member::<String>(name).ok().flatten().unwrap_or_default();
            format!("{} {}", member("operation"), member("path"))
        }
        Err(_) => String::new(),
    }
}
