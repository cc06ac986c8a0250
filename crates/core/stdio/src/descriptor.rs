//! Reads or writes a Unix file descriptor without blocking. Registers it with tokio at the first call that would block.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll};

use agentwire_transport::Direction;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

#[cfg(target_os = "linux")]
use crate::io_mode::DescriptorMode;
use crate::io_mode::IoMode;
use crate::runtime::require_runtime;

/// The number of calls in a row after which other tasks run. A file, or a peer that is faster than this process, would
/// otherwise always be ready.
const MAX_CALLS: u8 = 32;

/// One direction of a pipe, a socket, a terminal or a file, used without ever blocking.
#[derive(Debug)]
pub(crate) struct Descriptor {
    registration: Registration,
    direction: Direction,
    mode: IoMode,
    /// Whether the next call would block after a call that moved fewer bytes than it could, so that it is left out.
    short_is_last: bool,
    calls: u8,
}

#[derive(Debug)]
enum Registration {
    /// No call would have blocked yet. A file, or a stdout whose reader keeps up, stays in this state.
    Unregistered(OwnedFd),
    /// The runtime reports when the next call will not block.
    Registered(AsyncFd<OwnedFd>),
    Closed,
}

impl Descriptor {
    /// Uses a descriptor whose file description may be shared. Its flags stay unchanged.
    #[cfg(target_os = "linux")]
    pub(crate) fn shared(fd: OwnedFd, direction: Direction) -> io::Result<Self> {
        let DescriptorMode { fd, mode, short_is_last } = DescriptorMode::of(fd, direction)?;
        Ok(Self { registration: Registration::Unregistered(fd), direction, mode, short_is_last, calls: 0 })
    }

    /// Uses an end of a pipe that this process has made.
    #[cfg(feature = "process")]
    pub(crate) fn own(fd: OwnedFd, direction: Direction) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        return Self::shared(fd, direction);
        #[cfg(not(target_os = "linux"))]
        {
            let flags = rustix::fs::fcntl_getfl(&fd)? | rustix::fs::OFlags::NONBLOCK;
            rustix::fs::fcntl_setfl(&fd, flags)?;
            Ok(Self {
                registration: Registration::Unregistered(fd),
                direction,
                mode: IoMode::Nonblocking,
                short_is_last: false,
                calls: 0,
            })
        }
    }

    pub(crate) fn close(&mut self) {
        self.registration = Registration::Closed;
    }

    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let wanted = buffer.len();
        self.poll(cx, wanted, |mode, fd| mode.read(fd, buffer))
    }

    /// Reads available bytes, also if the runtime has not reported them yet. Fails if none are available.
    #[cfg(feature = "process")]
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let fd = match &self.registration {
            Registration::Unregistered(fd) => fd.as_fd(),
            Registration::Registered(fd) => fd.get_ref().as_fd(),
            Registration::Closed => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        self.mode.read(fd, buffer)
    }

    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wanted = pieces.iter().map(|piece| piece.len()).sum();
        self.poll(cx, wanted, |mode, fd| mode.write(fd, pieces))
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        wanted: usize,
        mut call: impl FnMut(IoMode, BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if wanted == 0 {
            return Poll::Ready(Ok(0));
        }
        while self.calls < MAX_CALLS {
            self.calls += 1;
            let (result, ready) = match &self.registration {
                Registration::Unregistered(fd) => (call(self.mode, fd.as_fd()), None),
                Registration::Registered(fd) => {
                    let ready = match self.direction {
                        Direction::In => fd.poll_read_ready(cx),
                        Direction::Out => fd.poll_write_ready(cx),
                    };
                    let Poll::Ready(ready) = ready else {
                        self.calls = 0;
                        return Poll::Pending;
                    };
                    let ready = ready?;
                    (call(self.mode, fd.as_fd()), Some(ready))
                }
                Registration::Closed => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            };
            let error = match result {
                Ok(count) => {
                    if let Some(mut ready) = ready
                        && self.short_is_last
                        && (1..wanted).contains(&count)
                    {
                        ready.clear_ready();
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) => error,
            };
            match (error.kind(), ready) {
                (io::ErrorKind::WouldBlock, Some(mut ready)) => ready.clear_ready(),
                (io::ErrorKind::WouldBlock, None) => self.watch()?,
                (io::ErrorKind::Interrupted, _) => {}
                _ => match self.mode.fallback(&error) {
                    Some(mode) => {
                        self.mode = mode;
                        self.short_is_last = false;
                    }
                    None => return Poll::Ready(Err(error)),
                },
            }
        }
        self.calls = 0;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Registers the descriptor with the runtime, when a call would block for the first time.
    fn watch(&mut self) -> io::Result<()> {
        require_runtime()?;
        let Registration::Unregistered(fd) = std::mem::replace(&mut self.registration, Registration::Closed)
        else {
            return Ok(());
        };
        let interest = match self.direction {
            Direction::In => Interest::READABLE,
            Direction::Out => Interest::WRITABLE,
        };
        self.registration = Registration::Registered(register(fd, interest)?);
        Ok(())
    }
}

/// Registers `fd` with the current runtime.
#[allow(
    deprecated,
    reason = "the successor is unsafe because of types that can exchange their descriptor, which an OwnedFd cannot"
)]
pub(crate) fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}
