//! The directory of a store, which one process uses at a time.

use std::fs::File;
use std::io;
use std::path::Path;

/// The name of the file whose lock says that the directory is in use.
const LOCK: &str = "lock";

/// A directory that this process has locked. It is unlocked when this is dropped.
#[derive(Debug)]
pub(super) struct Directory {
    #[cfg(unix)]
    descriptor: std::os::fd::OwnedFd,
    #[cfg(not(unix))]
    path: std::path::PathBuf,
    #[cfg_attr(not(unix), expect(dead_code, reason = "the lock ends with it"))]
    lock: File,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// To read one that exists.
    Read,
    /// To write one from its beginning, which is created or emptied.
    Replace,
}

/// Files are opened relative to the directory's descriptor, links are not followed, and a directory or file that another user owns
/// or may write to is refused: that user could hand over sessions.
#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, File};
    use std::io;
    use std::os::unix::fs::DirBuilderExt;
    use std::path::Path;

    use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
    use rustix::io::Errno;

    use super::{Access, Directory, LOCK, in_use};

    impl Directory {
        /// Opens a directory, and creates it where there is none.
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let descriptor = rustix::fs::open(path, flags, Mode::empty())?;
            check_private(&rustix::fs::fstat(&descriptor)?, "the directory")?;
            let lock = open_at(&descriptor, LOCK, OFlags::RDWR | OFlags::CREATE)?;
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => Ok(Self { descriptor, lock }),
                Err(Errno::WOULDBLOCK) => Err(in_use()),
                Err(error) => Err(error.into()),
            }
        }

        pub(in super::super) fn open_file(&self, name: &str, access: Access) -> io::Result<File> {
            open_at(
                &self.descriptor,
                name,
                match access {
                    Access::Read => OFlags::RDONLY,
                    Access::Replace => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
                },
            )
        }

        pub(in super::super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            Ok(rustix::fs::renameat(&self.descriptor, from, &self.descriptor, to)?)
        }

        pub(in super::super) fn exists(&self, name: &str) -> io::Result<bool> {
            match rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Ok(true),
                Err(Errno::NOENT) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }

        /// Makes created and renamed files durable.
        pub(in super::super) fn sync(&self) -> io::Result<()> {
            Ok(rustix::fs::fsync(&self.descriptor)?)
        }
    }

    fn open_at(directory: &impl std::os::fd::AsFd, name: &str, flags: OFlags) -> io::Result<File> {
        // Without `NONBLOCK`, opening a pipe would block.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other(format!("`{name}` is no regular file")));
        }
        check_private(&stat, name)?;
        Ok(file.into())
    }

    fn check_private(stat: &Stat, what: &str) -> io::Result<()> {
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other(format!("{what} belongs to another user")));
        }
        if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
            return Err(io::Error::other(format!("other users may write to {what}")));
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    use super::{Access, Directory, LOCK, in_use};

    impl Directory {
        /// Opens a directory, and creates it where there is none.
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            fs::create_dir_all(path)?;
            let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK))?;
            match fs4::FileExt::try_lock(&lock) {
                Ok(()) => Ok(Self { path: path.to_owned(), lock }),
                Err(fs4::TryLockError::WouldBlock) => Err(in_use()),
                Err(fs4::TryLockError::Error(error)) => Err(error),
            }
        }

        pub(in super::super) fn open_file(&self, name: &str, access: Access) -> io::Result<File> {
            let path = self.path.join(name);
            match access {
                Access::Read => File::open(path),
                Access::Replace => File::create(path),
            }
        }

        pub(in super::super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            fs::rename(self.path.join(from), self.path.join(to))
        }

        pub(in super::super) fn exists(&self, name: &str) -> io::Result<bool> {
            self.path.join(name).try_exists()
        }

        /// Does nothing: here a directory cannot be synced.
        pub(in super::super) fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }
}

/// A process that is being started has a copy of the descriptor until it runs its program. The lock would last as long.
#[cfg(unix)]
impl Drop for Directory {
    fn drop(&mut self) {
        // Without it the lock ends with the last descriptor.
        let _ = rustix::fs::flock(&self.lock, rustix::fs::FlockOperation::Unlock);
    }
}

impl Directory {
    /// Returns a path that does not change with the current directory.
    pub(super) fn open_absolute(path: &Path) -> io::Result<Self> {
        Self::open(&std::path::absolute(path)?)
    }
}

fn in_use() -> io::Error {
    io::Error::other("another process uses the directory")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_being_started_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let directory = Directory::open(&path).unwrap();
        assert!(Directory::open(&path).is_err());
        let _of_the_process = directory.lock.try_clone().unwrap();
        drop(directory);
        Directory::open(&path).unwrap();
    }
}
