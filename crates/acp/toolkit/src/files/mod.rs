//! Reads and writes text files below the directories of a session.

mod buffers;
mod error;
mod lines;
#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod replace;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod walk;

#[cfg(not(unix))]
use portable as system;
#[cfg(unix)]
use unix as system;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use agentwire_jsonrpc::{DEFAULT_LINE_LIMIT, ErrorObject as Error};
use agentwire_wire_derive::Build;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use buffers::{BufferFuture, Buffers};

use crate::path_pattern::{CaseSensitivity, InvalidPattern, PathPattern};
use crate::roots::Roots;
use error::FileError;
use lines::Lines;

/// The default limit of a file that is read: 64 MiB.
const LIMIT: u64 = 64 * 1024 * 1024;

/// The default limit of a text as JSON: the default limit of a line, less 64 KiB for the message around the text.
const ANSWER_LIMIT: u64 = DEFAULT_LINE_LIMIT as u64 - 64 * 1024;

/// The default limit of the texts of files that wait to be answered: 32 MiB.
const MEMORY_LIMIT: u64 = 32 * 1024 * 1024;

/// How many bytes of memory one permit allows.
const UNIT: u64 = 1024;

/// Serves `fs/read_text_file` and `fs/write_text_file` for text files below some directories.
///
/// A path is followed component by component. Each is opened within the one before and never through a link, so `..`,
/// links and concurrent changes cannot lead outside. Links within the directories, or from one to another, work as usual.
/// On Windows, which has no `openat`, the path is resolved and checked before it is opened; a change between the two is
/// not noticed.
///
/// The agent can access everything below the directories without asking for permission, except the paths that
/// [`deny`](Self::deny) excludes.
///
/// If the editor has unsaved text, the buffer is read and written in place of the file: see [`buffers`](Self::buffers).
///
/// Calls run on the runtime's threads for blocking work. Dropping the future of a call does not stop the call, so a
/// file is never left half written.
///
/// # Errors
///
/// | code | when |
/// |---|---|
/// | invalid params | the path is relative, leads outside, is [denied](Self::deny), or names a directory, a pipe, a device, a socket; the file is not UTF-8, or larger than the limit; the answer is over its limit |
/// | resource not found | reading a file that does not exist |
/// | internal error | the operating system refuses: permissions, a full disk |
///
/// Each error names the path and the rule. Errors do not reveal whether a file exists outside the directories.
///
/// See <https://agentclientprotocol.com/protocol/v1/file-system>.
///
/// ```
/// use agentwire_acp_schema::v1::ReadTextFileRequest;
/// use agentwire_acp_toolkit::Files;
///
/// # async fn run() {
/// let files = Files::new(["/repo"]).limit(1 << 20);
/// let outside = files.read(&ReadTextFileRequest::new("session-1", "/repo/../etc/passwd")).await;
/// assert!(outside.is_err_and(|error| error.message.contains("/etc/passwd")));
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(run());
/// ```
#[derive(Clone, Debug, Build)]
pub struct Files {
    roots: Arc<Roots>,
    /// Sets the size in bytes of the largest file to read (default 64 MiB), also if only some of its lines are requested.
    limit: u64,
    /// Sets the limit of an answer's text, as JSON in bytes (default 32 MiB less 64 KiB). The default leaves room for the rest
    /// of a line of 32 MiB. A longer text can be read some lines at a time.
    answer_limit: u64,
    /// Permits for the text in memory, each for [`UNIT`] bytes. `memory_limit` is their number.
    #[build(skip)]
    memory: Arc<Semaphore>,
    memory_limit: u32,
    /// Sets the buffers with unsaved text (default none), which are read and written in place of the files.
    #[build(dynamic)]
    buffers: Option<Arc<dyn Buffers>>,
}

impl Files {
    /// Serves files below `roots`, by these paths and by their paths without links.
    ///
    /// The paths are resolved now. A directory that does not exist may be created later.
    pub fn new(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self::within(Arc::new(Roots::new(roots)))
    }

    pub(crate) fn within(roots: Arc<Roots>) -> Self {
        let (memory, memory_limit) = memory(MEMORY_LIMIT);
        Self { roots, limit: LIMIT, answer_limit: ANSWER_LIMIT, memory, memory_limit, buffers: None }
    }

    /// Keeps the agent out of the paths that match this pattern, such as `**/.git/**` (the folder and all that is in it) or
    /// `**/.env`. May be called several times.
    ///
    /// The syntax is that of [`PermissionRule::path`](crate::PermissionRule::path). Letters match in either case. A pattern is
    /// compared with each component on the way and with the target of each link. A hard link gives a denied file another
    /// name, which is not detected. Commands are not confined at all: see [`Terminals`](crate::Terminals).
    ///
    /// # Errors
    ///
    /// If the pattern can match no absolute path, or is too long.
    ///
    /// ```
    /// use agentwire_acp_schema::v1::ReadTextFileRequest;
    /// use agentwire_acp_toolkit::Files;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let files = Files::new(["/repo"]).deny("**/.git/**")?;
    /// let refused = files.read(&ReadTextFileRequest::new("session-1", "/repo/.git/config")).await;
    /// assert!(refused.is_err());
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(run()).unwrap();
    /// ```
    pub fn deny(mut self, pattern: &str) -> Result<Self, InvalidPattern> {
        self.deny_all(&[PathPattern::new(pattern, CaseSensitivity::Insensitive)?]);
        Ok(self)
    }

    pub(crate) fn deny_all(&mut self, patterns: &[PathPattern]) {
        let roots = Arc::make_mut(&mut self.roots);
        patterns.iter().cloned().for_each(|pattern| roots.deny(pattern));
    }

    /// Sets how many bytes of files may be in memory until they are answered (default 32 MiB). Over the limit a read waits for
    /// others to end. A file over the limit is read alone.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        (self.memory, self.memory_limit) = memory(bytes);
        self
    }

    /// Sets the buffers, unless they were set.
    pub(crate) fn default_buffers(&mut self, buffers: &Arc<dyn Buffers>) {
        self.buffers.get_or_insert_with(|| buffers.clone());
    }

    /// Shares the memory limit with the files of other sessions, unless another limit was set.
    pub(crate) fn default_memory(&mut self, files: &Files) {
        if self.memory_limit == files.memory_limit {
            self.memory = files.memory.clone();
        }
    }

    /// `fs/read_text_file`: returns the text, or some lines of it.
    ///
    /// A line includes its `\n`, and a `\r` before it; nothing is converted. Lines count from 1, and 0 means 1. Beyond the last
    /// line the text is empty.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn read(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
        let (line, wanted, path) = (request.line, request.limit, &request.path);
        if let Some((buffers, place)) = self.buffer(path).await?
            && let Some(text) = buffers.text(&place).await
        {
            let mut lines = Lines::new(line, wanted, text.len() as u64, self.answer_limit);
            lines.push(&text);
            return Ok(ReadTextFileResponse::new(lines.finish().map_err(|error| error.of(path))?));
        }
        let (files, wanted_path) = (self.clone(), path.clone());
        let opened = blocking(path, move || {
            let file = system::open(&files.roots, absolute(&wanted_path)?, Ok)?;
            let size = file.metadata()?.len();
            let open = OpenFile { files, file, size, line, wanted };
            match open.try_memory() {
                Some(memory) => open.read(memory).map(Ok),
                None => Ok(Err(open)),
            }
        });
        // The permits are held until the answer is made, so many concurrent requests hold few files in memory.
        let (text, _memory) = match opened.await? {
            Ok(read) => read,
            Err(open) => {
                let memory = open.memory().await;
                blocking(path, move || open.read(memory)).await?
            }
        };
        Ok(ReadTextFileResponse::new(text))
    }

    /// `fs/write_text_file`: replaces the text of the file. Creates the file and its parent directories if they are missing.
    ///
    /// The text is written to a new file beside the old one, which it then replaces, with the permissions of the old one. A
    /// concurrent reader sees either text as a whole, and a full disk leaves the old one. A link is followed, not replaced.
    ///
    /// The old file is overwritten in place if a replacement would change more than the text or is impossible: the file has
    /// several names, another owner, or access lists and other attributes (checked on Linux), or its directory admits no
    /// new files.
    ///
    /// # Errors
    ///
    /// As described for the [type](Self).
    pub async fn write(&self, request: &WriteTextFileRequest) -> Result<WriteTextFileResponse, Error> {
        self.write_text(&request.path, request.content.clone()).await
    }

    pub(crate) async fn write_text(&self, path: &Path, text: String) -> Result<WriteTextFileResponse, Error> {
        if let Some((buffers, place)) = self.buffer(path).await?
            && buffers.replace(&place, &text).await
        {
            return Ok(WriteTextFileResponse::new());
        }
        let (files, wanted) = (self.clone(), path.to_owned());
        blocking(path, move || system::write(&files.roots, absolute(&wanted)?, &text)).await?;
        Ok(WriteTextFileResponse::new())
    }

    /// Returns the buffers, and the path without links that they use for the file. `None` without buffers, or if no file can
    /// be at the path.
    async fn buffer(&self, path: &Path) -> Result<Option<(&dyn Buffers, PathBuf)>, Error> {
        let Some(buffers) = &self.buffers else { return Ok(None) };
        let (roots, wanted) = (self.roots.clone(), path.to_owned());
        let resolved = blocking(path, move || match system::resolve(&roots, absolute(&wanted)?) {
            // Opening the file reports a missing directory or a path that is not a file.
            Err(FileError::Missing | FileError::NotRegular | FileError::Directory) => Ok(None),
            result => result.map(Some),
        });
        Ok(resolved.await?.map(|path| (&**buffers, path)))
    }
}

/// A regular file that is open for reading.
struct OpenFile {
    files: Files,
    file: File,
    /// The size. The file may grow while it is read, and files of `/proc` report 0.
    size: u64,
    line: Option<u32>,
    wanted: Option<u32>,
}

impl OpenFile {
    /// Returns how many permits the text needs.
    fn units(&self) -> u32 {
        let bytes = self.size.min(self.files.answer_limit);
        u32::try_from(bytes / UNIT + 1).unwrap_or(u32::MAX).min(self.files.memory_limit)
    }

    fn try_memory(&self) -> Option<OwnedSemaphorePermit> {
        self.files.memory.clone().try_acquire_many_owned(self.units()).ok()
    }

    async fn memory(&self) -> OwnedSemaphorePermit {
        let memory = self.files.memory.clone().acquire_many_owned(self.units());
        memory.await.expect("the semaphore is never closed")
    }

    /// Returns the requested lines, with the permits for their memory.
    fn read(self, memory: OwnedSemaphorePermit) -> Result<(String, OwnedSemaphorePermit), FileError> {
        let Self { files, file, size, line, wanted } = self;
        if size > files.limit {
            return Err(FileError::TooLarge { limit: files.limit });
        }
        let mut lines = Lines::new(line, wanted, size, files.answer_limit);
        lines.read(file, files.limit)?;
        Ok((lines.finish()?, memory))
    }
}

/// Makes permits for this many bytes. Returns their number too.
fn memory(bytes: u64) -> (Arc<Semaphore>, u32) {
    let most = Semaphore::MAX_PERMITS.min(u32::MAX as usize);
    let units = usize::try_from(bytes / UNIT).unwrap_or(most).clamp(1, most);
    (Arc::new(Semaphore::new(units)), u32::try_from(units).unwrap_or(u32::MAX))
}

fn absolute(path: &Path) -> Result<&Path, FileError> {
    if path.is_absolute() { Ok(path) } else { Err(FileError::Relative) }
}

async fn blocking<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(call).await {
        Ok(result) => result.map_err(|error| error.of(path)),
        Err(error) => Err(Error::internal_error(error)),
    }
}
