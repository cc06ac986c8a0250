//! The directory of a store.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use super::disk::Disk;
use super::name::Kind;
#[cfg(not(unix))]
use super::other_disk::Disk;
use super::system::{Access, FileSystem, LockFile, RawFile, Version};
use crate::StoreError;

/// A directory, whose operations report errors with the path of the file.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    system: Box<dyn FileSystem>,
}

impl Directory {
    /// Opens a directory, and creates it where there is none.
    pub(super) fn create(path: &Path) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        create(&path)?;
        Self::open(&path)
    }

    /// Opens a directory that exists.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotPrivate`] where other users may create files in it.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        match Disk::open(&path).map_err(failed("open", &path))? {
            Ok(disk) => Ok(Self { path, system: Box::new(disk) }),
            Err(reason) => Err(StoreError::NotPrivate { directory: path, reason }),
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
    pub(super) fn file(&self, stem: &str, kind: Kind) -> PathBuf {
        self.path.join(kind.of(stem))
    }

    /// Returns the names of the files.
    pub(super) fn list(&self) -> Result<Vec<String>, StoreError> {
        self.system.list().map_err(failed("list", &self.path))
    }

    /// See [`FileSystem::version`]. Returns none where there is no such file.
    pub(super) fn version(&self, stem: &str, kind: Kind) -> Result<Option<Version>, StoreError> {
        match self.system.version(&kind.of(stem)) {
            Ok(version) => Ok(Some(version)),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(failed("find", &self.file(stem, kind))(source)),
        }
    }

    /// Opens a file. The error is that of the operating system.
    pub(super) fn open_file(&self, stem: &str, kind: Kind, access: Access) -> io::Result<Box<dyn RawFile>> {
        self.system.open(&kind.of(stem), access)
    }

    /// Renames a file, within its session.
    pub(super) fn rename(&self, stem: &str, from: Kind, to: Kind) -> io::Result<()> {
        self.system.rename(&from.of(stem), &to.of(stem))
    }

    /// Removes a file. Returns whether there was one.
    pub(super) fn remove(&self, stem: &str, kind: Kind) -> Result<bool, StoreError> {
        match self.system.remove(&kind.of(stem)) {
            Ok(()) => Ok(true),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(failed("remove", &self.file(stem, kind))(source)),
        }
    }

    /// Makes created, renamed and removed files durable.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.system.sync().map_err(failed("sync", &self.path))
    }

    /// See [`FileSystem::lock`].
    pub(super) fn lock(&self, stem: &str) -> Result<Option<Box<dyn LockFile>>, StoreError> {
        self.system.lock(&Kind::Lock.of(stem)).map_err(failed("lock", &self.file(stem, Kind::Lock)))
    }
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(failed("find", path))
}

/// Creates a directory that only this user may enter, and its missing parents.
fn create(path: &Path) -> Result<(), StoreError> {
    let missing: Vec<_> = path.ancestors().take_while(|directory| !directory.exists()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(failed("create", path))?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_parent)
}

/// Makes the creation of a directory in this one durable.
#[cfg(unix)]
fn sync_parent(path: &Path) -> Result<(), StoreError> {
    std::fs::File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("sync", path))
}

#[cfg(not(unix))]
fn sync_parent(_path: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Returns the error of a failed operation on a file.
pub(super) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |source| StoreError::Io { action, path, source }
}
