//! Without the feature `agents`: no agents are installed.

use agentwire_transport_stdio::Command;
use anyhow::Result;

pub(crate) use crate::absent::Absent as Commands;
pub(crate) use crate::absent::Absent as FolderGuard;
use crate::failure::{Exit, Failure};
use crate::features::missing;
use crate::output::text::Notes;
use crate::programs;

pub(crate) async fn run(command: Commands, _json: bool, _notes: &Notes) -> Result<()> {
    match command {}
}

/// `None`: only the feature finds installed agents.
///
/// # Errors
///
/// When the text can only be the id of an installed agent, because it names no program.
pub(crate) fn find(text: &str) -> Result<Option<(Command, FolderGuard)>> {
    let is_id = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !is_id || text.is_empty() || programs::find(text).is_some() {
        return Ok(None);
    }
    let why = format!(
        "`{text}` is not a program that can be found; {}",
        missing("support for installed agents", "agents")
    );
    Err(Failure::new(Exit::Unreachable, why).into())
}

/// The ids of the installed agents and of the registry's agents: none in this build.
pub(crate) fn names() -> Vec<String> {
    Vec::new()
}
