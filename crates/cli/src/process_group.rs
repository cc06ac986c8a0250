//! Starts a program whose raw bytes we pass on, in a process group with which what it started ends.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use agentwire_transport_stdio::{ChildPipes, ProcessGroup};
use anyhow::{Context as _, Result};

/// Starts a program with pipes. Its stderr is `stderr`.
pub(crate) fn spawn(command: &[OsString], stderr: Stdio) -> Result<(ProcessGroup, ChildPipes)> {
    let (program, arguments) = command.split_first().context("there is no program")?;
    let mut process = Command::new(program);
    process.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
    let mut group = ProcessGroup::spawn(process).with_context(|| program.to_string_lossy().into_owned())?;
    let pipes = group.take_pipes()?;
    Ok((group, pipes))
}
