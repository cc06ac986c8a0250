//! The terminals of a session: commands with bounded output in process groups.

mod command;
pub(crate) mod output;
mod released;
mod shown;
mod signal;
#[cfg(unix)]
mod source;
#[cfg(not(unix))]
#[path = "source_portable.rs"]
mod source;
mod terminal;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_acp_schema::v1::error_code::RESOURCE_NOT_FOUND;
use agentwire_acp_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalId, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use agentwire_jsonrpc::ErrorObject as Error;
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_wire_derive::Build;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use crate::roots::Roots;
pub use output::last_bytes;
use released::ReleasedOutputs;
pub use shown::ShownOutput;
use terminal::Terminal;

/// The default limit of a session's terminals.
const LIMIT: usize = 64;
/// The default limit of a terminal's output, if the request has none: 1 MiB.
const OUTPUT_LIMIT: usize = 1024 * 1024;
/// The default of the highest limit that a request may set: 4 MiB. Even if each byte needs an escape of six, the answer
/// fits a message of 32 MiB, the common limit of peers.
const OUTPUT_MAXIMUM: usize = 4 * 1024 * 1024;

/// The default limit of the output of all terminals of a session: 32 MiB.
const OUTPUT_TOTAL: usize = 32 * 1024 * 1024;
/// The output that each terminal keeps even over the session's limit: 64 KiB.
const OUTPUT_LEAST: usize = 64 * 1024;
/// How many bytes of output one permit allows.
const UNIT: usize = 1024;

/// The default limit of the output of released terminals: 4 MiB.
const RELEASED_LIMIT: usize = 4 * 1024 * 1024;

/// Runs the commands of an agent in one session: serves `terminal/*`.
///
/// Each command runs in its own process group with an empty stdin. Stdout and stderr share a pipe, so their order is
/// the order of writing. A task of the runtime reads the pipe continuously and keeps the last of the output.
///
/// Background processes of a command belong to the terminal while they stay in its group: they continue when the
/// command ends, and end at `kill` and `release`. The command is reaped only then, so that the group's id is not reused
/// before.
///
/// When this is dropped, or the runtime ends, every group is killed and every command waited for. That blocks until the
/// kernel is done: microseconds as a rule, a second at most. If the whole program is killed, a guard kills the commands: a
/// shell in each group, which waits until the program's end of a pipe closes. On Windows the system kills them.
///
/// A terminal confines nothing: a command can do what the user can. Only its starting directory must be within the
/// session's directories. Permissions decide whether it may start at all.
///
/// All methods may be called concurrently, also for one terminal. They need a tokio runtime with I/O and time.
///
/// # Errors
///
/// An unknown or released terminal is answered with "resource not found".
///
/// See <https://agentclientprotocol.com/protocol/v1/terminals>.
///
/// ```no_run
/// use agentwire_acp_schema::v1::{CreateTerminalRequest, TerminalOutputRequest, WaitForTerminalExitRequest};
/// use agentwire_acp_toolkit::Terminals;
///
/// # async fn run() -> Result<(), agentwire_acp_client::Error> {
/// let terminals = Terminals::new(["/repo"]).output_limit(64 << 10);
/// let id = terminals.create(&CreateTerminalRequest::new("session-1", "cargo test")).await?.terminal_id;
/// terminals.wait_for_exit(&WaitForTerminalExitRequest::new("session-1", &id)).await?;
/// println!("{:?}", terminals.output(&TerminalOutputRequest::new("session-1", &id)).await?.output);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Build)]
pub struct Terminals {
    roots: Arc<Roots>,
    live: Mutex<OpenTerminals>,
    released: Mutex<ReleasedOutputs>,
    limit: usize,
    free: Arc<Semaphore>,
    ids: Arc<AtomicU64>,
    /// Sets the limit of a terminal's output, in bytes, if the request has none (default 1 MiB).
    output_limit: usize,
    /// Sets the highest limit that a request may set for a terminal's output, in bytes (default 4 MiB).
    output_maximum: usize,
    /// Permits for the output that is kept, each for [`UNIT`] bytes.
    #[build(skip)]
    output_total: Arc<Semaphore>,
}

/// The terminals that are not released.
#[derive(Debug, Default)]
struct OpenTerminals {
    terminals: HashMap<TerminalId, OpenTerminal>,
    /// Whether the session is closed, so that no terminal is added.
    closed: bool,
}

/// A terminal that is not released. Dropping it ends the command.
#[derive(Debug)]
struct OpenTerminal {
    terminal: Arc<Terminal>,
    reader: AbortHandle,
    _permit: OwnedSemaphorePermit,
    _output: Option<OwnedSemaphorePermit>,
}

impl Terminals {
    /// Runs commands within `roots`, in the first of them unless the agent names a directory.
    ///
    /// The names are resolved now.
    pub fn new(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self::within(Arc::new(Roots::new(roots)))
    }

    pub(crate) fn within(roots: Arc<Roots>) -> Self {
        Self {
            roots,
            live: Mutex::default(),
            released: Mutex::new(ReleasedOutputs::new(RELEASED_LIMIT)),
            limit: LIMIT,
            free: Arc::new(Semaphore::new(LIMIT)),
            ids: Arc::default(),
            output_limit: OUTPUT_LIMIT,
            output_maximum: OUTPUT_MAXIMUM,
            output_total: Arc::new(Semaphore::new(OUTPUT_TOTAL / UNIT)),
        }
    }

    /// Takes the numbers in the ids of its terminals from `ids`.
    pub(crate) fn numbered_by(&mut self, ids: &Arc<AtomicU64>) {
        self.ids = ids.clone();
    }

    /// Sets the limit of unreleased terminals (default 64).
    #[must_use]
    pub fn limit(mut self, terminals: usize) -> Self {
        self.limit = terminals.min(Semaphore::MAX_PERMITS);
        self.free = Arc::new(Semaphore::new(self.limit));
        self
    }

    /// Sets the limit of the output of all unreleased terminals together, in bytes (default 32 MiB). A terminal that is created
    /// when no space is left keeps the last 64 KiB.
    #[must_use]
    pub fn output_total(mut self, bytes: usize) -> Self {
        self.output_total = Arc::new(Semaphore::new((bytes / UNIT).min(Semaphore::MAX_PERMITS)));
        self
    }

    /// Sets the limit of the output of all released terminals, in bytes (default 4 MiB). It can be [shown](Self::shown)
    /// to users; the agent cannot read it.
    #[must_use]
    pub fn released_limit(mut self, bytes: usize) -> Self {
        self.released = Mutex::new(ReleasedOutputs::new(bytes));
        self
    }

    /// Returns the output of a terminal for a view, such as of a tool call: the same as [`output`](Self::output), also after the
    /// release. `None` for an unknown terminal, or if the output was dropped over the limit.
    pub fn shown(&self, id: &TerminalId) -> Option<TerminalOutputResponse> {
        match self.terminal(id) {
            Ok(terminal) => Some(terminal.output()),
            Err(_) => self.released().output(id).map(|(output, _)| output.clone()),
        }
    }

    /// `terminal/create`: starts a command, and does not wait for it.
    ///
    /// With arguments the command is a program. Without arguments it may be a line for a shell, which many agents send. `sh -c`
    /// (on Windows `cmd /C`) runs it if it has a special character, such as a space or a pipe, and is not the path of a file.
    ///
    /// # Errors
    ///
    /// "Invalid params" for a directory that is relative or outside, and for a variable with an invalid name. "Resource
    /// not found" for a program or directory that does not exist, and when the session was closed in
    /// [`Workspaces`](crate::Workspaces). "Internal error" when the limit of terminals is reached, or the system
    /// refuses to start the program. Each names the cause.
    pub async fn create(&self, request: &CreateTerminalRequest) -> Result<CreateTerminalResponse, Error> {
        let runtime = Handle::try_current().map_err(Error::internal_error)?;
        let Ok(permit) = self.free.clone().try_acquire_owned() else {
            let why =
                format!("this session has {0} terminals, and {0} is the limit; release one", self.limit);
            return Err(Error::internal_error(why));
        };
        let directory = self.directory(request.cwd.as_deref())?;
        let command = command::of(request, &directory)?;
        let wanted = request.output_byte_limit.and_then(|bytes| usize::try_from(bytes).ok());
        let kept = match request.output_byte_limit {
            Some(_) => wanted.unwrap_or(usize::MAX),
            None => self.output_limit,
        };
        let (kept, output) = self.keep_output(kept.min(self.output_maximum));
        let (terminal, source) =
            Terminal::spawn(command, kept).map_err(|error| command::refused(&request.command, &error))?;
        let terminal = Arc::new(terminal);
        let reader = runtime.spawn(terminal::read(terminal.clone(), source)).abort_handle();
        let id = TerminalId::from(format!("terminal-{}", self.ids.fetch_add(1, Ordering::Relaxed) + 1));
        let live = OpenTerminal { terminal, reader, _permit: permit, _output: output };
        // The session may have been closed while the command was started.
        if self.add(id.clone(), live) { Ok(CreateTerminalResponse::new(id)) } else { Err(closed()) }
    }

    /// `terminal/output`: returns the command's output so far, or the end of it, and how the command ended if it has.
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD; a character that arrives in two pieces is one character. When
    /// the command has ended, all of its own output is included.
    ///
    /// # Errors
    ///
    /// "Resource not found" for an unknown terminal.
    pub async fn output(&self, request: &TerminalOutputRequest) -> Result<TerminalOutputResponse, Error> {
        Ok(self.terminal(&request.terminal_id)?.output())
    }

    /// `terminal/wait_for_exit`: waits until the command has ended, and returns how.
    ///
    /// # Errors
    ///
    /// "Resource not found" for an unknown terminal. A release during the wait ends the command, and the wait returns.
    pub async fn wait_for_exit(
        &self,
        request: &WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        let exit = self.terminal(&request.terminal_id)?.exit();
        Ok(exit.await.into())
    }

    /// `terminal/kill`: kills the command and all that it started. Its output stays. Nothing happens if it has
    /// ended.
    ///
    /// # Errors
    ///
    /// "Resource not found" for an unknown terminal.
    pub async fn kill(&self, request: &KillTerminalRequest) -> Result<KillTerminalResponse, Error> {
        let terminal = self.terminal(&request.terminal_id)?;
        terminal.kill().await;
        Ok(KillTerminalResponse::new())
    }

    /// `terminal/release`: kills the command and the processes that it started, if they still run, and removes the
    /// terminal. Its output can still be [shown](Self::shown).
    ///
    /// # Errors
    ///
    /// "Resource not found" for an unknown terminal.
    pub async fn release(&self, request: &ReleaseTerminalRequest) -> Result<ReleaseTerminalResponse, Error> {
        let id = &request.terminal_id;
        let live = self.take(id).ok_or_else(|| unknown(id))?;
        live.terminal.kill().await;
        self.released().keep(id, live.terminal.last_output());
        Ok(ReleaseTerminalResponse::new())
    }

    /// Releases all terminals. Others may be created.
    pub async fn release_all(&self) {
        let all: Vec<_> = self.live().terminals.drain().collect();
        for (_, live) in &all {
            live.terminal.signal();
        }
        for (id, live) in all {
            live.terminal.kill().await;
            self.released().keep(&id, live.terminal.last_output());
        }
    }

    /// Closes the session: releases all terminals, and refuses new ones.
    pub(crate) async fn close(&self) {
        self.live().closed = true;
        self.release_all().await;
    }

    /// Closes the session as [`close`](Self::close) does, but blocks until the commands' processes are killed.
    pub(crate) fn end(&self) {
        let all =
            std::mem::replace(&mut *self.live(), OpenTerminals { terminals: HashMap::new(), closed: true });
        let all = all.terminals;
        all.values().for_each(|live| live.terminal.signal());
    }

    /// Reserves output for a new terminal. Returns its limit, and the permits for its share of the session's limit.
    fn keep_output(&self, wanted: usize) -> (usize, Option<OwnedSemaphorePermit>) {
        let units = wanted.div_ceil(UNIT).min(self.output_total.available_permits());
        let permit = u32::try_from(units)
            .ok()
            .and_then(|units| self.output_total.clone().try_acquire_many_owned(units).ok());
        let kept = if permit.is_some() { units * UNIT } else { 0 };
        (wanted.min(kept.max(OUTPUT_LEAST)), permit)
    }

    /// Adds a terminal, unless the session is closed: then the command ends.
    fn add(&self, id: TerminalId, live: OpenTerminal) -> bool {
        let mut lives = self.live();
        if !lives.closed {
            lives.terminals.insert(id, live);
            return true;
        }
        // Ending it blocks, and others need not wait for that.
        drop(lives);
        false
    }

    /// Removes a terminal for the agent. Its output can still be shown.
    fn take(&self, id: &TerminalId) -> Option<OpenTerminal> {
        let mut lives = self.live();
        let live = lives.terminals.remove(id)?;
        self.released().keep(id, live.terminal.last_output());
        Some(live)
    }

    fn released(&self) -> MutexGuard<'_, ReleasedOutputs> {
        self.released.lock()
    }

    fn terminal(&self, id: &TerminalId) -> Result<Arc<Terminal>, Error> {
        self.live().terminals.get(id).map(|live| live.terminal.clone()).ok_or_else(|| unknown(id))
    }

    fn live(&self) -> MutexGuard<'_, OpenTerminals> {
        self.live.lock()
    }

    /// Returns the directory to start in.
    fn directory(&self, wanted: Option<&Path>) -> Result<PathBuf, Error> {
        let directory = wanted.or(self.roots.first());
        let directory = directory
            .ok_or_else(|| Error::invalid_params("the session has no directory to run commands in"))?;
        let shown = directory.display();
        if !directory.is_absolute() {
            return Err(Error::invalid_params(format_args!(
                "{shown}: cwd is relative, and must be absolute"
            )));
        }
        let outside = || {
            let rule = "cwd is outside the directories of the session";
            Err(Error::invalid_params(format_args!("{shown}: {rule}")))
        };
        match directory.canonicalize() {
            Ok(real) if !self.roots.contain(&real) => outside(),
            Ok(real) if !real.is_dir() => {
                Err(Error::invalid_params(format_args!("{shown}: cwd is not a directory")))
            }
            Ok(_) => Ok(directory.to_owned()),
            Err(_) if !self.roots.seem_to_contain(directory) => outside(),
            Err(_) => Err(Error::new(RESOURCE_NOT_FOUND, format!("{shown}: there is no such directory"))),
        }
    }
}

impl Drop for OpenTerminal {
    fn drop(&mut self) {
        self.terminal.end();
        self.reader.abort();
    }
}

fn closed() -> Error {
    Error::new(RESOURCE_NOT_FOUND, "the session of these terminals is closed")
}

fn unknown(id: &TerminalId) -> Error {
    Error::new(RESOURCE_NOT_FOUND, format!("there is no terminal {id:?}: it never was, or it is released"))
}
