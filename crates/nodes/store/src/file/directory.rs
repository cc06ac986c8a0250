//! The directory of a store, which one process uses at a time.

use std::io;
use std::path::Path;

use agentwire_files::{FileSystem, LockFile, Privacy, PrivateDir};

/// A directory that this process has locked. It is unlocked when this is dropped.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) files: Box<dyn FileSystem>,
    #[expect(dead_code, reason = "held until it is dropped")]
    lock: Box<dyn LockFile>,
}

impl Directory {
    /// Opens and locks a directory, and creates it if it does not exist.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let files = PrivateDir::create(path, Privacy::OthersMayRead)?;
        let lock = files.try_lock("lock".as_ref())?;
        let lock = lock.ok_or_else(|| io::Error::other("another process uses the directory"))?;
        Ok(Self { files: Box::new(files), lock })
    }
}
