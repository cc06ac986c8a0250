//! The transport on this process's own stdin and stdout, one frame per line.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_transport::{Lines, Packet, TransportError, lines};
use futures::{Sink, Stream};

use crate::{Input, Output};

/// A transport on our own stdin and stdout with one frame per line, for an agent or server that its client has started.
///
/// While it exists, no other code may write to stdout (`println!` does) or read from stdin.
///
/// ```no_run
/// use agentwire_transport_stdio::stdio;
/// use futures::{SinkExt, StreamExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut client = stdio()?.limit(4 << 20);
/// while let Some(packet) = client.next().await {
///     client.send(packet?).await?; // sends every message back
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When a descriptor cannot be duplicated or inspected. A runtime is needed from the first poll on; without one, the stream or
/// sink returns an error.
pub fn stdio() -> io::Result<Stdio> {
    Ok(Stdio { lines: lines(Input::stdin()?, Output::stdout()?) })
}

/// A transport on our own stdin and stdout; see [`stdio`].
///
/// Closing it flushes, and closes our duplicate of stdout. The peer sees the end of the stream when the process ends.
#[derive(Debug)]
pub struct Stdio {
    lines: Lines<Input, Output>,
}

impl Stdio {
    /// Sets the limit of a line in bytes (default 32 MiB). A longer line is refused with an error that names the limit, and
    /// the next line is read as usual. Must be set before the first read.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.lines = self.lines.limit(bytes);
        self
    }

    /// Sets how many messages a batch may have (default 1024).
    #[must_use]
    pub fn batch_limit(mut self, messages: usize) -> Self {
        self.lines = self.lines.batch_limit(messages);
        self
    }
}

impl Stream for Stdio {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.lines).poll_next(cx)
    }
}

impl Sink<Packet> for Stdio {
    type Error = TransportError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.lines).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        Pin::new(&mut self.lines).start_send(packet)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.lines).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.lines).poll_close(cx)
    }
}
