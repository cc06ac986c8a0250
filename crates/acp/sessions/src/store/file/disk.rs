//! The file system of a store on Unix.
//!
//! Files are opened relative to the directory's descriptor, so a later change of its path does not matter. Links are not
//! followed. Files that are not regular, belong to another user, or are writable by others are refused, because another user
//! may have put them there.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::system::{Access, FileSystem, LockFile, RawFile, Version};

/// The permissions that others must not have on a directory or a file of a store.
const WRITE_BY_OTHERS: Mode = Mode::WGRP.union(Mode::WOTH);

/// The mode of new files.
const OWNER_ONLY: Mode = Mode::RUSR.union(Mode::WUSR);

/// A directory.
#[derive(Debug)]
pub(super) struct Disk(Arc<OwnedFd>);

impl Disk {
    /// Opens a directory.
    ///
    /// # Errors
    ///
    /// The inner error says why others may create files in the directory, and what to do about that.
    pub(super) fn open(path: &Path) -> io::Result<Result<Self, String>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&directory)?;
        let shown = path.display();
        if !is_own(&stat) {
            let owner = stat.st_uid;
            return Ok(Err(format!(
                "it belongs to another user (number {owner}); name a directory of your own"
            )));
        }
        if mode(&stat).intersects(WRITE_BY_OTHERS) {
            let mode = mode(&stat).as_raw_mode() & 0o7777;
            return Ok(Err(format!(
                "others may write to it (its mode is {mode:04o}); look through it, then run `chmod 700 {shown}`, or name another directory"
            )));
        }
        Ok(Ok(Self(Arc::new(directory))))
    }

    /// Opens a file, and checks that it is a private file of this user.
    fn open_file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // Without `NONBLOCK`, opening a pipe would block.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&*self.0, name, flags, OWNER_ONLY).map_err(|errno| match errno {
            // The BSDs return `MLINK`.
            Errno::LOOP | Errno::MLINK => io::Error::other("it is a link, and links are not followed"),
            _ => errno.into(),
        })?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no regular file"));
        }
        if !is_own(&stat) {
            return Err(io::Error::other("it belongs to another user"));
        }
        if mode(&stat).intersects(WRITE_BY_OTHERS) {
            return Err(io::Error::other(
                "others may write to it; see what it holds, then take that from them",
            ));
        }
        Ok(file.into())
    }
}

fn is_own(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}

fn mode(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode)
}

impl FileSystem for Disk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&*self.0)? {
            // The names of a store are always UTF-8.
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn version(&self, name: &str) -> io::Result<Version> {
        let stat = rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let (seconds, nanos) = (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec));
        Ok(Version([i128::from(stat.st_ino), i128::from(stat.st_size), seconds, nanos]))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn RawFile>> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::RDWR,
            Access::Create => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        Ok(Box::new(self.open_file(name, flags)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&*self.0, from, &*self.0, to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.0, name, AtFlags::empty())?)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&*self.0)?)
    }

    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn LockFile>>> {
        loop {
            let file = self.open_file(name, OFlags::RDWR | OFlags::CREATE)?;
            // The standard library's method needs a newer version than the MSRV.
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            // The previous owner has removed the file: a lock on a removed file has no effect.
            let ours = rustix::fs::fstat(&file)?;
            match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(there) if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino) => {
                    let (directory, name) = (Arc::clone(&self.0), name.to_owned());
                    return Ok(Some(Box::new(DiskLock { file, directory, name })));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl RawFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

#[derive(Debug)]
struct DiskLock {
    file: File,
    directory: Arc<OwnedFd>,
    name: String,
}

impl LockFile for DiskLock {}

/// Removes the file first. Then unlocks it explicitly, because a child process that another thread is starting may still hold
/// a copy of the descriptor.
impl Drop for DiskLock {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(self.directory.as_fd(), &*self.name, AtFlags::empty());
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}
