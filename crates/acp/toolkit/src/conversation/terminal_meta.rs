//! Reads the terminals that agents of version 1 report in the `_meta` of the updates of a tool call.

use agentwire_acp_schema::v1::{Meta, Patch, TerminalId, ToolCallId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::terminal::{CommandExit, TerminalPatch};

const INFO: &str = "terminal_info";
/// Both names hold output to append.
const OUTPUT: [&str; 2] = ["terminal_output", "terminal_output_delta"];
const EXIT: &str = "terminal_exit";

#[derive(Deserialize)]
struct Info {
    terminal_id: Option<TerminalId>,
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct OutputPart {
    terminal_id: Option<TerminalId>,
    data: String,
}

#[derive(Deserialize)]
struct Exit {
    terminal_id: Option<TerminalId>,
    exit_code: Option<i64>,
    signal: Option<String>,
}

/// Takes a terminal out of the `_meta` of a tool call, if one is reported there. Without an id of its own, the terminal gets
/// the id of the tool call.
pub(super) fn take_terminal(call: &ToolCallId, meta: &mut Option<Meta>) -> Option<TerminalPatch> {
    let members = meta.as_mut()?;
    let is_ours = |name: &str| name == INFO || name == EXIT || OUTPUT.contains(&name);
    if !members.iter().any(|(name, _)| is_ours(&name)) {
        return None;
    }
    let info: Option<Info> = member(members, INFO);
    let output: Vec<OutputPart> = OUTPUT.iter().filter_map(|name| member(members, name)).collect();
    let exit: Option<Exit> = member(members, EXIT);
    members.retain(|name| !is_ours(name));
    if members.is_empty() {
        *meta = None;
    }
    let named = [
        info.as_ref().and_then(|info| info.terminal_id.clone()),
        output.iter().find_map(|output| output.terminal_id.clone()),
        exit.as_ref().and_then(|exit| exit.terminal_id.clone()),
    ];
    let id = named.into_iter().flatten().next().unwrap_or_else(|| TerminalId::from(call.as_str()));
    let mut patch = TerminalPatch::new(id);
    patch.tool_call_id = Some(call.clone());
    if let Some(cwd) = info.and_then(|info| info.cwd) {
        patch.cwd = Patch::Set(cwd);
    }
    patch.more_output = output.into_iter().map(|output| output.data).collect::<String>().into_bytes();
    if let Some(Exit { exit_code: code, signal, .. }) = exit {
        patch.exit = Patch::Set(CommandExit { code, signal });
    }
    Some(patch)
}

/// Decodes a member. `None` if it is absent or malformed.
fn member<T: DeserializeOwned>(meta: &Meta, name: &str) -> Option<T> {
    meta.decode_member(name).ok().flatten()
}
