//! A step writes to the terminal or to its log.

use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use agentwire_test_support::process;
use anyhow::Result;

/// The streams or the file that a step writes to.
pub(super) enum Output<'a> {
    Terminal,
    Log(&'a File),
}

impl Output<'_> {
    /// Runs a program that writes here.
    pub(super) fn run(&self, command: &mut Command) -> Result<()> {
        if let Self::Log(file) = self {
            command.stdout(file.try_clone()?).stderr(file.try_clone()?);
        }
        process::run(command)
    }

    /// The stderr for a program whose stdout is read.
    pub(super) fn stderr(&self) -> Result<Stdio> {
        Ok(match self {
            Self::Terminal => Stdio::inherit(),
            Self::Log(file) => file.try_clone()?.into(),
        })
    }

    pub(super) fn print(&self, line: &str) {
        match self {
            Self::Terminal => print_whole(&format!("{line}\n")),
            // What cannot be written is missing from the log only; the outcome counts.
            &Self::Log(mut file) => _ = writeln!(file, "{line}"),
        }
    }
}

/// Prints to stdout in one piece, so that what steps print does not mix.
pub(super) fn print_whole(text: &str) {
    // If stdout is closed, the exit code is all that is left.
    let _written = io::stdout().lock().write_all(text.as_bytes());
}
