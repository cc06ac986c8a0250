//! Starts a program with raw pipes, in a process group that ends together with all processes that it started.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, Stdio};

use agentwire_transport_stdio::{ChildPipes, ProcessGroup, startable_program};
use anyhow::{Context as _, Result};

use crate::failure::{Exit, Failure};

/// Starts a program with pipes. Its stderr is `stderr`.
pub(super) fn spawn(command: &[OsString], stderr: Stdio) -> Result<(ProcessGroup, ChildPipes)> {
    let (program, arguments) = command.split_first().context("there is no program")?;
    let mut process = Command::new(startable_program(program, None, None));
    process.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
    let mut group = ProcessGroup::spawn(process).map_err(|error| cannot_start(program, &error))?;
    let pipes = group.take_pipes()?;
    Ok((group, pipes))
}

fn cannot_start(program: &OsStr, error: &io::Error) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such command".to_owned(),
        _ => error.to_string(),
    };
    Failure::new(Exit::Unreachable, format!("cannot start `{}`: {why}", program.to_string_lossy()))
}
