//! Locks between processes, on files that stay.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::RegistryError;

/// How long an operation waits for that of another process.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two attempts. The system has no lock that can be awaited.
const PAUSE: Duration = Duration::from_millis(50);

/// Keeps the folder of an installed agent from being removed. Hold it while the agent runs.
///
/// The system releases it when this process ends.
#[derive(Debug)]
pub struct FolderGuard(#[expect(dead_code, reason = "held until it is dropped")] FileLock);

impl FolderGuard {
    /// Locks a folder for use. None while it is being removed.
    pub(super) fn acquire(path: &Path) -> io::Result<Option<Self>> {
        Ok(FileLock::acquire(path, false)?.map(Self))
    }
}

/// A locked file.
#[derive(Debug)]
pub(super) struct FileLock(File);

impl FileLock {
    /// Locks a file alone. None while another one has it.
    pub(super) fn alone(path: &Path) -> io::Result<Option<Self>> {
        Self::acquire(path, true)
    }

    /// Waits up to [`TIMEOUT`] until the file is locked alone.
    pub(super) async fn wait(path: &Path, id: &str) -> Result<Self, RegistryError> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(lock) = Self::alone(path).map_err(RegistryError::file(path))? {
                return Ok(lock);
            }
            if Instant::now() >= deadline {
                return Err(RegistryError::Busy(id.to_owned()));
            }
            sleep(PAUSE).await;
        }
    }

    fn acquire(path: &Path, alone: bool) -> io::Result<Option<Self>> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        Ok(try_lock(&file, alone)?.then_some(Self(file)))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        let _released = unlock(&self.0);
    }
}

#[cfg(unix)]
fn try_lock(file: &File, alone: bool) -> io::Result<bool> {
    use rustix::fs::FlockOperation;
    let operation = match alone {
        true => FlockOperation::NonBlockingLockExclusive,
        false => FlockOperation::NonBlockingLockShared,
    };
    match rustix::fs::flock(file, operation) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(unix)]
fn unlock(file: &File) -> io::Result<()> {
    Ok(rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock)?)
}

#[cfg(not(unix))]
fn try_lock(file: &File, alone: bool) -> io::Result<bool> {
    let locked = if alone { fs4::FileExt::try_lock(file) } else { fs4::FileExt::try_lock_shared(file) };
    match locked {
        Ok(()) => Ok(true),
        Err(fs4::TryLockError::WouldBlock) => Ok(false),
        Err(fs4::TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(not(unix))]
fn unlock(file: &File) -> io::Result<()> {
    fs4::FileExt::unlock(file)
}
