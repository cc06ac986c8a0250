//! The wire of a script: lines of bytes in both directions.

use std::future::Future;
use std::io;

use agentwire_jsonrpc::DEFAULT_LINE_LIMIT;
use futures_util::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The most bytes that are read at a time: 8 KiB.
const CHUNK: usize = 8 << 10;

/// Carries the lines of a script.
pub trait ScriptWire {
    /// Writes whole lines, in one write if possible. Reports no failure: if a line is lost, the expected message is missing.
    fn write(&mut self, lines: &[u8]) -> impl Future<Output = ()> + Send;

    /// The next line of the judged side, without its end. `None` once it has closed. May be dropped and called again.
    fn read_line(&mut self) -> impl Future<Output = io::Result<Option<Vec<u8>>>> + Send;

    /// Closes the played side.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}

/// A wire over a reader and a writer of bytes. Splits lines itself, because scripts test the decoder of
/// [`LineWire`](crate::LineWire).
#[derive(Debug)]
pub struct LineStreams<R, W> {
    read: R,
    write: W,
    /// The bytes that were read and are not a whole line yet.
    unread: Vec<u8>,
    /// The number of these bytes that were searched for a line end.
    searched: usize,
    chunk: Vec<u8>,
    line_limit: usize,
    has_ended: bool,
}

impl<R, W> LineStreams<R, W> {
    /// A wire over a reader of the judged side's output, and a writer to its input.
    pub fn new(read: R, write: W) -> Self {
        Self {
            read,
            write,
            unread: Vec::new(),
            searched: 0,
            chunk: vec![0; CHUNK],
            line_limit: DEFAULT_LINE_LIMIT,
            has_ended: false,
        }
    }

    /// Sets the longest line, in bytes (default 32 MiB).
    #[must_use]
    pub fn line_limit(mut self, limit: usize) -> Self {
        self.line_limit = limit;
        self
    }

    /// A complete line, or the rest at the end of the stream.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.unread[self.searched..].iter().position(|byte| *byte == b'\n');
        let line = match end {
            Some(end) => {
                let mut line: Vec<u8> = self.unread.drain(..=self.searched + end).collect();
                line.pop();
                line
            }
            None if self.has_ended && !self.unread.is_empty() => std::mem::take(&mut self.unread),
            None => {
                self.searched = self.unread.len();
                return None;
            }
        };
        self.searched = 0;
        Some(line)
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> ScriptWire for LineStreams<R, W> {
    async fn write(&mut self, lines: &[u8]) {
        if self.write.write_all(lines).await.is_ok() {
            let _lost = self.write.flush().await;
        }
    }

    async fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let line = self.take_line();
            if line.is_some() || self.has_ended {
                return Ok(line);
            }
            if self.unread.len() > self.line_limit {
                let why = format!("a line is longer than the limit of {} bytes", self.line_limit);
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            match self.read.read(&mut self.chunk).await? {
                0 => self.has_ended = true,
                count => self.unread.extend_from_slice(&self.chunk[..count]),
            }
        }
    }

    async fn close(&mut self) {
        let _closed = self.write.close().await;
    }
}
