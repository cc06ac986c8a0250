//! Locks between processes.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use agentwire_files::{FileSystem as _, LockFile, Privacy, PrivateDir};
use agentwire_sync::Backoff;

/// The pauses between two attempts: 5 ms at first, up to 100 ms.
const BACKOFF: Backoff = Backoff::new(u32::MAX).pauses(Duration::from_millis(5), Duration::from_millis(100));

/// The locked file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) name: OsString,
}

/// A lock, released when it is dropped and when the process ends.
///
/// Who waits for it holds `NAME.next` first. So the one who holds that is the next owner however seldom it looks, and an owner
/// that takes the lock again and again cannot starve it.
#[derive(Debug)]
pub(super) struct FileLock(#[expect(dead_code, reason = "held until it is dropped")] Box<dyn LockFile>);

impl FileLock {
    /// Waits for the lock without blocking a thread. Dropping the future gives it up.
    pub(super) async fn acquire(place: Place) -> io::Result<Self> {
        let mut next = place.clone();
        next.name.push(".next");
        let _next = poll(next).await?;
        Ok(Self(poll(place).await?))
    }
}

/// Tries until the file is locked. The system has no lock that can be awaited.
async fn poll(place: Place) -> io::Result<Box<dyn LockFile>> {
    let mut failures = 0;
    loop {
        let attempt = place.clone();
        // A lock that is taken after the caller was dropped is released with the task's result.
        let attempt =
            move || PrivateDir::create(&attempt.folder, Privacy::OwnerOnly)?.try_lock(&attempt.name);
        if let Some(lock) = blocking(attempt).await?? {
            return Ok(lock);
        }
        tokio::time::sleep(BACKOFF.pause(failures).unwrap_or_default()).await;
        failures += 1;
    }
}

/// Runs file operations on a thread that may block. They finish even if the caller is dropped.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
}
