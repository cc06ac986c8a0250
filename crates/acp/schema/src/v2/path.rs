//! `AbsolutePath`: a `PathBuf` newtype for paths in the syntax of the machine of the agent.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// An absolute path in the syntax of the machine on which the agent runs; not a URI.
///
/// Constructors do not check that the path is absolute, because the other machine may use another syntax of paths.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct AbsolutePath(PathBuf);

impl AbsolutePath {
    /// Takes any path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Returns the inner path.
    pub fn into_path_buf(self) -> PathBuf {
        self.0
    }
}

impl fmt::Debug for AbsolutePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for AbsolutePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.display(), f)
    }
}

impl AsRef<Path> for AbsolutePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Borrow<Path> for AbsolutePath {
    fn borrow(&self) -> &Path {
        &self.0
    }
}

impl Deref for AbsolutePath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl From<&str> for AbsolutePath {
    fn from(path: &str) -> Self {
        Self(path.into())
    }
}

impl From<String> for AbsolutePath {
    fn from(path: String) -> Self {
        Self(path.into())
    }
}

impl From<&Path> for AbsolutePath {
    fn from(path: &Path) -> Self {
        Self(path.into())
    }
}

impl From<&PathBuf> for AbsolutePath {
    fn from(path: &PathBuf) -> Self {
        Self(path.clone())
    }
}

impl From<PathBuf> for AbsolutePath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl From<&AbsolutePath> for AbsolutePath {
    fn from(path: &AbsolutePath) -> Self {
        path.clone()
    }
}

impl From<AbsolutePath> for PathBuf {
    fn from(path: AbsolutePath) -> Self {
        path.0
    }
}
