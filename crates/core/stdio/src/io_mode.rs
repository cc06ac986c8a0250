//! Chooses on Linux how to read or write a descriptor without setting `O_NONBLOCK` on a shared file description.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use agentwire_transport::Direction;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, SocketType};
use rustix::pipe::PIPE_BUF;

/// How reads and writes of a descriptor are kept from blocking.
///
/// `O_NONBLOCK` belongs to the file description, which stdin and stdout share with the process that started this one.
/// Setting it would make the reads and writes of other processes fail. So each call has its own flag, if the kernel has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoMode {
    /// A pipe: each call has the flag `RWF_NOWAIT`.
    NoWait,
    /// A socket: each call has the flag `MSG_DONTWAIT`.
    DontWait,
    /// A file description that is not shared, with `O_NONBLOCK`.
    Nonblocking,
    /// A descriptor without such a flag: `poll` with a time-out of zero before each plain call.
    Polled,
    /// A file that never blocks, such as a regular file.
    Plain,
}

/// A descriptor and its mode.
pub(crate) struct DescriptorMode {
    pub(crate) fd: OwnedFd,
    pub(crate) mode: IoMode,
    /// Whether a call that moves fewer bytes than it could has emptied or filled it.
    pub(crate) short_is_last: bool,
}

impl DescriptorMode {
    /// Chooses by the type of the file behind `fd`.
    pub(crate) fn of(fd: OwnedFd, direction: Direction) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        let (mode, short_is_last) = match kind {
            // A pipe with O_DIRECT keeps writes apart, and a read ends at the end of one.
            FileType::Fifo => (IoMode::NoWait, !rustix::fs::fcntl_getfl(&fd)?.contains(OFlags::DIRECT)),
            FileType::Socket => {
                (IoMode::DontWait, rustix::net::sockopt::socket_type(&fd)? == SocketType::STREAM)
            }
            // In line mode, each read of a terminal returns one line, even if several are available.
            FileType::CharacterDevice if rustix::termios::isatty(&fd) => match reopen(&fd, direction) {
                Some(fd) => return Ok(Self { fd, mode: IoMode::Nonblocking, short_is_last: false }),
                None => (IoMode::Polled, false),
            },
            FileType::RegularFile | FileType::BlockDevice | FileType::Directory => (IoMode::Plain, false),
            // Such as /dev/null, which the kernel always reports as ready.
            _ => (IoMode::Polled, false),
        };
        Ok(Self { fd, mode, short_is_last })
    }
}

/// Opens a terminal again, so that `O_NONBLOCK` is on a description that is not shared. `None` if that is forbidden, or would
/// open another file.
fn reopen(fd: &OwnedFd, direction: Direction) -> Option<OwnedFd> {
    let access = match direction {
        Direction::In => OFlags::RDONLY,
        Direction::Out => OFlags::WRONLY,
    };
    let before = rustix::fs::fstat(fd).ok()?;
    if before.st_rdev == rustix::fs::makedev(5, 2) {
        // The master's side of a terminal is the multiplexer, and opening that makes a new terminal.
        return None;
    }
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let flags = access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let reopened = rustix::fs::openat(CWD, path, flags, Mode::empty()).ok()?;
    let after = rustix::fs::fstat(&reopened).ok()?;
    let same = (before.st_dev, before.st_ino, before.st_rdev) == (after.st_dev, after.st_ino, after.st_rdev);
    same.then_some(reopened)
}

impl IoMode {
    pub(crate) fn read(self, fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match self {
            Self::NoWait => {
                rustix::io::preadv2(fd, &mut [IoSliceMut::new(buffer)], u64::MAX, ReadWriteFlags::NOWAIT)
            }
            Self::DontWait => rustix::net::recv(fd, buffer, RecvFlags::DONTWAIT).map(|(count, _)| count),
            Self::Nonblocking | Self::Plain => rustix::io::read(fd, buffer),
            Self::Polled => would_not_wait(fd, PollFlags::IN).and_then(|()| rustix::io::read(fd, buffer)),
        };
        Ok(count?)
    }

    pub(crate) fn write(self, fd: BorrowedFd<'_>, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = match self {
            Self::NoWait => rustix::io::pwritev2(fd, pieces, u64::MAX, ReadWriteFlags::NOWAIT),
            Self::DontWait => {
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                match pieces {
                    [piece] => rustix::net::send(fd, piece, flags),
                    pieces => rustix::net::sendmsg(fd, pieces, &mut SendAncillaryBuffer::default(), flags),
                }
            }
            Self::Nonblocking | Self::Plain => rustix::io::writev(fd, pieces),
            Self::Polled => would_not_wait(fd, PollFlags::OUT).and_then(|()| {
                // A writable pipe takes this many bytes without blocking, but perhaps not more.
                let piece = pieces.iter().find(|piece| !piece.is_empty()).map_or(&[][..], |piece| piece);
                rustix::io::write(fd, &piece[..piece.len().min(PIPE_BUF)])
            }),
        };
        Ok(count?)
    }

    /// Returns the mode to use instead, if the error means that the kernel or the file does not support this one.
    pub(crate) fn fallback(self, error: &io::Error) -> Option<Self> {
        let unknown = [Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL].map(Errno::raw_os_error);
        (self == Self::NoWait && error.raw_os_error().is_some_and(|code| unknown.contains(&code)))
            .then_some(Self::Polled)
    }
}

fn would_not_wait(fd: BorrowedFd<'_>, flags: PollFlags) -> Result<(), Errno> {
    let mut polled = [PollFd::from_borrowed_fd(fd, flags)];
    match rustix::event::poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? {
        0 => Err(Errno::AGAIN),
        _ => Ok(()),
    }
}
