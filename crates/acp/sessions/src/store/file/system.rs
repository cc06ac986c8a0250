//! The file system operations that a store uses.
//!
//! [`Disk`](super::disk::Disk) implements them with the operating system. Tests implement them with a simulated disk, which
//! fails at any call and loses what was not synced.

use std::fmt;
use std::io::{self, Read};

/// A flat directory of files.
pub(super) trait FileSystem: fmt::Debug + Send + Sync {
    /// Returns the names of the files.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Returns a value that changes with the content of a file. Does not open the file.
    fn version(&self, name: &str) -> io::Result<Version>;

    /// Opens a regular file of this user. Follows no links.
    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn RawFile>>;

    /// Renames a file, and replaces one of the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes created, renamed and removed files durable.
    fn sync(&self) -> io::Result<()>;

    /// Creates a file of this name and locks it, until the value is dropped or the process ends. Returns none where it is
    /// locked already, in this process or another.
    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn LockFile>>>;
}

/// An open file.
pub(super) trait RawFile: fmt::Debug + Send + Sync {
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
}

/// A locked file. Dropping it unlocks the file.
pub(super) trait LockFile: fmt::Debug + Send + Sync {}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// To read and write a file that exists.
    Write,
    /// To read and write a new file.
    Create,
}

/// Differs between two contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version(pub(super) [i128; 4]);

impl dyn RawFile + '_ {
    /// Writes all bytes.
    pub(super) fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
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

/// Reads a part of a file.
#[derive(Debug)]
pub(super) struct Part {
    file: Box<dyn RawFile>,
    offset: u64,
    end: u64,
}

impl Part {
    /// Returns the part from one offset to another.
    pub(super) fn new(file: Box<dyn RawFile>, offset: u64, end: u64) -> Self {
        Self { file, offset, end }
    }

    /// Returns the whole file, with its current length.
    pub(super) fn all(file: Box<dyn RawFile>) -> io::Result<Self> {
        let end = file.length()?;
        Ok(Self::new(file, 0, end))
    }

    pub(super) fn end(&self) -> u64 {
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
