//! Traits for the operations on a directory and its files, which a real and a simulated disk implement.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};

/// A flat directory of files.
///
/// [`PrivateDir`](crate::PrivateDir) implements it with the operating system, and `testing::Simulated` with a simulated disk.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// Returns the names of the files that are UTF-8.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Returns a value that changes with the content of a file, or `None` if there is no such file. Does not open the file.
    fn version(&self, name: &OsStr) -> io::Result<Option<Version>>;

    /// Opens a regular file of this user. Follows no link.
    fn open(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn RawFile>>;

    /// Renames a file, and replaces one of the new name.
    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Removes a file. Returns whether it existed.
    fn remove(&self, name: &OsStr) -> io::Result<bool>;

    /// Makes created, renamed and removed files durable.
    fn sync(&self) -> io::Result<()>;

    /// Creates a file of this name and locks it, until the value is dropped or the process ends. Returns `None` if it is locked
    /// already, by this process or another.
    fn try_lock(&self, name: &OsStr) -> io::Result<Option<Box<dyn LockFile>>>;

    /// Reads a whole file of at most `limit` bytes. Returns `None` if there is no such file.
    fn read(&self, name: &OsStr, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open(name, Access::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        Part::new(file, 0, limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!("it is longer than the limit of {limit} bytes")));
        }
        Ok(Some(bytes))
    }

    /// Replaces a file atomically: after a crash, the old or the new content exists. The new content is durable once this
    /// returns. Only one caller at a time may replace a file, because the new content is first written as `NAME.tmp`.
    fn replace(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let mut temporary = name.to_owned();
        temporary.push(".tmp");
        // A killed process may have left a temporary file.
        self.remove(&temporary)?;
        let written = self.open(&temporary, Access::Create).and_then(|file| {
            file.write_all_at(bytes, 0)?;
            file.sync()?;
            // Windows may refuse to rename an open file.
            drop(file);
            self.rename(&temporary, name)
        });
        if written.is_err() {
            let _ = self.remove(&temporary);
        }
        written?;
        self.sync()
    }
}

/// An open file.
pub trait RawFile: fmt::Debug + Send + Sync {
    /// Returns the length, in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Reads some bytes, or none at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes some bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Truncates the file, or extends it with zeros.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Makes the content durable.
    fn sync(&self) -> io::Result<()>;

    /// Writes all bytes.
    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    offset += written as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl RawFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        {
            std::os::unix::fs::FileExt::read_at(self, buffer, offset)
        }
        #[cfg(not(unix))]
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        {
            std::os::unix::fs::FileExt::write_at(self, bytes, offset)
        }
        #[cfg(not(unix))]
        std::os::windows::fs::FileExt::seek_write(self, bytes, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A locked file. Dropping it unlocks the file.
pub trait LockFile: fmt::Debug + Send + Sync {}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// To read a file that exists.
    Read,
    /// To read and write a file that exists.
    Write,
    /// To read and write a new file.
    Create,
}

/// A value that differs between two contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub(crate) [i128; 4]);

/// Reads a part of a file.
#[derive(Debug)]
pub struct Part {
    file: Box<dyn RawFile>,
    offset: u64,
    end: u64,
}

impl Part {
    /// Returns the part from one offset to another.
    pub fn new(file: Box<dyn RawFile>, offset: u64, end: u64) -> Self {
        Self { file, offset, end }
    }

    /// Returns the whole file, with its current length.
    pub fn all(file: Box<dyn RawFile>) -> io::Result<Self> {
        let end = file.length()?;
        Ok(Self::new(file, 0, end))
    }

    /// Returns the offset of the end.
    pub fn end(&self) -> u64 {
        self.end
    }
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let most = left.min(buffer.len());
        let read = self.file.read_at(&mut buffer[..most], self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
