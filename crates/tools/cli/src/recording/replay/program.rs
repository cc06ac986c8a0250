//! Runs the program against which a side is played.

use std::ffi::OsString;
use std::future::poll_fn;
use std::process::Stdio;

use agentwire_recording::LineWire;
use agentwire_transport_stdio::{ChildPipes, Input, Output, ProcessGroup};
use anyhow::Result;
use futures_util::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::task::JoinHandle;

use super::super::process_group::spawn;
use super::END;
use crate::output::text::Notes;

/// The most bytes of a line of stderr that are shown: 16 KiB.
const LINE_LIMIT: u64 = 16 << 10;

/// The output and input of a program, as lines.
pub(crate) type ProgramWire = LineWire<Input, Output>;

/// A running program. Dropping it kills it.
pub(crate) struct Program {
    process: ProcessGroup,
    stderr: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts a program. Shows its stderr line by line in the notes, or discards it without notes.
    pub(crate) fn start(command: &[OsString], notes: Option<&Notes>) -> Result<(Self, ProgramWire)> {
        let stderr = if notes.is_some() { Stdio::piped() } else { Stdio::null() };
        let (process, ChildPipes { stdin, stdout, stderr }) = spawn(command, stderr)?;
        let stderr = stderr.zip(notes).map(|(stderr, notes)| tokio::spawn(show(stderr, notes.clone())));
        Ok((Self { process, stderr }, LineWire::new(stdout, stdin)))
    }

    /// Waits for the end of the program, and kills it if that takes too long.
    pub(crate) async fn end(&mut self) {
        let _in_time = tokio::time::timeout(END, poll_fn(|cx| self.process.poll_ended(cx))).await;
        self.process.finish();
        if let Some(stderr) = &mut self.stderr {
            let _shown = tokio::time::timeout(END, stderr).await;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(stderr) = &self.stderr {
            stderr.abort();
        }
    }
}

async fn show(stderr: Input, notes: Notes) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(LINE_LIMIT).read_until(b'\n', &mut line).await {
            Ok(count) if count > 0 => {
                notes.add(&format!("program: {}", String::from_utf8_lossy(&line).trim_end()));
            }
            _ => return,
        }
    }
}
