//! Locks between processes.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use agentwire_files::{FileSystem as _, LockFile, Privacy, PrivateDir};

/// The first pause between two attempts.
const MIN_PAUSE: Duration = Duration::from_millis(5);

/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// Which file is locked.
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
    let mut pause = MIN_PAUSE;
    loop {
        let attempt = place.clone();
        // A lock that is taken after the caller was dropped is released with the task's result.
        let attempt =
            move || PrivateDir::create(&attempt.folder, Privacy::OwnerOnly)?.try_lock(&attempt.name);
        if let Some(lock) = blocking(attempt).await?? {
            return Ok(lock);
        }
        tokio::time::sleep(pause.mul_f64(jitter())).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// A random factor from 0.5 to 1.
fn jitter() -> f64 {
    let random = RandomState::new().hash_one(std::process::id());
    0.5 + f64::from(random as u16) / f64::from(u16::MAX) / 2.0
}

/// Runs file operations on a thread that may block. They finish even if the caller is dropped.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
}
