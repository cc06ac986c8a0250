//! The operations of a private directory on systems other than Unix, which have no modes.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::{NotPrivate, Privacy, PrivateDir};
use crate::{Access, FileLock, FileSystem, LockFile, LockMode, RawFile, Version};

impl PrivateDir {
    /// Opens a directory that exists. Does not check who may write to it, because there are no modes here.
    ///
    /// # Errors
    ///
    /// The operating system's error.
    pub fn open(path: &Path, _privacy: Privacy) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        if !fs::metadata(&path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { path })
    }
}

impl FileSystem for PrivateDir {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn version(&self, name: &OsStr) -> io::Result<Option<Version>> {
        let metadata = match fs::symlink_metadata(self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, nanos) = (i128::from(modified.as_secs()), i128::from(modified.subsec_nanos()));
        Ok(Some(Version([0, i128::from(metadata.len()), seconds, nanos])))
    }

    fn open(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn RawFile>> {
        let path = self.path.join(name);
        if access != Access::Create && !fs::symlink_metadata(&path)?.is_file() {
            return Err(NotPrivate::not_regular(name));
        }
        let (write, new) = (access != Access::Read, access == Access::Create);
        Ok(Box::new(OpenOptions::new().read(true).write(write).create_new(new).open(path)?))
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &OsStr) -> io::Result<bool> {
        match fs::remove_file(self.path.join(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Does nothing: directories cannot be synced on these systems, and the file system makes their entries durable by itself.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, name: &OsStr) -> io::Result<Option<Box<dyn LockFile>>> {
        let path = self.path.join(name);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let lock = FileLock::try_acquire(file, LockMode::Exclusive)?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn LockFile>))
    }
}

/// The file is not removed, because a program cannot check on these systems whether a locked file still has its name.
impl LockFile for FileLock {}
