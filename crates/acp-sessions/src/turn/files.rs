//! Files, as the client has them.

use std::path::{Component, Path, PathBuf};

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{ReadTextFileRequest, WriteTextFileRequest};

use super::{Turn, TurnError};

impl Turn {
    /// The absolute path that is meant by one which may begin at [`cwd`](Self::cwd), without `.` and `..`, if it is in one
    /// of the [roots](Self::roots); none otherwise. Only the text is looked at: what links lead to, only the client knows.
    pub fn resolve(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = plain(&self.cwd().join(path));
        self.roots().iter().any(|root| path.starts_with(plain(root))).then_some(path)
    }

    /// Reads a file of the session as the client has it, unsaved changes included. The path may begin at
    /// [`cwd`](Self::cwd).
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Over`]; [`TurnError::Call`] when the client cannot or will not, or the path
    /// leads out of the session's roots.
    pub async fn read_text_file(&self, path: impl AsRef<Path>) -> Result<String, TurnError> {
        let path = self.inside("fs/read_text_file", path.as_ref())?;
        let request = ReadTextFileRequest::new(self.session_id(), path);
        Ok(self.unless_cancelled(self.client().read_text_file(request)).await??.content)
    }

    /// Writes a file of the session through the client, which makes it if it is not there. The path may begin at
    /// [`cwd`](Self::cwd).
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](Self::read_text_file).
    pub async fn write_text_file(
        &self,
        path: impl AsRef<Path>,
        content: impl Into<String>,
    ) -> Result<(), TurnError> {
        let path = self.inside("fs/write_text_file", path.as_ref())?;
        let request = WriteTextFileRequest::new(self.session_id(), path, content);
        self.unless_cancelled(self.client().write_text_file(request)).await??;
        Ok(())
    }

    fn inside(&self, method: &'static str, path: &Path) -> Result<PathBuf, CallError> {
        let outside =
            || CallError::not_allowed(method, format!("{path:?} is outside of the session's roots"));
        self.resolve(path).ok_or_else(outside)
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // What is above the root is the root.
            Component::ParentDir => drop(plain.pop()),
            component => plain.push(component),
        }
    }
    plain
}
