use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

#[cfg(target_os = "linux")]
use crate::method::Choice;
use crate::method::Method;

/// After this many calls without a pause others get their turn. A file, or a peer that is faster than we
/// are, would otherwise always be ready.
const MOST_CALLS: u8 = 32;

/// Which way the bytes of a descriptor go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    In,
    Out,
}

/// One direction of a pipe, a socket, a terminal or a file, used without ever blocking.
#[derive(Debug)]
pub(crate) struct Descriptor {
    state: State,
    way: Way,
    method: Method,
    /// Whether a call that did less than asked says that the next would have to wait. Believing it saves the
    /// call that only finds that out.
    short_is_last: bool,
    calls: u8,
}

#[derive(Debug)]
enum State {
    /// No call has had to wait yet. A file, or stdout to somebody who reads it, may stay so for ever.
    Fresh(OwnedFd),
    /// The runtime says when the next call is worth its while.
    Watched(AsyncFd<OwnedFd>),
    Closed,
}

impl Descriptor {
    /// A descriptor whose file description may be shared: its flags stay as they are.
    #[cfg(target_os = "linux")]
    pub(crate) fn shared(fd: OwnedFd, way: Way) -> io::Result<Self> {
        let Choice { fd, method, short_is_last } = Choice::of(fd, way)?;
        Ok(Self { state: State::Fresh(fd), way, method, short_is_last, calls: 0 })
    }

    /// Our end of a pipe that we made ourselves.
    #[cfg(feature = "process")]
    pub(crate) fn own(fd: OwnedFd, way: Way) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        return Self::shared(fd, way);
        #[cfg(not(target_os = "linux"))]
        {
            let flags = rustix::fs::fcntl_getfl(&fd)? | rustix::fs::OFlags::NONBLOCK;
            rustix::fs::fcntl_setfl(&fd, flags)?;
            Ok(Self {
                state: State::Fresh(fd),
                way,
                method: Method::Nonblocking,
                short_is_last: false,
                calls: 0,
            })
        }
    }

    pub(crate) fn close(&mut self) {
        self.state = State::Closed;
    }

    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let wanted = buffer.len();
        self.poll(cx, wanted, |method, fd| method.read(fd, buffer))
    }

    /// Reads what is there now, whatever the runtime knows of it. Nothing being there is an error.
    #[cfg(feature = "process")]
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let fd = match &self.state {
            State::Fresh(fd) => fd.as_fd(),
            State::Watched(fd) => fd.get_ref().as_fd(),
            State::Closed => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        self.method.read(fd, buffer)
    }

    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wanted = pieces.iter().map(|piece| piece.len()).sum();
        self.poll(cx, wanted, |method, fd| method.write(fd, pieces))
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        wanted: usize,
        mut call: impl FnMut(Method, BorrowedFd<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        if wanted == 0 {
            return Poll::Ready(Ok(0));
        }
        while self.calls < MOST_CALLS {
            self.calls += 1;
            let (result, ready) = match &self.state {
                State::Fresh(fd) => (call(self.method, fd.as_fd()), None),
                State::Watched(fd) => {
                    let ready = match self.way {
                        Way::In => fd.poll_read_ready(cx),
                        Way::Out => fd.poll_write_ready(cx),
                    };
                    let Poll::Ready(ready) = ready else {
                        self.calls = 0;
                        return Poll::Pending;
                    };
                    let ready = ready?;
                    (call(self.method, fd.as_fd()), Some(ready))
                }
                State::Closed => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
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
                _ => match self.method.instead(&error) {
                    Some(method) => {
                        self.method = method;
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

    /// Asks the runtime to watch the descriptor, the first time it has to be waited for.
    fn watch(&mut self) -> io::Result<()> {
        crate::require_runtime()?;
        let State::Fresh(fd) = std::mem::replace(&mut self.state, State::Closed) else { return Ok(()) };
        let interest = match self.way {
            Way::In => Interest::READABLE,
            Way::Out => Interest::WRITABLE,
        };
        self.state = State::Watched(register(fd, interest)?);
        Ok(())
    }
}

/// Has the current runtime watch `fd`.
#[allow(
    deprecated,
    reason = "the successor is unsafe because of types that can exchange their descriptor, which an OwnedFd cannot"
)]
pub(crate) fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}
