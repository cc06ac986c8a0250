//! Copies bytes between our streams and those of a program.

use agentwire_recording::LineTap;
use futures_util::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The most bytes that are copied at once: 64 KiB.
const BUFFER: usize = 64 << 10;

/// The stream whose end has ended a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndedBy {
    Reader,
    Writer,
}

/// Copies all bytes and records them, until one of the streams ends. Each piece is recorded before it is passed on, so that an answer
/// is recorded after its request. Dropping the streams notifies both sides.
pub(super) async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut tap: LineTap,
) -> EndedBy {
    let mut buffer = vec![0; BUFFER];
    let ended_by = loop {
        let count = match from.read(&mut buffer).await {
            Ok(0) | Err(_) => break EndedBy::Writer,
            Ok(count) => count,
        };
        tap.push(&buffer[..count]);
        let written = match to.write_all(&buffer[..count]).await {
            Ok(()) => to.flush().await,
            failed => failed,
        };
        if written.is_err() {
            break EndedBy::Reader;
        }
    };
    tap.end();
    let _closed = to.close().await;
    ended_by
}
