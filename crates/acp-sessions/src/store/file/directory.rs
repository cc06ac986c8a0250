//! The directory of a store: its lock, and the files in it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use fs4::TryLockError;

use super::name::Kind;
use crate::StoreError;

/// A directory that is ours alone until this is dropped, or the process ends.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    lock: File,
}

impl Directory {
    /// Creates the directory where there is none, and locks it.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let path = std::path::absolute(path).map_err(failed("find", path))?;
        create(&path)?;
        let lock_file = path.join("lock");
        let lock = create_options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock_file)
            .map_err(failed("open", &lock_file))?;
        // Named in full, as newer standard libraries have a method of this name, which we may not use yet.
        match fs4::FileExt::try_lock(&lock) {
            Ok(()) => Ok(Self { path, lock }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { directory: path }),
            Err(TryLockError::Error(source)) => Err(failed("lock", &lock_file)(source)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where this file of the session with this stem is.
    pub(super) fn file(&self, stem: &str, kind: Kind) -> PathBuf {
        self.path.join(kind.of(stem))
    }

    /// Makes durable which files there are.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        sync_directory(&self.path)
    }
}

/// Unlocks at once, although a program that is just being started by another thread may still hold a copy of the
/// file.
impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs4::FileExt::unlock(&self.lock);
    }
}

/// Creates a directory that only we may enter, and those above it that are missing.
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
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_directory)
}

/// Makes durable what was created, renamed and removed in a directory.
#[cfg(unix)]
fn sync_directory(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("sync", path))
}

/// Directories cannot be synced here; what their entries need, the file system does by itself.
#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Options for files that only we may read.
pub(super) fn create_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Removes a file. That there is none is as good.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(source)),
        _ => Ok(()),
    }
}

/// The error of something that was to be done to a file.
pub(super) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { action, path, source }
}
