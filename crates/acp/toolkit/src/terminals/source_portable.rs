//! The output of a command on other systems: a pipe for stdout and one for stderr.

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use agentwire_transport_stdio::ProcessGroup;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::timeout;

/// How long the last output of an ended command may take to arrive.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// Our ends of the pipes that a command writes to.
#[derive(Debug)]
pub(super) struct Source {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// The buffer of the second read, since the two concurrent reads cannot share one.
    spare: Vec<u8>,
}

impl Source {
    /// Starts `command`.
    pub(super) fn spawn(mut command: Command) -> io::Result<(ProcessGroup, Self)> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = ProcessGroup::spawn(command)?;
        let leader = group.leader();
        let stdout = leader.stdout.take().map(ChildStdout::from_std).transpose()?;
        let stderr = leader.stderr.take().map(ChildStderr::from_std).transpose()?;
        Ok((group, Self { stdout, stderr, spare: Vec::new() }))
    }

    /// Reads some bytes, or none at the end. Nothing is lost when this is dropped.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.stdout.is_some() || self.stderr.is_some() {
            self.spare.resize(buffer.len(), 0);
            let count = tokio::select! {
                count = read(&mut self.stdout, buffer) => count,
                count = read(&mut self.stderr, &mut self.spare) => {
                    buffer[..count].copy_from_slice(&self.spare[..count]);
                    count
                }
            };
            if count > 0 {
                return Ok(count);
            }
        }
        Ok(0)
    }

    /// Reads the output that was written before now. Returns whether the end was reached.
    pub(super) async fn drain(&mut self, buffer: &mut [u8], mut each: impl FnMut(&[u8])) -> bool {
        let all = async {
            loop {
                match self.read(buffer).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => each(&buffer[..count]),
                }
            }
        };
        timeout(DRAIN_TIMEOUT, all).await.is_ok()
    }
}

/// Reads from one stream. Sets it to `None` at its end.
async fn read<R: AsyncRead + Unpin>(source: &mut Option<R>, buffer: &mut [u8]) -> usize {
    let Some(open) = source else { return std::future::pending().await };
    match open.read(buffer).await {
        Ok(count) if count > 0 => count,
        _ => {
            *source = None;
            0
        }
    }
}
