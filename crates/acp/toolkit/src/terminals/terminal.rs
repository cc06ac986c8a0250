//! One terminal: its process group, its output and its exit status.

use std::future::{Future, poll_fn};
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_schema::v1::{TerminalExitStatus, TerminalOutputResponse};
use agentwire_sync::Mutex;
use agentwire_transport_stdio::ProcessGroup;
use tokio::sync::watch as latest;

use super::output::Output;
use super::signal::exit_status;
use super::source::Source;

/// How long to wait, without blocking, for a killed process.
const KILL_LIMIT: Duration = Duration::from_secs(1);

/// How many bytes are read at once.
const PIECE: usize = 64 * 1024;

/// A command, its output and its exit status.
#[derive(Debug)]
pub(super) struct Terminal {
    group: Mutex<ProcessGroup>,
    output: Mutex<Output>,
    /// `None` while the command runs.
    status: latest::Sender<Option<TerminalExitStatus>>,
}

impl Terminal {
    /// Starts a command and keeps `limit` bytes of its output. Pass the source to [`read`].
    pub(super) fn spawn(command: Command, limit: usize) -> io::Result<(Self, Source)> {
        let (group, source) = Source::spawn(command)?;
        let terminal = Self {
            group: Mutex::new(group),
            output: Mutex::new(Output::new(limit)),
            status: latest::Sender::new(None),
        };
        Ok((terminal, source))
    }

    pub(super) fn output(&self) -> TerminalOutputResponse {
        // The status is read first: it is set after the output is complete.
        let status = self.status.borrow().clone();
        let (text, truncated) = self.output.lock().snapshot();
        let response = TerminalOutputResponse::new(text).truncated(truncated);
        match status {
            Some(status) => response.exit_status(status),
            None => response,
        }
    }

    /// Returns the output with the position of its end.
    pub(super) fn last_output(&self) -> (TerminalOutputResponse, u64) {
        (self.output(), self.output.lock().end())
    }

    /// Returns the output since a position, the position of its end, and how the command ended if it has.
    pub(super) fn output_since(&self, position: u64) -> (String, u64, Option<TerminalExitStatus>) {
        let status = self.status.borrow().clone();
        let output = self.output.lock();
        (output.since(position).to_owned(), output.end(), status)
    }

    /// Waits until the command has ended. The future does not keep the terminal alive.
    pub(super) fn exit(&self) -> impl Future<Output = TerminalExitStatus> + use<> {
        let mut status = self.status.subscribe();
        async move {
            match status.wait_for(Option::is_some).await {
                Ok(status) => status.clone().unwrap_or_default(),
                // A terminal sets it before it is dropped.
                Err(_) => TerminalExitStatus::new(),
            }
        }
    }

    /// Kills the group, without waiting.
    pub(super) fn signal(&self) {
        self.group.lock().kill();
    }

    /// Kills the group, and waits until the command has ended.
    pub(super) async fn kill(&self) {
        self.signal();
        // After this, `end` does not block.
        let _ = tokio::time::timeout(KILL_LIMIT, self.exit()).await;
        self.end();
    }

    /// Kills the group, and blocks until the command has ended. A second call does nothing.
    pub(super) fn end(&self) {
        let status = self.group.lock().finish();
        self.publish(exit_status(status));
    }

    fn publish(&self, status: TerminalExitStatus) {
        self.status.send_if_modified(|published| {
            let first = published.is_none();
            published.get_or_insert(status);
            first
        });
    }

    async fn ended(&self) -> TerminalExitStatus {
        poll_fn(|cx| self.group.lock().poll_ended(cx)).await;
        exit_status(self.group.lock().status())
    }
}

/// Reads the output until the command has ended and no process can write any more. Dropping the future before that,
/// even unpolled, ends the command.
pub(super) fn read(terminal: Arc<Terminal>, source: Source) -> impl Future<Output = ()> + Send {
    let guard = ReaderGuard { terminal, finished: false };
    async move {
        let mut guard = guard;
        read_all(&guard.terminal, source).await;
        guard.finished = true;
    }
}

async fn read_all(terminal: &Terminal, mut source: Source) {
    let mut ended = std::pin::pin!(terminal.ended());
    let mut buffer = vec![0; PIECE];
    let (mut open, mut runs) = (true, true);
    while open || runs {
        tokio::select! {
            count = source.read(&mut buffer), if open => match count {
                Ok(count) if count > 0 => terminal.output.lock().push(&buffer[..count]),
                _ => open = false,
            },
            status = &mut ended, if runs => {
                // The last output may still be in the pipe.
                let all = open && source.drain(&mut buffer, |bytes| terminal.output.lock().push(bytes)).await;
                open &= !all;
                runs = false;
                terminal.publish(status);
            }
        }
        if !open {
            terminal.output.lock().finish();
        }
    }
}

/// Ends the command if its reader is dropped before it has finished, because the runtime has ended.
#[derive(Debug)]
struct ReaderGuard {
    terminal: Arc<Terminal>,
    finished: bool,
}

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        if !self.finished {
            self.terminal.end();
        }
    }
}
