//! The operations on a directory that a store consists of.
//!
//! [`Disk`](super::disk::Disk) does them with the operating system. Tests do them on a simulated disk, which fails at any
//! call and loses what was not synced.

use std::fmt;
use std::io::{self, Read};

/// A flat directory of files.
pub(super) trait FileSystem: fmt::Debug + Send + Sync {
    /// The names of the files.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Tells the present content of a file from an earlier one, without opening it.
    fn version(&self, name: &str) -> io::Result<Version>;

    /// Opens a regular file of our own. Links are not followed.
    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn RawFile>>;

    /// Renames a file; one of the new name is replaced.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes durable what was created, renamed and removed.
    fn sync(&self) -> io::Result<()>;

    /// Locks a file of this name, which is created for that, until the value is dropped or the process ends. `None` where
    /// somebody else has it locked, in this process or another.
    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn LockFile>>>;
}

/// A file that is open.
pub(super) trait RawFile: fmt::Debug + Send + Sync {
    /// How many bytes it has.
    fn length(&self) -> io::Result<u64>;

    /// Reads some bytes; none at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes some bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Cuts it off, or fills it up with zeros.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Makes its content durable.
    fn sync(&self) -> io::Result<()>;
}

/// Unlocks when it is dropped.
pub(super) trait LockFile: fmt::Debug + Send + Sync {}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// To write to a file that there is.
    Write,
    /// To read and write a file that there was not.
    Create,
}

/// Differs between a file and what it is replaced with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version(pub(super) [i128; 4]);

impl dyn RawFile + '_ {
    /// Writes all of these bytes.
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
    /// From one offset to another.
    pub(super) fn new(file: Box<dyn RawFile>, offset: u64, end: u64) -> Self {
        Self { file, offset, end }
    }

    /// All of a file, as long as it is now.
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
