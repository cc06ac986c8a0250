//! Buffers the lines that `Lines` writes. Bodies from 32 KiB on are not copied but written with vectored I/O.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{Frame, Message};
use bytes::Bytes;
use futures::AsyncWrite;

/// The number of unwritten bytes at which the sink is no longer ready. A lower value costs system calls, a higher one delays
/// the first message of a burst.
const HIGH_WATER: usize = 64 << 10;

/// The size in bytes from which a body is written without being copied.
const COPY_LIMIT: usize = 32 << 10;

/// The most slices passed to one system call.
const MAX_PIECES: usize = 16;

/// Unwritten lines, joined so that one system call writes many of them.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// Complete pieces, before `tail`.
    pieces: VecDeque<Bytes>,
    tail: Vec<u8>,
    /// How much of the first piece (or of `tail`, if there is none) has been written.
    written: usize,
    waiting: usize,
}

impl Output {
    pub(crate) fn has_room(&self) -> bool {
        self.waiting < HIGH_WATER
    }

    /// Adds one line.
    #[inline]
    pub(crate) fn push(&mut self, frame: &Frame) {
        if self.pieces.is_empty() && self.written >= HIGH_WATER {
            self.tail.drain(..std::mem::take(&mut self.written));
        }
        match frame {
            Frame::Single(message) if message.body().is_some_and(|body| body.len() >= COPY_LIMIT) => {
                self.push_in_pieces(message);
            }
            frame => {
                let before = self.tail.len();
                frame.write(&mut self.tail);
                self.tail.push(b'\n');
                self.waiting += self.tail.len() - before;
            }
        }
    }

    /// Adds one line whose body is not copied.
    fn push_in_pieces(&mut self, message: &Message) {
        let before = self.tail.len();
        message.write_head(&mut self.tail);
        self.waiting += self.tail.len() - before;
        if let Some(body) = message.body() {
            self.cut();
            self.waiting += body.len();
            self.pieces.push_back(body.clone().into_bytes());
        }
        let before = self.tail.len();
        message.write_tail(&mut self.tail);
        self.tail.push(b'\n');
        self.waiting += self.tail.len() - before;
    }

    /// Turns the tail into a piece, so that a body can follow it. `written` counts from the first piece, so it stays valid.
    fn cut(&mut self) {
        self.pieces.push_back(std::mem::take(&mut self.tail).into());
    }

    /// Writes until all bytes are written.
    pub(crate) fn poll_write<W: AsyncWrite + Unpin>(
        &mut self,
        writer: &mut W,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.waiting > 0 {
            let count = if self.pieces.is_empty() {
                ready!(Pin::new(&mut *writer).poll_write(cx, &self.tail[self.written..]))?
            } else {
                let mut slices = [IoSlice::new(&[]); MAX_PIECES];
                let count = self.fill(&mut slices);
                ready!(Pin::new(&mut *writer).poll_write_vectored(cx, &slices[..count]))?
            };
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(count);
        }
        Poll::Ready(Ok(()))
    }

    fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let pieces = self.pieces.iter().map(|piece| &piece[..]).chain([&self.tail[..]]);
        let mut used = 0;
        for (slot, piece) in slices.iter_mut().zip(pieces) {
            *slot = IoSlice::new(if used == 0 { &piece[self.written..] } else { piece });
            used += 1;
        }
        used
    }

    fn advance(&mut self, count: usize) {
        self.waiting -= count;
        self.written += count;
        while let Some(piece) = self.pieces.front() {
            if self.written < piece.len() {
                return;
            }
            self.written -= piece.len();
            self.pieces.pop_front();
        }
        if self.written == self.tail.len() {
            self.tail.clear();
            self.written = 0;
            // Frees the memory of a large message.
            self.tail.shrink_to(2 * HIGH_WATER);
        }
    }
}
