//! Locks between processes, on files that stay.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use agentwire_files::{FileLock, LockMode};
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
        Ok(try_lock(path, LockMode::Shared)?.map(Self))
    }
}

/// Waits up to [`TIMEOUT`] until the file is locked alone.
pub(super) async fn lock(path: &Path, id: &str) -> Result<FileLock, RegistryError> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(lock) = lock_alone(path).map_err(RegistryError::file(path))? {
            return Ok(lock);
        }
        if Instant::now() >= deadline {
            return Err(RegistryError::Busy(id.to_owned()));
        }
        sleep(PAUSE).await;
    }
}

/// Locks a file alone. None while another one has it.
pub(super) fn lock_alone(path: &Path) -> io::Result<Option<FileLock>> {
    try_lock(path, LockMode::Exclusive)
}

fn try_lock(path: &Path, mode: LockMode) -> io::Result<Option<FileLock>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    FileLock::try_acquire(file, mode)
}
