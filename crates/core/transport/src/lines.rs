//! Frames JSON-RPC as one line per frame over a reader and a writer. Each poll yields after 16 reads without a line.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{FrameReader, LineDecoder, LineError};
use bytestring::ByteString;
use futures::{AsyncRead, AsyncWrite, Sink, Stream};

use crate::output::Output;
use crate::{Packet, TransportError};

/// The number of reads without a complete line after which other tasks run. A peer that sends only blank lines, or one
/// endless line, would otherwise starve them.
const READS_AT_ONCE: usize = 16;

/// A transport with one frame per line, over any pair of byte streams.
///
/// ACP and MCP use it over stdio, a socket, or a pair of pipes. `read` and `write` implement the traits of the `futures`
/// crate; `tokio_util::compat` adapts types of tokio. A line may be 32 MiB long unless [`limit`](Lines::limit) changes it. A
/// peer whose first line is a `Content-Length` header ends the transport with
/// [`ContentLength`](agentwire_jsonrpc::ContentLength), because none of its messages could be read. If the peer pauses after a
/// complete object, the object is a message even without a line end.
///
/// ```
/// use agentwire_transport::{Packet, lines};
/// use futures::io::Cursor;
/// use futures::{SinkExt, StreamExt};
///
/// # futures::executor::block_on(async {
/// let input = Cursor::new(b"{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n");
/// let mut transport = lines(input, Vec::new());
/// let hello = transport.next().await.unwrap()?;
/// transport.send(hello).await?; // written as one line, and flushed
/// assert!(transport.next().await.is_none());
/// # Ok::<_, agentwire_transport::TransportError>(())
/// # }).unwrap();
/// ```
pub fn lines<R, W>(read: R, write: W) -> Lines<R, W> {
    Lines {
        read,
        write,
        input: LineDecoder::default(),
        frames: FrameReader::default(),
        output: Output::default(),
        reading: Reading::Open,
    }
}

/// A transport of lines; see [`lines`].
#[derive(Debug)]
pub struct Lines<R, W> {
    read: R,
    write: W,
    input: LineDecoder,
    frames: FrameReader,
    output: Output,
    reading: Reading,
}

#[derive(Debug, PartialEq, Eq)]
enum Reading {
    Open,
    /// The reader has ended. Lines in the buffer are still returned.
    Ended,
    /// The stream has returned its error: the reader failed, or the peer does not write lines.
    Failed,
}

impl<R, W> Lines<R, W> {
    /// Sets the limit of a line in bytes (default 32 MiB). A longer line is refused with an error that names the limit, and
    /// the next line is read as usual. Must be set before the first read.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.input = LineDecoder::new(bytes);
        self.frames.set_limit(bytes);
        self
    }

    /// Sets how many messages a batch may have (default 1024).
    #[must_use]
    pub fn batch_limit(mut self, messages: usize) -> Self {
        self.frames.set_batch_limit(messages);
        self
    }

    fn packet(&mut self, line: Result<ByteString, LineError>) -> Result<Packet, TransportError> {
        let frame = self.frames.read(line).map_err(TransportError::other);
        if frame.is_err() {
            self.reading = Reading::Failed;
        }
        frame.map(Packet::new)
    }

    /// The byte stream that this transport writes to.
    pub fn writer(&self) -> &W {
        &self.write
    }

    /// The byte stream that this transport reads from.
    pub fn reader(&self) -> &R {
        &self.read
    }
}

impl<R: AsyncRead + Unpin, W: Unpin> Stream for Lines<R, W> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        for _ in 0..READS_AT_ONCE {
            let line = match this.reading {
                Reading::Open => this.input.next_line(),
                Reading::Ended => this.input.next_line().or_else(|| this.input.finish()),
                Reading::Failed => None,
            };
            if let Some(line) = line {
                return Poll::Ready(Some(this.packet(line)));
            }
            if this.reading != Reading::Open {
                return Poll::Ready(None);
            }
            match Pin::new(&mut this.read).poll_read(cx, this.input.room()) {
                Poll::Ready(Ok(0)) => this.reading = Reading::Ended,
                Poll::Ready(Ok(count)) => this.input.filled(count),
                Poll::Ready(Err(error)) => {
                    this.reading = Reading::Failed;
                    return Poll::Ready(Some(Err(error.into())));
                }
                Poll::Pending => {
                    let Some(line) = this.input.whole_object() else { return Poll::Pending };
                    return Poll::Ready(Some(this.packet(line)));
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<R: Unpin, W: AsyncWrite + Unpin> Sink<Packet> for Lines<R, W> {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        if this.output.has_room() {
            return Poll::Ready(Ok(()));
        }
        match this.output.poll_write(&mut this.write, cx) {
            // A partial write has made room.
            Poll::Pending if this.output.has_room() => Poll::Ready(Ok(())),
            written => written.map_err(TransportError::from),
        }
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        // Other packets report on one of several callers or streams. A stream of lines has one of each.
        if let Packet::Frame { frame, .. } = packet {
            self.get_mut().output.push(&frame);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        ready!(this.output.poll_write(&mut this.write, cx))?;
        Pin::new(&mut this.write).poll_flush(cx).map_err(TransportError::from)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        ready!(this.output.poll_write(&mut this.write, cx))?;
        Pin::new(&mut this.write).poll_close(cx).map_err(TransportError::from)
    }
}
