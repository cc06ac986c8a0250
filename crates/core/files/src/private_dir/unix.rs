//! The operations of a private directory on Unix, relative to its descriptor and with checks of owner and mode.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{NotPrivate, Privacy, PrivateDir};
use crate::{Access, FileLock, FileSystem, LockFile, LockMode, RawFile, Version};

/// The permissions that others must not have on a directory: with them they could replace its files.
const WRITE_BY_OTHERS: Mode = Mode::WGRP.union(Mode::WOTH);

impl PrivateDir {
    /// Opens a directory that exists.
    ///
    /// # Errors
    ///
    /// [`NotPrivate`] if it belongs to another user or others may write to it; or the operating system's error.
    pub fn open(path: &Path, privacy: Privacy) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(&path, flags, Mode::empty())?;
        check("the directory", &path, &rustix::fs::fstat(&descriptor)?, WRITE_BY_OTHERS, "700")?;
        Ok(Self { path, privacy, descriptor: Arc::new(descriptor) })
    }

    fn open_file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let shown = || format!("`{}`", name.display());
        // Without `NONBLOCK`, opening a pipe would block.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR);
        let file = opened.map_err(|errno| match errno {
            // The BSDs return `MLINK`.
            Errno::LOOP | Errno::MLINK => {
                NotPrivate(format!("{} is a link, and links are not followed", shown())).into()
            }
            _ => io::Error::from(errno),
        })?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(NotPrivate::not_regular(name));
        }
        let (forbidden, remedy) = match self.privacy {
            Privacy::OwnerOnly => (Mode::RWXG | Mode::RWXO, "600"),
            Privacy::OthersMayRead => (WRITE_BY_OTHERS, "go-w"),
        };
        check(&shown(), &self.path.join(name), &stat, forbidden, remedy)?;
        Ok(file.into())
    }
}

/// Refuses a file or directory that another user owns, or on which others have a forbidden permission.
fn check(what: &str, path: &Path, stat: &Stat, forbidden: Mode, remedy: &str) -> io::Result<()> {
    let (owner, user) = (stat.st_uid, rustix::process::geteuid().as_raw());
    if owner != user {
        let why = format!("{what} belongs to the user number {owner}, and this is the user number {user}");
        return Err(NotPrivate(format!("{why}; use a path of your own")).into());
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(forbidden) {
        let (mode, path) = (mode.as_raw_mode() & 0o7777, path.display());
        let access = if forbidden == WRITE_BY_OTHERS { "write to it" } else { "read or change it" };
        let why = format!("{what} has mode {mode:04o}, so others may {access}");
        return Err(NotPrivate(format!("{why}; see what it holds, then run `chmod {remedy} {path}`")).into());
    }
    Ok(())
}

impl FileSystem for PrivateDir {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn version(&self, name: &OsStr) -> io::Result<Option<Version>> {
        let stat = match rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat?,
        };
        let (seconds, nanos) = (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec));
        Ok(Some(Version([i128::from(stat.st_ino), i128::from(stat.st_size), seconds, nanos])))
    }

    fn open(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn RawFile>> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::RDWR,
            Access::Create => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
        Ok(Box::new(self.open_file(name, flags)?))
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.descriptor, from, &self.descriptor, to)?)
    }

    fn remove(&self, name: &OsStr) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.descriptor)?)
    }

    fn try_lock(&self, name: &OsStr) -> io::Result<Option<Box<dyn LockFile>>> {
        loop {
            let file = self.open_file(name, OFlags::RDWR | OFlags::CREATE)?;
            let Some(lock) = FileLock::try_acquire(file, LockMode::Exclusive)? else { return Ok(None) };
            // The previous owner may have removed the file after it was opened here. A lock on a removed file excludes no one.
            let locked = rustix::fs::fstat(lock.file())?;
            match rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(named) if (named.st_dev, named.st_ino) == (locked.st_dev, locked.st_ino) => {
                    let (directory, name) = (self.clone(), name.to_owned());
                    return Ok(Some(Box::new(NamedLock { directory, name, _lock: lock })));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// A locked file. It is removed before it is unlocked. In the other order, another process could lock the file in between, and this
/// would remove that process's lock file.
#[derive(Debug)]
struct NamedLock {
    directory: PrivateDir,
    name: OsString,
    _lock: FileLock,
}

impl LockFile for NamedLock {}

impl Drop for NamedLock {
    fn drop(&mut self) {
        let _ = self.directory.remove(&self.name);
    }
}
