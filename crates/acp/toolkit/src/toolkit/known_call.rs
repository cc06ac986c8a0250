//! Completes permission requests with the data of a tool call that a conversation has.

use agentwire_acp_schema::v1::{ToolCallContent, ToolCallLocation, ToolCallUpdate};
#[cfg(feature = "v2")]
use agentwire_acp_schema::v2::{self, Content, ContentBlock, DiffOperation};

use crate::ToolCallEntry;
use crate::permissions::UNKNOWN_PATH;

/// Returns the known data of a tool call, with which [`complete_call`] completes a permission request. Data that the agent has
/// not sent is `None`.
///
/// The paths of a diff of version 2 become locations, and its patch becomes text. A call gets a location that no rule can allow
/// if its content is unreadable or a part was too large to be kept. In the latter case it has no input: a later input may have
/// been left out.
///
/// ```
/// use agentwire_acp_schema::v1::{ToolCall, ToolCallUpdate, ToolKind};
/// use agentwire_acp_toolkit::{Conversation, complete_call, known_call};
///
/// let mut conversation = Conversation::new();
/// let _added = conversation.apply(ToolCall::new("c", "Remove a file").kind(ToolKind::Delete));
/// let (_, entry) = conversation.tool_call(&"c".into()).expect("it was announced");
/// let mut asked = ToolCallUpdate::new("c").title("Remove it?");
/// complete_call(&mut asked, &known_call(entry));
/// assert_eq!(asked, ToolCallUpdate::new("c").title("Remove it?").kind(ToolKind::Delete));
/// ```
pub fn known_call(entry: &ToolCallEntry) -> ToolCallUpdate {
    let call = &entry.call;
    let mut known = ToolCallUpdate::new(call.tool_call_id.clone());
    known.title = Some(call.title.clone()).filter(|title| !title.is_empty());
    (known.kind, known.name) = (call.kind.clone(), call.name.clone());
    let mut locations = call.locations.clone();
    let mut content = Vec::new();
    let mut is_whole = entry.omitted == 0;
    for part in &call.content {
        match part {
            #[cfg(feature = "v2")]
            ToolCallContent::Unknown(object) => match object.decode() {
                Ok(diff @ v2::ToolCallContent::Diff(_)) => {
                    locations.extend(diff_paths(&diff).into_iter().map(ToolCallLocation::new));
                    let texts = content_texts(diff).into_iter();
                    content.extend(
                        texts.map(agentwire_acp_schema::v1::ContentBlock::from).map(ToolCallContent::from),
                    );
                }
                _ => is_whole = false,
            },
            #[cfg(not(feature = "v2"))]
            ToolCallContent::Unknown(_) => is_whole = false,
            other => content.push(other.clone()),
        }
    }
    if !is_whole {
        locations.push(ToolCallLocation::new(UNKNOWN_PATH));
    }
    known.content = Some(content).filter(|content| !content.is_empty());
    known.locations = Some(locations).filter(|locations| !locations.is_empty());
    known.raw_input = call.raw_input.clone().filter(|_| entry.omitted == 0);
    known
}

/// Fills in the members that the call of a permission request leaves out. Adds the known locations to those of the request,
/// because the request is about the announced change too.
pub fn complete_call(call: &mut ToolCallUpdate, known: &ToolCallUpdate) {
    fn fill<T: Clone>(member: &mut Option<T>, known: &Option<T>) {
        if member.is_none() {
            member.clone_from(known);
        }
    }
    fill(&mut call.title, &known.title);
    fill(&mut call.kind, &known.kind);
    if let Some(known) = &known.locations {
        let said = call.locations.get_or_insert_default();
        let new: Vec<_> = known.iter().filter(|location| !said.contains(location)).cloned().collect();
        said.extend(new);
    }
    fill(&mut call.content, &known.content);
    fill(&mut call.name, &known.name);
    fill(&mut call.raw_input, &known.raw_input);
}

/// Returns the paths that a diff changes. An unknown path becomes one that no rule can allow.
#[cfg(feature = "v2")]
pub(super) fn diff_paths(content: &v2::ToolCallContent) -> Vec<String> {
    let v2::ToolCallContent::Diff(diff) = content else { return Vec::new() };
    if diff.changes.is_empty() {
        return vec![UNKNOWN_PATH.to_owned()];
    }
    let paths = diff.changes.iter().flat_map(|change| match &change.operation {
        DiffOperation::Add(change) => vec![change.path.to_string()],
        DiffOperation::Delete(change) => vec![change.path.to_string()],
        DiffOperation::Modify(change) => vec![change.path.to_string()],
        DiffOperation::Move(change) => vec![change.old_path.to_string(), change.path.to_string()],
        DiffOperation::Copy(change) => vec![change.old_path.to_string(), change.path.to_string()],
        _ => vec![UNKNOWN_PATH.to_owned()],
    });
    paths.collect()
}

/// Returns the texts of a tool call's content.
#[cfg(feature = "v2")]
pub(super) fn content_texts(content: v2::ToolCallContent) -> Vec<String> {
    match content {
        v2::ToolCallContent::Content(Content { content: ContentBlock::Text(text), .. }) => vec![text.text],
        v2::ToolCallContent::Diff(diff) => {
            let changes = diff.changes.into_iter().filter_map(|change| match change.operation {
                DiffOperation::Add(change) => Some(format!("add {}", change.path)),
                DiffOperation::Delete(change) => Some(format!("delete {}", change.path)),
                DiffOperation::Modify(change) => Some(format!("modify {}", change.path)),
                DiffOperation::Move(change) => Some(format!("move {} to {}", change.old_path, change.path)),
                DiffOperation::Copy(change) => Some(format!("copy {} to {}", change.old_path, change.path)),
                _ => None,
            });
            changes.chain(diff.patch.map(|patch| patch.text)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::{
        PermissionOption, PermissionOptionKind, RequestPermissionRequest, RequestPermissionResponse,
        ToolCall, ToolKind,
    };
    use serde_json::json;

    use super::*;
    use crate::{Conversation, PermissionPolicy, PermissionRule, Permissions};

    fn asked(conversation: &Conversation, call: ToolCallUpdate) -> RequestPermissionRequest {
        let options = [PermissionOption::new("always", "Always", PermissionOptionKind::AllowAlways)];
        let mut request = RequestPermissionRequest::new("s", call, options);
        let (_, entry) = conversation.tool_call(&"c".into()).unwrap();
        complete_call(&mut request.tool_call, &known_call(entry));
        request
    }

    /// A request that names other paths is still about the change that was announced.
    #[test]
    fn paths_of_a_request_do_not_hide_known_paths() {
        let rules =
            Permissions::new(PermissionPolicy::Ask).rule(PermissionRule::allow().path("/src/**").unwrap());
        for known in ["/src/b", "/etc/x"] {
            let mut conversation = Conversation::new();
            let call = ToolCall::new("c", "Edit").kind(ToolKind::Edit);
            let _added = conversation.apply(call.locations([ToolCallLocation::new(known)]));
            let named = ToolCallUpdate::new("c").locations([ToolCallLocation::new("/src/a")]);
            let request = asked(&conversation, named);
            assert_eq!(rules.decide(&request).is_some(), known == "/src/b", "{known}");
        }
    }

    /// An answer for always holds for the same call. Two calls with a part that was not kept may differ there.
    #[test]
    fn no_answer_is_remembered_for_a_partly_known_call() {
        for (bytes, remembers) in [(16, true), (1 << 20, false)] {
            let mut conversation = Conversation::new().limit(1 << 20);
            let command = "x".repeat(bytes);
            let call = ToolCall::new("c", "Run").kind(ToolKind::Execute);
            let _added = conversation.apply(call.raw_input(json!({ "command": command })));
            let request = asked(&conversation, ToolCallUpdate::new("c"));
            let permissions = Permissions::new(PermissionPolicy::Ask);
            permissions.record(&request, &RequestPermissionResponse::selected("always"));
            assert_eq!(permissions.decide(&request).is_some(), remembers, "{bytes}");
        }
    }
}
