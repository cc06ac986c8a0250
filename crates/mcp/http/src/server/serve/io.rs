//! Wraps the TCP stream that hyper uses: fails on slow request heads, stalled writes and clients that left. Detects HTTP/2 by its
//! preface.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::server::serve::connection_state::ConnectionState;
use crate::server::serve::connections::ConnectionSlot;

/// The client's first bytes in HTTP/2 (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// A connection that fails when its client takes too long for the head of a request, takes nothing for too long, or
/// leaves before it has its answer.
///
/// hyper's header and disconnect timeouts allocate per request and fragment the heap, so the socket is timed here.
#[derive(Debug)]
pub(crate) struct TimedSocket {
    io: TcpStream,
    state: Arc<ConnectionState>,
    place: ConnectionSlot,
    /// How much of [`PREFACE`] has come. None once it is known whether the client speaks HTTP/2.
    preface: Option<usize>,
    /// Whether hyper waits for bytes from the client.
    awaited: bool,
    /// How many requests have come, and until when the head of the next has to be there.
    head: (u32, Instant),
    head_timeout: Duration,
    /// How long a connection of HTTP/2 may be without a stream.
    idle_timeout: Duration,
    /// Fires at the time in `head`, or before it.
    head_timer: Pin<Box<Sleep>>,
    /// While the client takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    write_timeout: Duration,
}

/// The times that a connection waits at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) head: Duration,
    pub(crate) idle: Duration,
    pub(crate) write: Duration,
}

impl TimedSocket {
    pub(crate) fn new(
        io: TcpStream,
        state: Arc<ConnectionState>,
        place: ConnectionSlot,
        Timeouts { head: head_timeout, idle: idle_timeout, write: write_timeout }: Timeouts,
    ) -> Self {
        let head_timer = Box::pin(tokio::time::sleep(head_timeout));
        let head = (0, head_timer.deadline());
        Self {
            io,
            state,
            place,
            preface: Some(0),
            awaited: false,
            head,
            head_timeout,
            idle_timeout,
            head_timer,
            stalled: None,
            write_timeout,
        }
    }

    /// Ready when the head of a request took too long. In HTTP/2, where another may be on its way, the connection is
    /// then made to finish.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(answered) = self.state.waits() else {
            return Poll::Pending;
        };
        // Until its first request a connection of HTTP/2 has the time limit of a head.
        let lingers = answered != 0 && self.state.is_http2();
        if self.head.0 != answered {
            let now = Instant::now();
            self.state.rest(now.into_std());
            // A time too long for the clock is as good as none.
            let timeout = if lingers { self.idle_timeout.min(FAR) } else { self.head_timeout };
            self.head = (answered, now + timeout);
            if self.head_timer.deadline() > self.head.1 {
                self.head_timer.as_mut().reset(self.head.1);
            }
        }
        loop {
            ready!(self.head_timer.poll_unpin(cx));
            if self.head_timer.deadline() >= self.head.1 {
                break;
            }
            self.head_timer.as_mut().reset(self.head.1);
        }
        if lingers {
            self.state.close(false);
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Looks for the HTTP/2 preface before hyper opens streams. Fails where the caller has too many HTTP/2 connections.
    fn look_for_preface(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(missing) = self.preface.and_then(|seen| PREFACE.get(seen..)) else { return Ok(()) };
        let length = bytes.len().min(missing.len());
        if bytes[..length] != missing[..length] {
            self.preface = None;
        } else if length < missing.len() {
            self.preface = self.preface.map(|seen| seen + length);
        } else {
            self.preface = None;
            if !self.place.set_http2() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        Ok(())
    }

    /// Fails when the client has left while hyper does not read.
    fn watch_for_end(&self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.io.poll_peek(cx, &mut ReadBuf::new(&mut [0])) {
            Poll::Ready(Ok(0)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Poll::Ready(peeked) => peeked.map(drop),
            Poll::Pending => Ok(()),
        }
    }

    /// Passes on the outcome of a write. Fails if writes have been pending for `write_timeout`.
    fn watch<R>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        // Nothing is flushed before it has all been written.
        if !self.awaited {
            self.watch_for_end(cx)?;
        }
        let timeout = self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(stalled.poll_unpin(cx));
        let why = format!("the client took nothing for longer than the limit of {timeout:?}");
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
    }
}

impl AsyncRead for TimedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buf);
        if self.preface.is_some() {
            self.look_for_preface(&buf.filled()[before..])?;
        }
        self.awaited = read.is_pending();
        if read.is_pending() && self.poll_late(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for TimedSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes at the end of each of its polls.
        if !self.awaited {
            self.watch_for_end(cx)?;
        }
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
