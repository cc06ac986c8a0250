//! The files and terminals of each session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use agentwire_acp_schema::v1::error_code::RESOURCE_NOT_FOUND;
use agentwire_acp_schema::v1::{
    ClientCapabilities, CreateTerminalRequest, CreateTerminalResponse, FileSystemCapabilities,
    KillTerminalRequest, KillTerminalResponse, LoadSessionRequest, NewSessionRequest, ReadTextFileRequest,
    ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse, ResumeSessionRequest, SessionId,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agentwire_jsonrpc::ErrorObject as Error;
use agentwire_sync::{Mutex, MutexGuard};

use crate::path_pattern::{CaseSensitivity, InvalidPattern, PathPattern};
use crate::roots::Roots;
use crate::{Buffers, Files, Terminals};

/// The files and terminals of one session.
///
/// ```
/// use agentwire_acp_toolkit::{Files, Terminals, Workspace};
///
/// let workspace = Workspace::new("/repo", ["/notes"]);
/// let small = Workspace::from_parts(Files::new(["/repo"]).limit(1 << 20), Terminals::new(["/repo"]).limit(4));
/// # let _ = (workspace, small);
/// ```
#[derive(Debug)]
pub struct Workspace {
    files: Files,
    terminals: Terminals,
}

impl Workspace {
    /// Works in `cwd` and the directories beside it, with default limits.
    pub fn new(
        cwd: impl Into<PathBuf>,
        additional_directories: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Self {
        let directories = additional_directories.into_iter().map(Into::into);
        let roots = Arc::new(Roots::new(std::iter::once(cwd.into()).chain(directories)));
        Self { files: Files::within(roots.clone()), terminals: Terminals::within(roots) }
    }

    /// Makes a workspace of files and terminals that have their own limits and directories.
    pub fn from_parts(files: Files, terminals: Terminals) -> Self {
        Self { files, terminals }
    }

    /// Returns the files.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the terminals.
    pub fn terminals(&self) -> &Terminals {
        &self.terminals
    }
}

impl From<&NewSessionRequest> for Workspace {
    fn from(request: &NewSessionRequest) -> Self {
        Self::new(&request.cwd, &request.additional_directories)
    }
}

impl From<&LoadSessionRequest> for Workspace {
    fn from(request: &LoadSessionRequest) -> Self {
        Self::new(&request.cwd, &request.additional_directories)
    }
}

impl From<&ResumeSessionRequest> for Workspace {
    fn from(request: &ResumeSessionRequest) -> Self {
        Self::new(&request.cwd, &request.additional_directories)
    }
}

/// The workspaces of all sessions of a connection. A request is served by the workspace of its session.
///
/// Clones are handles on the same workspaces, so that one can be part of a `Client` and another can open sessions. The
/// methods are named as those of `Client`, and call those of [`Files`] and [`Terminals`]. A session that is not open is
/// "resource not found".
///
/// The ids of terminals are unique among all sessions.
///
/// ```
/// use agentwire_acp_client::{Client, Context, Error};
/// use agentwire_acp_schema::v1::*;
/// use agentwire_acp_toolkit::Workspaces;
///
/// struct Reader(Workspaces);
///
/// impl Client for Reader {
///     fn session_update(&self, _: SessionNotification) {}
///     async fn request_permission(
///         &self,
///         _: RequestPermissionRequest,
///         _: Context,
///     ) -> Result<RequestPermissionResponse, Error> {
///         Ok(RequestPermissionResponse::cancelled())
///     }
///     async fn read_text_file(&self, req: ReadTextFileRequest, _: Context) -> Result<ReadTextFileResponse, Error> {
///         self.0.read_text_file(req).await
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Workspaces {
    shared: Arc<Shared>,
    denied: Vec<PathPattern>,
}

#[derive(Debug)]
struct Shared {
    buffers: Option<Arc<dyn Buffers>>,
    /// Its memory limit is shared by all sessions.
    files: Files,
    open: Mutex<HashMap<SessionId, Arc<Workspace>>>,
    terminal_ids: Arc<AtomicU64>,
}

impl Workspaces {
    /// Makes workspaces without any session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes workspaces without any session. In all sessions the unsaved text of an editor is used in place of the file.
    pub fn with_buffers(buffers: impl Buffers + 'static) -> Self {
        let shared = Shared { buffers: Some(Arc::new(buffers)), ..Shared::default() };
        Self { shared: Arc::new(shared), denied: Vec::new() }
    }

    /// Keeps agents out of the paths that match this pattern, such as `**/.git/**`, in the sessions that this handle and its
    /// later clones open: see [`Files::deny`]. May be called several times.
    ///
    /// # Errors
    ///
    /// Those of [`Files::deny`].
    ///
    /// ```
    /// use agentwire_acp_toolkit::{InvalidPattern, Toolkit, Unattended, Workspaces};
    ///
    /// # fn toolkit() -> Result<Toolkit<Unattended>, InvalidPattern> {
    /// let workspaces = Workspaces::new().deny("**/.git/**")?.deny("**/.env")?;
    /// // Commands are not confined, so there are none.
    /// let toolkit = Toolkit::new(Unattended).with_workspaces(workspaces).without_terminals();
    /// # Ok(toolkit)
    /// # }
    /// # toolkit().unwrap();
    /// ```
    pub fn deny(mut self, pattern: &str) -> Result<Self, InvalidPattern> {
        self.denied.push(PathPattern::new(pattern, CaseSensitivity::Insensitive)?);
        Ok(self)
    }

    /// Returns the capabilities for `initialize`: reading, writing and terminals.
    pub fn capabilities(&self) -> ClientCapabilities {
        let files = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
        ClientCapabilities::new().fs(files).terminal(true)
    }

    /// Opens the workspace of a session. The request that begins the session is enough: `open(&session.session_id,
    /// &request)`.
    ///
    /// Open it before `session/load` and `session/resume`, and as soon as `session/new` is answered. If the session
    /// has a workspace, the new one takes its place, and its terminals end.
    pub fn open(&self, session: impl Into<SessionId>, workspace: impl Into<Workspace>) {
        let mut workspace = workspace.into();
        workspace.terminals.numbered_by(&self.shared.terminal_ids);
        workspace.files.deny_all(&self.denied);
        workspace.files.default_memory(&self.shared.files);
        if let Some(buffers) = &self.shared.buffers {
            workspace.files.default_buffers(buffers);
        }
        let old = self.lock().insert(session.into(), Arc::new(workspace));
        if let Some(old) = old {
            old.terminals.end();
        }
    }

    /// Closes the workspace of a session, and ends its terminals. Remaining handles cannot create terminals. Returns whether
    /// the workspace was open.
    pub async fn close(&self, session: &SessionId) -> bool {
        let workspace = self.lock().remove(session);
        match workspace {
            Some(workspace) => {
                workspace.terminals.close().await;
                true
            }
            None => false,
        }
    }

    /// Returns the workspace of a session.
    ///
    /// # Errors
    ///
    /// "Resource not found" if it is not open.
    pub fn of(&self, session: &SessionId) -> Result<Arc<Workspace>, Error> {
        let workspace = self.lock().get(session).cloned();
        workspace.ok_or_else(|| Error::new(RESOURCE_NOT_FOUND, format!("there is no session {session:?}")))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Workspace>>> {
        self.shared.open.lock()
    }
}

impl Default for Shared {
    fn default() -> Self {
        let files = Files::within(Arc::new(Roots::new(std::iter::empty::<PathBuf>())));
        Self { buffers: None, files, open: Mutex::default(), terminal_ids: Arc::default() }
    }
}

impl Workspaces {
    /// `fs/write_text_file`, in the workspace of the session.
    ///
    /// # Errors
    ///
    /// Those of the workspace, and "resource not found" for a session that is not open.
    pub async fn write_text_file(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, Error> {
        // The text is passed on without a copy, since it may be as long as a message.
        self.of(&request.session_id)?.files.write_text(&request.path, request.content).await
    }
}

/// Passes requests to the part of the workspace that answers them.
macro_rules! pass {
    ($($method:ident($request:ident) -> $response:ident = $part:ident.$answer:ident, $wire:literal;)+) => {
        impl Workspaces {$(
            #[doc = concat!("`", $wire, "`, in the workspace of the session.")]
            ///
            /// # Errors
            ///
            /// Those of the workspace, and "resource not found" for a session that is not open.
            pub async fn $method(&self, request: $request) -> Result<$response, Error> {
                self.of(&request.session_id)?.$part.$answer(&request).await
            }
        )+}
    };
}

pass! {
    read_text_file(ReadTextFileRequest) -> ReadTextFileResponse = files.read, "fs/read_text_file";
    create_terminal(CreateTerminalRequest) -> CreateTerminalResponse = terminals.create, "terminal/create";
    terminal_output(TerminalOutputRequest) -> TerminalOutputResponse = terminals.output, "terminal/output";
    wait_for_terminal_exit(WaitForTerminalExitRequest) -> WaitForTerminalExitResponse
        = terminals.wait_for_exit, "terminal/wait_for_exit";
    kill_terminal(KillTerminalRequest) -> KillTerminalResponse = terminals.kill, "terminal/kill";
    release_terminal(ReleaseTerminalRequest) -> ReleaseTerminalResponse = terminals.release, "terminal/release";
}
