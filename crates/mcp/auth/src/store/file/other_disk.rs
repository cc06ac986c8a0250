//! The file system of a store on systems other than Unix.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use fs4::TryLockError;

/// A folder.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Opens a folder, and creates it if there is none. Its access rules are not checked, because there are no modes here.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self(path.to_owned()))
    }

    /// Checks a file, if there is one.
    pub(super) fn check(&self, name: &OsStr) -> io::Result<()> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(metadata) if metadata.is_file() => Ok(()),
            Ok(_) => Err(io::Error::other("it is no regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads a file; `None` if there is none.
    pub(super) fn read(&self, name: &OsStr, limit: u64) -> io::Result<Option<Vec<u8>>> {
        self.check(name)?;
        let file = match File::open(self.0.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut text)?;
        if text.len() as u64 > limit {
            return Err(io::Error::other(format!("it is longer than the limit of {limit} bytes")));
        }
        Ok(Some(text))
    }

    /// Replaces a file as a whole, by way of another that only the caller uses.
    pub(super) fn replace(&self, name: &OsStr, temporary: &OsStr, text: &[u8]) -> io::Result<()> {
        let path = self.0.join(temporary);
        let written =
            OpenOptions::new().write(true).create(true).truncate(true).open(&path).and_then(|mut file| {
                file.write_all(text)?;
                file.sync_all()?;
                drop(file);
                fs::rename(&path, self.0.join(name))
            });
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        written
    }
}

/// A locked file. It stays when it is released: here nothing tells whether a locked file still has its name.
#[derive(Debug)]
pub(super) struct LockFile(File);

impl LockFile {
    /// Locks a file and creates it if there is none; `None` while another holds it.
    pub(super) fn try_lock(folder: &Folder, name: &OsStr) -> io::Result<Option<Self>> {
        let path = folder.0.join(name);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match fs4::FileExt::try_lock(&file) {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = fs4::FileExt::unlock(&self.0);
    }
}
