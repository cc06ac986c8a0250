//! The directory of a store.

use std::io;
use std::path::{Path, PathBuf};

use agentwire_files::{Access, FileSystem, LockFile, NotPrivate, Privacy, PrivateDir, RawFile, Version};

use super::name::FileKind;
use crate::StoreError;

/// The directory. Its operations report errors with the path of the file.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    system: Box<dyn FileSystem>,
}

impl Directory {
    /// Opens a directory, and creates it if it is missing.
    pub(super) fn create(path: &Path) -> Result<Self, StoreError> {
        Self::opened(path, PrivateDir::create(path, Privacy::OthersMayRead))
    }

    /// Opens a directory that exists.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotPrivate`] where other users may create files in it.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        Self::opened(path, PrivateDir::open(path, Privacy::OthersMayRead))
    }

    fn opened(path: &Path, opened: io::Result<PrivateDir>) -> Result<Self, StoreError> {
        match opened {
            Ok(directory) => Ok(Self { path: directory.path().to_owned(), system: Box::new(directory) }),
            Err(source) => Err(match NotPrivate::of(&source) {
                Some(reason) => {
                    StoreError::NotPrivate { directory: path.to_owned(), reason: reason.to_string() }
                }
                None => failed("open", path)(source),
            }),
        }
    }

    /// Returns a directory on another file system.
    #[cfg(test)]
    pub(super) fn with(path: &Path, system: Box<dyn FileSystem>) -> Self {
        Self { path: path.to_owned(), system }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of this file of the session with this stem.
    pub(super) fn file(&self, stem: &str, kind: FileKind) -> PathBuf {
        self.path.join(kind.of(stem))
    }

    /// Returns the names of the files.
    pub(super) fn list(&self) -> Result<Vec<String>, StoreError> {
        self.system.list().map_err(failed("list", &self.path))
    }

    /// See [`FileSystem::version`]. Returns `None` if there is no such file.
    pub(super) fn version(&self, stem: &str, kind: FileKind) -> Result<Option<Version>, StoreError> {
        self.system.version(kind.of(stem).as_ref()).map_err(failed("find", &self.file(stem, kind)))
    }

    /// Opens a file. The error is that of the operating system.
    pub(super) fn open_file(
        &self,
        stem: &str,
        kind: FileKind,
        access: Access,
    ) -> io::Result<Box<dyn RawFile>> {
        self.system.open(kind.of(stem).as_ref(), access)
    }

    /// Renames a file, within its session.
    pub(super) fn rename(&self, stem: &str, from: FileKind, to: FileKind) -> io::Result<()> {
        self.system.rename(from.of(stem).as_ref(), to.of(stem).as_ref())
    }

    /// Removes a file. Returns whether there was one.
    pub(super) fn remove(&self, stem: &str, kind: FileKind) -> Result<bool, StoreError> {
        self.system.remove(kind.of(stem).as_ref()).map_err(failed("remove", &self.file(stem, kind)))
    }

    /// Makes created, renamed and removed files durable.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.system.sync().map_err(failed("sync", &self.path))
    }

    /// See [`FileSystem::try_lock`].
    pub(super) fn try_lock(&self, stem: &str) -> Result<Option<Box<dyn LockFile>>, StoreError> {
        let name = FileKind::Lock.of(stem);
        self.system.try_lock(name.as_ref()).map_err(failed("lock", &self.file(stem, FileKind::Lock)))
    }
}

/// Returns the error of a failed operation on a file.
pub(super) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |source| StoreError::Io { action, path, source }
}
