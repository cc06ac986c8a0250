//! Copies bytes between our streams and those of a program.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_recording::LineTap;
use futures_util::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::io::ReadBuf;

/// How many bytes are copied at once: 64 KiB.
const BUFFER: usize = 64 << 10;

/// A stream of tokio's as one of `futures`.
#[derive(Debug)]
pub(crate) struct Compat<S>(pub(crate) S);

impl<S: tokio::io::AsyncRead + Unpin> AsyncRead for Compat<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        ready!(Pin::new(&mut self.0).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<S: tokio::io::AsyncWrite + Unpin> AsyncWrite for Compat<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Copies all bytes and records them, until one of the streams ends. Each piece is recorded before it is passed on, so that an answer
/// is recorded after its request. Dropping the streams tells both sides.
pub(super) async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut tap: LineTap,
) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = match from.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        tap.push(&buffer[..count]);
        let written = match to.write_all(&buffer[..count]).await {
            Ok(()) => to.flush().await,
            failed => failed,
        };
        if written.is_err() {
            break;
        }
    }
    tap.end();
    let _closed = to.close().await;
}
