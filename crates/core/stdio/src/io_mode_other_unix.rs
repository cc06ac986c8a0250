//! The only mode of non-blocking I/O on Unix systems other than Linux: `O_NONBLOCK` on pipes that this process made.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

/// The way in which a read or write is kept from blocking. On these systems only pipes of our own are used without blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoMode {
    /// A file description of our own, with `O_NONBLOCK`.
    Nonblocking,
}

impl IoMode {
    pub(crate) fn read(self, fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(fd, buffer)?)
    }

    pub(crate) fn write(self, fd: BorrowedFd<'_>, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(rustix::io::writev(fd, pieces)?)
    }

    pub(crate) fn fallback(self, _error: &io::Error) -> Option<Self> {
        None
    }
}
