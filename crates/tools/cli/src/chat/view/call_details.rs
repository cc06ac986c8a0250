//! The details of a tool call: its command, its paths, its changes.

use agentwire_acp_schema::v1::{RequestPermissionRequest, ToolCallContent, ToolCallUpdate};
use agentwire_jsonrpc::{RawJson, RawObject};
use serde_json::json;

/// Whether a call has a command.
pub(in crate::chat) fn has_command(call: &ToolCallUpdate) -> bool {
    let Some(input) = input(call) else { return false };
    let is_text = |text: String| !text.trim().is_empty();
    input.get("command").is_some_and(|command| {
        command.decode::<String>().is_ok_and(is_text)
            || command.decode::<Vec<String>>().is_ok_and(|words| !words.is_empty())
    })
}

/// Whether a call has all of the command that it runs, in the form that
/// [`PermissionRule::command`](agentwire_acp_toolkit::PermissionRule::command) reads.
pub(in crate::chat) fn has_whole_command(call: &ToolCallUpdate) -> bool {
    let Some(input) = input(call) else { return false };
    let is_read = |name: &str, value: &RawJson| match name {
        "args" if value.is_null() => true,
        "command" | "args" => value.decode::<String>().is_ok() || value.decode::<Vec<String>>().is_ok(),
        _ => true,
    };
    has_command(call) && input.iter().all(|(name, value)| is_read(&name, &value))
}

/// Whether a call names the paths on which it works.
pub(in crate::chat) fn has_paths(call: &ToolCallUpdate) -> bool {
    let has_locations = call.locations.iter().flatten().next().is_some();
    has_locations || has_diff(call)
}

/// Whether a call changes files.
pub(in crate::chat) fn has_diff(call: &ToolCallUpdate) -> bool {
    call.content.iter().flatten().any(|content| matches!(content, ToolCallContent::Diff(_)))
}

/// The request with `["bash", "-lc", TEXT]` replaced by the text, which is the command that the shell runs.
pub(in crate::chat) fn without_shell(request: &RequestPermissionRequest) -> RequestPermissionRequest {
    let mut inner = request.clone();
    unwrap_shell(&mut inner.tool_call);
    inner
}

fn unwrap_shell(call: &mut ToolCallUpdate) {
    const SHELLS: [&str; 3] = ["sh", "bash", "zsh"];
    let Some(input) = input(call) else { return };
    // Arguments, an environment or a second command change what the words mean.
    let is_plain = !input.contains_key("args")
        && !input.contains_key("env")
        && input.iter().filter(|(name, _)| *name == "command").count() == 1;
    let words = input.get("command").and_then(|command| command.decode::<Vec<String>>().ok());
    if is_plain
        && let Some([shell, flag, text]) = words.as_deref()
        && matches!(&**flag, "-c" | "-lc")
        && SHELLS.iter().any(|known| shell == known || *shell == format!("/bin/{known}"))
    {
        call.raw_input = RawJson::encode(&json!({ "command": text })).ok();
    }
}

fn input(call: &ToolCallUpdate) -> Option<RawObject> {
    RawObject::try_from(call.raw_input.clone()?).ok()
}
