//! The file system of a store on systems other than Unix.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use agentwire_sync::{Mutex, MutexGuard};
use fs4::TryLockError;

use super::system::{Access, FileSystem, LockFile, RawFile, Version};

/// A directory.
#[derive(Debug)]
pub(super) struct Disk(PathBuf);

impl Disk {
    /// Opens a directory. Does not check who may write to it, because there are no modes here.
    pub(super) fn open(path: &Path) -> io::Result<Result<Self, String>> {
        if !fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Ok(Self(path.to_owned())))
    }
}

impl FileSystem for Disk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            // The names of a store are always UTF-8.
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn version(&self, name: &str) -> io::Result<Version> {
        let metadata = fs::symlink_metadata(self.0.join(name))?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, nanos) = (i128::from(modified.as_secs()), i128::from(modified.subsec_nanos()));
        Ok(Version([0, i128::from(metadata.len()), seconds, nanos]))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn RawFile>> {
        let path = self.0.join(name);
        if access != Access::Create && !fs::symlink_metadata(&path)?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let write = access != Access::Read;
        let new = access == Access::Create;
        let file = OpenOptions::new().read(true).write(write).create_new(new).open(path)?;
        Ok(Box::new(Seeking(Mutex::new(file))))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Does nothing: directories cannot be synced here, and the file system makes their entries durable by itself.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn LockFile>>> {
        let path = self.0.join(name);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match fs4::FileExt::try_lock(&file) {
            Ok(()) => Ok(Some(Box::new(DiskLock(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[derive(Debug)]
struct Seeking(Mutex<File>);

impl Seeking {
    fn file(&self) -> MutexGuard<'_, File> {
        self.0.lock()
    }
}

impl RawFile for Seeking {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file().metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(offset))?;
        file.write(bytes)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file().set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.file().sync_data()
    }
}

/// The file stays: here a store cannot check whether a locked file still has its name.
#[derive(Debug)]
struct DiskLock(File);

impl LockFile for DiskLock {}

impl Drop for DiskLock {
    fn drop(&mut self) {
        let _ = fs4::FileExt::unlock(&self.0);
    }
}
