//! A directory that other users cannot change. `unix.rs` has its operations on Unix, `non_unix.rs` on every other system.

#[cfg(not(unix))]
mod non_unix;
#[cfg(unix)]
mod unix;

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

/// A directory that belongs to this user and that other users cannot change. Clones share the directory.
///
/// Files in it are refused if they are links or not regular, belong to another user, or give others more access than
/// [`Privacy`] allows. New files have mode 0600. On systems other than Unix there are no modes, and the directory's access rules
/// apply.
#[derive(Clone, Debug)]
pub struct PrivateDir {
    path: PathBuf,
    #[cfg(unix)]
    privacy: Privacy,
    #[cfg(unix)]
    descriptor: std::sync::Arc<std::os::fd::OwnedFd>,
}

/// The access to files that others may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Privacy {
    /// None, as for secrets.
    OwnerOnly,
    /// Reading.
    OthersMayRead,
}

impl PrivateDir {
    /// Opens a directory. Creates it and its missing parents with mode 0700 if it does not exist.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and when the directory cannot be created.
    pub fn create(path: &Path, privacy: Privacy) -> io::Result<Self> {
        match Self::open(path, privacy) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let path = std::path::absolute(path)?;
                let missing: Vec<_> = path.ancestors().take_while(|directory| !directory.exists()).collect();
                let mut builder = DirBuilder::new();
                builder.recursive(true);
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(&path)?;
                #[cfg(unix)]
                for parent in missing.into_iter().filter_map(Path::parent) {
                    std::fs::File::open(parent)?.sync_all()?;
                }
                #[cfg(not(unix))]
                drop(missing);
                Self::open(&path, privacy)
            }
            opened => opened,
        }
    }

    /// Returns the path, which is absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Why a directory or a file is refused, with a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotPrivate(String);

impl NotPrivate {
    /// Returns the refusal that an error of this crate holds, or `None` if the operating system failed.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    fn not_regular(name: &OsStr) -> io::Error {
        Self(format!("`{}` is not a regular file", name.display())).into()
    }
}

impl From<NotPrivate> for io::Error {
    fn from(refusal: NotPrivate) -> Self {
        Self::other(refusal)
    }
}

#[cfg(all(test, unix))]
mod tests;
