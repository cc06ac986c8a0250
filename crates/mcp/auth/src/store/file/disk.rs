//! The file system of a store on Unix.
//!
//! Files are opened relative to the folder's descriptor. Links are not followed. What another user owns, may read or may write
//! is refused.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

/// The mode of new files.
const OWNER_ONLY: Mode = Mode::RUSR.union(Mode::WUSR);

/// The permissions that others must not have on a file.
const OF_OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);

/// The permissions that others must not have on a folder: with them they could replace the files in it.
const WRITE_BY_OTHERS: Mode = Mode::WGRP.union(Mode::WOTH);

/// A folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    descriptor: Arc<OwnedFd>,
    /// For errors.
    path: PathBuf,
}

impl Folder {
    /// Opens a folder, and creates it with mode `0700` if there is none.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::NOENT) => {
                DirBuilder::new().recursive(true).mode(0o700).create(path)?;
                rustix::fs::open(path, flags, Mode::empty())
            }
            opened => opened,
        };
        let descriptor = opened.map_err(|errno| about(path, io::Error::from(errno)))?;
        let stat = rustix::fs::fstat(&descriptor)?;
        check_owner(path, &stat)?;
        if mode(&stat).intersects(WRITE_BY_OTHERS) {
            let (shown, mode) = (path.display(), shown(&stat));
            let what = format!("the folder {shown} has mode {mode}, so others may replace the file");
            return Err(io::Error::other(format!("{what}; run `chmod go-w {shown}`, or use another folder")));
        }
        Ok(Self { descriptor: Arc::new(descriptor), path: path.to_owned() })
    }

    /// Checks a file, if there is one.
    pub(super) fn check(&self, name: &OsStr) -> io::Result<()> {
        self.open_existing(name).map(drop)
    }

    /// Reads a file; `None` if there is none.
    pub(super) fn read(&self, name: &OsStr, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.open_existing(name)? else { return Ok(None) };
        let mut text = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut text)?;
        if text.len() as u64 > limit {
            return Err(io::Error::other(format!("it is longer than the limit of {limit} bytes")));
        }
        Ok(Some(text))
    }

    /// Replaces a file as a whole, by way of another that only the caller uses.
    pub(super) fn replace(&self, name: &OsStr, temporary: &OsStr, text: &[u8]) -> io::Result<()> {
        // One that a killed process has left.
        self.remove(temporary)?;
        let mut file = self.open_file(temporary, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        let written = file
            .write_all(text)
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(rustix::fs::renameat(&*self.descriptor, temporary, &*self.descriptor, name)?));
        if written.is_err() {
            let _ = self.remove(temporary);
        }
        written?;
        Ok(rustix::fs::fsync(&*self.descriptor)?)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        match rustix::fs::unlinkat(&*self.descriptor, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn open_existing(&self, name: &OsStr) -> io::Result<Option<File>> {
        match self.open_file(name, OFlags::RDONLY) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a file, and checks that it is a private file of this user.
    fn open_file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let path = self.path.join(name);
        // Without `NONBLOCK`, opening a pipe would block.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&*self.descriptor, name, flags, OWNER_ONLY);
        let file = opened.map_err(|errno| match errno {
            // The BSDs return `MLINK`.
            Errno::LOOP | Errno::MLINK => about(
                &path,
                io::Error::other("it is a link, and links are not followed; name the file itself"),
            ),
            _ => errno.into(),
        })?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(about(&path, io::Error::other("it is no regular file")));
        }
        check_owner(&path, &stat)?;
        if mode(&stat).intersects(OF_OTHERS) {
            let (shown, mode) = (path.display(), shown(&stat));
            let what = format!("{shown} has mode {mode}, so others may know or change what is in it");
            return Err(io::Error::other(format!(
                "{what}; remove it and log in again, or run `chmod 600 {shown}`"
            )));
        }
        Ok(file.into())
    }
}

fn check_owner(path: &Path, stat: &Stat) -> io::Result<()> {
    let own = rustix::process::geteuid().as_raw();
    if stat.st_uid == own {
        return Ok(());
    }
    let (shown, owner) = (path.display(), stat.st_uid);
    let what = format!("{shown} belongs to the user number {owner}, and this is the user number {own}");
    Err(io::Error::other(format!("{what}; use a path of your own")))
}

fn mode(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode)
}

fn shown(stat: &Stat) -> String {
    format!("{:04o}", mode(stat).as_raw_mode() & 0o7777)
}

/// An error with the path that it is about.
fn about(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// A locked file. Dropping it removes and releases the file.
#[derive(Debug)]
pub(super) struct LockFile {
    file: File,
    folder: Folder,
    name: OsString,
}

impl LockFile {
    /// Locks a file and creates it if there is none; `None` while another holds it. Each call opens the file anew, because the
    /// system's locks belong to what `open` returns: two stores of one process exclude each other as two processes do.
    pub(super) fn try_lock(folder: &Folder, name: &OsStr) -> io::Result<Option<Self>> {
        loop {
            let file = folder.open_file(name, OFlags::RDWR | OFlags::CREATE)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
            // The previous owner may have removed the file after it was opened here. Locking a removed file excludes nobody.
            let locked = rustix::fs::fstat(&file)?;
            match rustix::fs::statat(&*folder.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(named) if (named.st_dev, named.st_ino) == (locked.st_dev, locked.st_ino) => {
                    return Ok(Some(Self { file, folder: folder.clone(), name: name.to_owned() }));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// Removes the file first: its name must not lead to a lock that is about to be released. Then unlocks it explicitly, because a
/// child process that another thread is starting may still hold a copy of the descriptor.
impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = self.folder.remove(&self.name);
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Each release removes the file while others are about to lock it.
    #[test]
    fn a_removed_lock_file_excludes_as_well() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let held = AtomicBool::new(false);
        let contend = || {
            let mut taken = 0;
            while taken < 80 {
                let Some(lock) = LockFile::try_lock(&folder, OsStr::new("lock")).unwrap() else { continue };
                assert!(!held.swap(true, Ordering::SeqCst), "two hold the lock");
                std::thread::sleep(std::time::Duration::from_micros(20));
                held.store(false, Ordering::SeqCst);
                drop(lock);
                taken += 1;
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(contend);
            }
        });
    }
}
