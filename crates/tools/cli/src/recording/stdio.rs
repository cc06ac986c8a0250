//! Our own stdin and stdout, with every byte recorded.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_recording::{LineTap, Recorder, Side};
use agentwire_transport::{Lines, lines};
use agentwire_transport_stdio::{Input, Output};
use futures_util::{AsyncRead, AsyncWrite};

/// A transport on our own stdin and stdout, for an agent or a server.
pub(crate) fn recorded_stdio(recorder: Option<Recorder>) -> io::Result<Lines<Tapped<Input>, Tapped<Output>>> {
    let input = LineTap::messages(recorder.clone(), Side::Client);
    let output = LineTap::messages(recorder, Side::Server);
    Ok(lines(
        Tapped { stream: Input::stdin()?, tap: input },
        Tapped { stream: Output::stdout()?, tap: output },
    ))
}

/// A stream whose lines are recorded.
#[derive(Debug)]
pub(crate) struct Tapped<S> {
    stream: S,
    tap: LineTap,
}

impl<S: AsyncRead + Unpin> AsyncRead for Tapped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let count = ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        match count {
            0 => this.tap.end(),
            count => this.tap.push(&buffer[..count]),
        }
        Poll::Ready(Ok(count))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tapped<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let count = ready!(Pin::new(&mut this.stream).poll_write(cx, bytes))?;
        this.tap.push(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let count = ready!(Pin::new(&mut this.stream).poll_write_vectored(cx, slices))?;
        let mut left = count;
        for slice in slices {
            let piece = &slice[..left.min(slice.len())];
            this.tap.push(piece);
            left -= piece.len();
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        ready!(Pin::new(&mut this.stream).poll_close(cx))?;
        this.tap.end();
        Poll::Ready(Ok(()))
    }
}
