//! Advisory file locks between processes. Dropping one releases it, even if a child process holds a copy of the descriptor.

use std::fs::File;
use std::io;

/// The kind of a lock, by the other locks that it excludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockMode {
    /// All other locks.
    Exclusive,
    /// Exclusive locks.
    Shared,
}

/// A lock on an open file, released when this is dropped and when the process ends.
///
/// Two files that are opened separately exclude each other, within a process as well.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Locks a file. Returns `None` if another lock excludes this one.
    pub fn try_acquire(file: File, mode: LockMode) -> io::Result<Option<Self>> {
        Ok(try_lock(&file, mode)?.then_some(Self(file)))
    }

    /// Returns the locked file.
    pub fn file(&self) -> &File {
        &self.0
    }
}

/// Unlocks explicitly. A child process that another thread is starting has a copy of the descriptor until it runs its program,
/// and the lock would last until then.
impl Drop for FileLock {
    fn drop(&mut self) {
        #[cfg(unix)]
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
        #[cfg(not(unix))]
        let _ = fs4::FileExt::unlock(&self.0);
    }
}

// The standard library's methods need a newer version than the MSRV.
#[cfg(unix)]
fn try_lock(file: &File, mode: LockMode) -> io::Result<bool> {
    use rustix::fs::FlockOperation;
    let operation = match mode {
        LockMode::Exclusive => FlockOperation::NonBlockingLockExclusive,
        LockMode::Shared => FlockOperation::NonBlockingLockShared,
    };
    match rustix::fs::flock(file, operation) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn try_lock(file: &File, mode: LockMode) -> io::Result<bool> {
    let locked = match mode {
        LockMode::Exclusive => fs4::FileExt::try_lock(file),
        LockMode::Shared => fs4::FileExt::try_lock_shared(file),
    };
    match locked {
        Ok(()) => Ok(true),
        Err(fs4::TryLockError::WouldBlock) => Ok(false),
        Err(fs4::TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_that_is_being_started_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = File::create(&path).unwrap();
        let _of_the_process = file.try_clone().unwrap();
        let try_lock = |mode| FileLock::try_acquire(File::create(&path).unwrap(), mode).unwrap();
        let lock = FileLock::try_acquire(file, LockMode::Exclusive).unwrap().unwrap();
        assert!(try_lock(LockMode::Exclusive).is_none() && try_lock(LockMode::Shared).is_none());
        drop(lock);
        let shared = try_lock(LockMode::Shared).unwrap();
        assert!(try_lock(LockMode::Exclusive).is_none());
        drop(try_lock(LockMode::Shared).unwrap());
        drop(shared);
        try_lock(LockMode::Exclusive).unwrap();
    }
}
