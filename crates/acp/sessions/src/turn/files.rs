//! Files: those of the client in version 1, those of the agent's machine in version 2.

use std::path::{Component, Path, PathBuf};

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{ReadTextFileRequest, WriteTextFileRequest};

use super::{Turn, TurnError};

impl Turn {
    /// Resolves a path, relative to [`cwd`](Self::cwd), to an absolute path without `.` and `..`. Returns `None` if it is
    /// outside of all [roots](Self::roots). Checks only the text of the path and follows no links.
    ///
    /// ```
    /// # use agentwire_acp_sessions::Turn;
    /// # fn check(turn: &Turn) {
    /// // In a session whose only root is `/repo`.
    /// assert_eq!(turn.resolve("src/../a.txt").as_deref(), Some(std::path::Path::new("/repo/a.txt")));
    /// assert_eq!(turn.resolve("../.ssh/id_ed25519"), None);
    /// # }
    /// ```
    pub fn resolve(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = normalize(&self.cwd().join(path));
        self.roots().iter().any(|root| path.starts_with(normalize(root))).then_some(path)
    }

    /// Reads a file. The path may be relative to [`cwd`](Self::cwd).
    ///
    /// In version 1 the client reads it, unsaved changes included. Version 2 has no such method, so there the file is read
    /// from the disk of the agent's machine; symbolic links do not lead out of the session's roots.
    ///
    /// ```
    /// # use agentwire_acp_sessions::{Turn, TurnError};
    /// # async fn trim(turn: &Turn) -> Result<(), TurnError> {
    /// let text = turn.read_text_file("notes.txt").await?;
    /// turn.write_text_file("notes.txt", text.trim()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Ended`]; [`TurnError::Call`] when the client does not support it or
    /// refuses, the file cannot be read, or the path is outside of the session's roots.
    pub async fn read_text_file(&self, path: impl AsRef<Path>) -> Result<String, TurnError> {
        let path = self.in_roots("fs/read_text_file", path.as_ref())?;
        let request = ReadTextFileRequest::new(self.session_id(), path);
        Ok(self.unless_cancelled(self.0.workspace.read_text_file(request)).await??.content)
    }

    /// Writes a file, and creates it if it is missing. The path may be relative to [`cwd`](Self::cwd). The client writes
    /// it in version 1, the agent's machine in version 2.
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](Self::read_text_file).
    pub async fn write_text_file(
        &self,
        path: impl AsRef<Path>,
        content: impl Into<String>,
    ) -> Result<(), TurnError> {
        let path = self.in_roots("fs/write_text_file", path.as_ref())?;
        let request = WriteTextFileRequest::new(self.session_id(), path, content);
        self.unless_cancelled(self.0.workspace.write_text_file(request)).await??;
        Ok(())
    }

    fn in_roots(&self, method: &'static str, path: &Path) -> Result<PathBuf, CallError> {
        let outside =
            || CallError::not_allowed(method, format!("{path:?} is outside of the session's roots"));
        self.resolve(path).ok_or_else(outside)
    }
}

/// Removes `.` and `..` from a path.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // The parent of the root is the root.
            Component::ParentDir => drop(normal.pop()),
            component => normal.push(component),
        }
    }
    normal
}
