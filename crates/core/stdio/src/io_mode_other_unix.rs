//! The only mode of non-blocking I/O on Unix systems other than Linux: `O_NONBLOCK` on pipes that this process made.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

/// How a call is kept from blocking, on systems where only descriptions of our own are used this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoMode {
    /// A description that is ours alone, with `O_NONBLOCK`.
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
