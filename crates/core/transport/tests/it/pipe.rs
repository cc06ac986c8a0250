//! A reader and a writer that follow a script.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{AsyncRead, AsyncWrite};

pub(crate) enum Read {
    Bytes(Vec<u8>),
    Pending,
    Error,
}

/// Returns the bytes of the script in pieces of limited size, and then ends. A later read is an error.
pub(crate) struct Reader {
    pub(crate) script: VecDeque<Read>,
    pub(crate) at_once: usize,
    over: bool,
}

impl Reader {
    pub(crate) fn new(script: impl IntoIterator<Item = Read>) -> Self {
        Self { script: script.into_iter().collect(), at_once: usize::MAX, over: false }
    }

    pub(crate) fn of(text: impl Into<Vec<u8>>) -> Self {
        Self::new([Read::Bytes(text.into())])
    }

    /// Gives one byte at a time, and is not ready before each.
    pub(crate) fn trickle(text: &[u8]) -> Self {
        Self::new(text.iter().flat_map(|byte| [Read::Pending, Read::Bytes(vec![*byte])]))
    }
}

impl AsyncRead for Reader {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        assert!(!self.over, "read after the end");
        assert!(!room.is_empty(), "nothing can be read into no room");
        match self.script.pop_front() {
            None => {
                self.over = true;
                Poll::Ready(Ok(0))
            }
            Some(Read::Pending) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Read::Error) => {
                self.over = true;
                Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
            }
            Some(Read::Bytes(mut bytes)) => {
                let count = room.len().min(self.at_once).min(bytes.len());
                room[..count].copy_from_slice(&bytes[..count]);
                if count < bytes.len() {
                    let rest = bytes.split_off(count);
                    self.script.push_front(Read::Bytes(rest));
                }
                Poll::Ready(Ok(count))
            }
        }
    }
}

/// A reader that is always ready, and never returns anything.
pub(crate) struct Blank;

impl AsyncRead for Blank {
    fn poll_read(self: Pin<&mut Self>, _cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        room.fill(b'\n');
        Poll::Ready(Ok(room.len()))
    }
}

/// Takes so much at once, while its allowance lasts.
#[derive(Default)]
pub(crate) struct Writer {
    pub(crate) taken: Vec<u8>,
    pub(crate) at_once: usize,
    /// How much is taken before it is pending.
    pub(crate) allowance: Cell<usize>,
    pub(crate) fails: bool,
    pub(crate) writes: usize,
    pub(crate) flushed: bool,
    pub(crate) closed: bool,
}

impl Writer {
    /// Takes everything.
    pub(crate) fn new() -> Self {
        Self { at_once: usize::MAX, allowance: usize::MAX.into(), ..Self::default() }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.taken).unwrap()
    }

    fn take(&mut self, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        assert!(!self.closed, "written to after it was closed");
        if self.fails {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let allowance = self.allowance.get();
        if allowance == 0 {
            return Poll::Pending;
        }
        let limit = self.at_once.min(allowance);
        let before = self.taken.len();
        for slice in slices {
            let room = limit - (self.taken.len() - before);
            self.taken.extend_from_slice(&slice[..room.min(slice.len())]);
        }
        let count = self.taken.len() - before;
        self.allowance.set(allowance - count);
        self.writes += 1;
        self.flushed = false;
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Writer {
    fn poll_write(mut self: Pin<&mut Self>, _cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.take(&[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.take(slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushed = true;
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.closed = true;
        Poll::Ready(Ok(()))
    }
}
