//! The byte streams `Input` and `Output`: each wraps a non-blocking descriptor, or a reader or writer of the module `threaded`.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::task::{Context, Poll};

#[cfg(all(target_os = "linux", feature = "nonblocking"))]
use agentwire_transport::Direction;
use futures::{AsyncRead, AsyncWrite};

#[cfg(all(unix, feature = "nonblocking"))]
use crate::descriptor::Descriptor;
use crate::threaded;

/// A stream of incoming bytes: our own stdin, or any other readable descriptor.
///
/// On Linux no call blocks, no thread is used, and the flags of the descriptor stay unchanged, because other processes may
/// share them. It must be polled within a tokio runtime with I/O enabled, but can be made without a runtime.
pub struct Input(Source);

/// A stream of outgoing bytes: our own stdout or stderr, or any other writable descriptor. See [`Input`].
///
/// Closing it closes our duplicate of the descriptor, but not the process's own stdout.
pub struct Output(Target);

enum Source {
    #[cfg(all(unix, feature = "nonblocking"))]
    Descriptor(Descriptor),
    Other(threaded::Reader),
}

enum Target {
    #[cfg(all(unix, feature = "nonblocking"))]
    Descriptor(Descriptor),
    Other(threaded::Writer),
}

impl Input {
    /// Our own stdin. Bytes that `std::io::stdin()` has already buffered are not read.
    ///
    /// # Errors
    ///
    /// When the descriptor cannot be duplicated or looked at.
    pub fn stdin() -> io::Result<Self> {
        #[cfg(all(target_os = "linux", feature = "nonblocking"))]
        return Self::of(std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?);
        #[cfg(not(all(target_os = "linux", feature = "nonblocking")))]
        Ok(threaded::stdin().into())
    }

    /// Reads `descriptor`, whatever it is: a pipe, a socket, a terminal, a file.
    ///
    /// # Errors
    ///
    /// When the descriptor cannot be looked at.
    #[cfg(all(target_os = "linux", feature = "nonblocking"))]
    pub fn of(descriptor: impl Into<std::os::fd::OwnedFd>) -> io::Result<Self> {
        Descriptor::shared(descriptor.into(), Direction::In).map(Self::from)
    }

    /// Reads available bytes, also if the runtime has not reported them yet. Fails if none are available.
    #[cfg(feature = "process")]
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            #[cfg(all(unix, feature = "nonblocking"))]
            Source::Descriptor(descriptor) => descriptor.try_read(buffer),
            Source::Other(reader) => {
                let cx = &mut Context::from_waker(std::task::Waker::noop());
                match Pin::new(reader).poll_read(cx, buffer) {
                    Poll::Ready(result) => result,
                    Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
                }
            }
        }
    }
}

impl Output {
    /// Our own stdout. Bytes in the buffer of `std::io::stdout()` are not written first.
    ///
    /// # Errors
    ///
    /// When the descriptor cannot be duplicated or looked at.
    pub fn stdout() -> io::Result<Self> {
        #[cfg(all(target_os = "linux", feature = "nonblocking"))]
        return Self::of(std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?);
        #[cfg(not(all(target_os = "linux", feature = "nonblocking")))]
        Ok(threaded::stdout().into())
    }

    /// Our own stderr.
    ///
    /// # Errors
    ///
    /// When the descriptor cannot be duplicated or looked at.
    pub fn stderr() -> io::Result<Self> {
        #[cfg(all(target_os = "linux", feature = "nonblocking"))]
        return Self::of(std::os::fd::AsFd::as_fd(&io::stderr()).try_clone_to_owned()?);
        #[cfg(not(all(target_os = "linux", feature = "nonblocking")))]
        Ok(threaded::stderr().into())
    }

    /// Writes to `descriptor`, whatever it is: a pipe, a socket, a terminal, a file.
    ///
    /// # Errors
    ///
    /// When the descriptor cannot be looked at.
    #[cfg(all(target_os = "linux", feature = "nonblocking"))]
    pub fn of(descriptor: impl Into<std::os::fd::OwnedFd>) -> io::Result<Self> {
        Descriptor::shared(descriptor.into(), Direction::Out).map(Self::from)
    }
}

impl AsyncRead for Input {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            #[cfg(all(unix, feature = "nonblocking"))]
            Source::Descriptor(descriptor) => descriptor.poll_read(cx, buffer),
            Source::Other(reader) => Pin::new(reader).poll_read(cx, buffer),
        }
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        match buffers.iter_mut().find(|buffer| !buffer.is_empty()) {
            Some(buffer) => self.poll_read(cx, buffer),
            None => Poll::Ready(Ok(0)),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buffer)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            #[cfg(all(unix, feature = "nonblocking"))]
            Target::Descriptor(descriptor) => descriptor.poll_write(cx, pieces),
            Target::Other(writer) => Pin::new(writer).poll_write_vectored(cx, pieces),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(all(unix, feature = "nonblocking"))]
            Target::Descriptor(_) => Poll::Ready(Ok(())),
            Target::Other(writer) => Pin::new(writer).poll_flush(_cx),
        }
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(all(unix, feature = "nonblocking"))]
            Target::Descriptor(descriptor) => {
                descriptor.close();
                Poll::Ready(Ok(()))
            }
            Target::Other(writer) => Pin::new(writer).poll_close(_cx),
        }
    }
}

#[cfg(all(unix, feature = "nonblocking"))]
impl From<Descriptor> for Input {
    fn from(descriptor: Descriptor) -> Self {
        Self(Source::Descriptor(descriptor))
    }
}

#[cfg(all(unix, feature = "nonblocking"))]
impl From<Descriptor> for Output {
    fn from(descriptor: Descriptor) -> Self {
        Self(Target::Descriptor(descriptor))
    }
}

impl From<threaded::Reader> for Input {
    fn from(reader: threaded::Reader) -> Self {
        Self(Source::Other(reader))
    }
}

impl From<threaded::Writer> for Output {
    fn from(writer: threaded::Writer) -> Self {
        Self(Target::Other(writer))
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            #[cfg(all(unix, feature = "nonblocking"))]
            Source::Descriptor(descriptor) => f.debug_tuple("Input").field(descriptor).finish(),
            Source::Other(_) => f.debug_struct("Input").finish_non_exhaustive(),
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            #[cfg(all(unix, feature = "nonblocking"))]
            Target::Descriptor(descriptor) => f.debug_tuple("Output").field(descriptor).finish(),
            Target::Other(_) => f.debug_struct("Output").finish_non_exhaustive(),
        }
    }
}
