//! A queue of output to stdout or stderr.
//!
//! A thread writes it, so that a slow reader of our output does not delay our answers to the agent. Reading from the agent pauses
//! while [`ROOM`] bytes are queued; see `chat/view/throttle.rs`.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use agentwire_sync::{Monitor, Waiter};
use tokio::runtime;

/// The number of queued bytes at which reading from the agent pauses: 1 MiB.
const ROOM: usize = 1 << 20;

/// The buffer of a [deferred write](Output::write_later): 64 KiB.
const BUFFER: usize = 64 << 10;

/// A write that runs when it is first in the queue.
pub(crate) type DeferredWrite = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// A destination of output.
pub(crate) trait Output: Write + Send {
    /// Queues a write that takes `bytes` of memory while it is queued. So a long text is escaped only as it is written: escaped, it
    /// may be four times as long.
    fn write_later(&mut self, bytes: usize, write: DeferredWrite);
}

/// A queue of output, and the thread that writes it. Clones share the queue.
#[derive(Clone)]
pub(crate) struct OutputQueue(Arc<Monitor<Queue>>);

/// Waits for room in a queue, for use in poll functions.
pub(crate) struct RoomWaiter(Waiter<Queue, Arc<Monitor<Queue>>>);

#[derive(Default)]
pub(crate) struct Queue {
    pieces: VecDeque<Piece>,
    /// How many bytes of memory the pieces take.
    weight: usize,
    /// The bytes of the piece that is being written.
    writing: Option<usize>,
    /// The number of unwritten pieces from before the hold. `None` if the output is not held.
    held: Option<usize>,
    /// The error after which nothing can be written.
    failed: Option<io::Error>,
}

enum Piece {
    Bytes(Vec<u8>),
    Deferred(usize, DeferredWrite),
}

impl Piece {
    fn weight(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Deferred(weight, _) => *weight,
        }
    }
}

/// Holds back later output until it is dropped, for example while a line is edited on the terminal.
pub(crate) struct OutputHold(OutputQueue);

impl OutputQueue {
    pub(crate) fn new(out: impl Write + Send + 'static) -> Self {
        let queue = Arc::new(Monitor::new(Queue::default()));
        let writer = queue.clone();
        // The thread ends with the process: a write to a pipe without a reader cannot be interrupted.
        thread::spawn(move || write_out(&writer, out));
        Self(queue)
    }

    /// Holds back later output until the result is dropped. Output that is queued already is still written.
    pub(crate) fn hold(&self) -> OutputHold {
        self.0.with(|queue| queue.held = Some(queue.pieces.len()));
        OutputHold(self.clone())
    }

    pub(crate) fn is_held(&self) -> bool {
        self.0.with(|queue| queue.held.is_some())
    }

    /// How many bytes are queued.
    pub(crate) fn waiting(&self) -> usize {
        self.0.with(|queue| queue.weight)
    }

    /// Waits until something is queued.
    pub(crate) async fn wanted(&self) {
        self.0.wait_until(|queue| (!queue.pieces.is_empty()).then_some(())).await;
    }

    /// Waits until everything is written. While output is held, waits for the pieces from before the hold.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(crate) async fn written(&self) -> io::Result<()> {
        let written = self.0.wait_until(|queue| match &queue.failed {
            Some(error) => Some(Err(copy(error))),
            None => (queue.writable() == 0 && queue.writing.is_none()).then_some(Ok(())),
        });
        written.await
    }

    /// Waits until something cannot be written, because our output is closed.
    pub(crate) async fn failed(&self) -> io::Error {
        self.0.wait_until(|queue| queue.failed.as_ref().map(copy)).await
    }

    /// Waits until there is room for more.
    pub(crate) async fn room(&self) {
        self.0.wait_until(Queue::room).await;
    }

    pub(crate) fn room_waiter(&self) -> RoomWaiter {
        RoomWaiter(Waiter::new(self.0.clone()))
    }
}

impl RoomWaiter {
    /// Ready when there is room for more.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.0.poll(cx, Queue::room)
    }
}

impl Write for OutputQueue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.with(|queue| match &queue.failed {
            Some(error) => Err(copy(error)),
            None => {
                queue.push(bytes);
                Ok(bytes.len())
            }
        })
    }

    /// Wakes the thread that writes.
    fn flush(&mut self) -> io::Result<()> {
        self.0.update(|_| ());
        Ok(())
    }
}

impl Output for OutputQueue {
    fn write_later(&mut self, bytes: usize, write: DeferredWrite) {
        self.0.with(|queue| {
            // The caller learns of a failure from `failed` or `written`.
            if queue.failed.is_none() {
                queue.weight += bytes;
                queue.pieces.push_back(Piece::Deferred(bytes, write));
            }
        });
    }
}

impl OutputHold {
    /// Queues a clearing of the cursor's line before the output that is held back.
    pub(crate) fn clear_line(&self) {
        let line = b"\r\x1b[J".to_vec();
        self.0.0.with(|queue| {
            queue.weight += line.len();
            queue.pieces.push_front(Piece::Bytes(line));
        });
    }
}

impl Drop for OutputHold {
    fn drop(&mut self) {
        self.0.0.update(|queue| queue.held = None);
    }
}

impl Queue {
    /// How many pieces may be written now.
    fn writable(&self) -> usize {
        self.held.unwrap_or(self.pieces.len())
    }

    /// `Some` if there is room. There is no room while a large piece is written, so that the next one is not read yet.
    fn room(&mut self) -> Option<()> {
        let has_room = self.weight < ROOM && self.writing.is_none_or(|weight| weight < 2 * ROOM);
        has_room.then_some(())
    }

    /// Adds bytes to the last piece, or to a new one if the last may be written before them.
    fn push(&mut self, bytes: &[u8]) {
        self.weight += bytes.len();
        let is_held_apart = self.held == Some(self.pieces.len());
        match self.pieces.back_mut() {
            Some(Piece::Bytes(last)) if !is_held_apart => last.extend_from_slice(bytes),
            _ => self.pieces.push_back(Piece::Bytes(bytes.to_vec())),
        }
    }

    /// Takes the first piece that may be written now, if there is one.
    fn take(&mut self) -> Option<Piece> {
        if self.writable() == 0 {
            return None;
        }
        let piece = self.pieces.pop_front()?;
        self.held = self.held.map(|held| held - 1);
        self.weight -= piece.weight();
        self.writing = Some(piece.weight());
        Some(piece)
    }

    /// Records that nothing more can be written. Returns the queued pieces.
    fn fail(&mut self, error: io::Error) -> VecDeque<Piece> {
        self.failed = Some(error);
        self.weight = 0;
        self.held = self.held.map(|_| 0);
        std::mem::take(&mut self.pieces)
    }
}

fn write_out(queue: &Monitor<Queue>, mut out: impl Write) {
    let runtime = runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime without I/O and timers needs nothing of the system");
    loop {
        let piece = runtime.block_on(queue.wait_until(Queue::take));
        let outcome = write_piece(&mut out, piece);
        let is_over = outcome.is_err();
        let lost = queue.update(|queue| {
            queue.writing = None;
            outcome.err().map(|error| queue.fail(error))
        });
        drop(lost);
        if is_over {
            return;
        }
    }
}

fn write_piece(out: &mut impl Write, piece: Piece) -> io::Result<()> {
    match piece {
        Piece::Bytes(bytes) => out.write_all(&bytes)?,
        Piece::Deferred(_, write) => {
            let mut buffer = BufWriter::with_capacity(BUFFER, &mut *out);
            write(&mut buffer)?;
            buffer.flush()?;
        }
    }
    out.flush()
}

/// A copy of the error for another waiter.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A reader that takes a piece for each message of a channel.
    struct Slow(mpsc::Receiver<()>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.recv() {
                Ok(()) => Ok(bytes.len()),
                Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn room_ends_at_the_limit_and_returns_when_output_is_written() {
        let (take, taken) = mpsc::channel();
        let mut queue = OutputQueue::new(Slow(taken));
        let room = |queue: &OutputQueue| queue.0.with(|queue| queue.room().is_some());
        let held = queue.hold();
        queue.write_all(&vec![b'x'; ROOM - 1]).unwrap();
        assert!(room(&queue));
        queue.write_all(b"x").unwrap();
        assert!(!room(&queue));
        drop(held);
        take.send(()).unwrap();
        queue.written().await.unwrap();
        assert!(room(&queue));
        // The reader has gone.
        drop(take);
        queue.write_all(b"x").unwrap();
        queue.flush().unwrap();
        assert_eq!(queue.failed().await.kind(), io::ErrorKind::BrokenPipe);
        assert!(queue.written().await.is_err() && queue.write(b"x").is_err());
        assert!(room(&queue), "a waiter for room learns the failure");
    }

    #[tokio::test]
    async fn text_before_a_hold_is_still_written() {
        let (read, write) = io::pipe().unwrap();
        let mut queue = OutputQueue::new(write);
        queue.write_all(b"question").unwrap();
        let held = queue.hold();
        queue.write_all(b"news").unwrap();
        queue.flush().unwrap();
        queue.written().await.unwrap();
        let mut shown = [0; 8];
        io::Read::read_exact(&mut &read, &mut shown).unwrap();
        assert_eq!((&shown, queue.waiting()), (b"question", 4));
        drop(held);
        queue.written().await.unwrap();
        io::Read::read_exact(&mut &read, &mut shown[..4]).unwrap();
        assert_eq!(&shown[..4], b"news");
    }

    #[tokio::test]
    async fn deferred_write_keeps_its_place_and_delays_the_input() {
        let (take, taken) = mpsc::channel();
        let mut queue = OutputQueue::new(Slow(taken));
        let room = |queue: &OutputQueue| queue.0.with(|queue| queue.room().is_some());
        queue.write_later(4 * ROOM, Box::new(|out| out.write_all(b"large")));
        queue.flush().unwrap();
        // Also while it is being written.
        assert!(!room(&queue));
        take.send(()).unwrap();
        queue.written().await.unwrap();
        assert!(room(&queue));

        let (mut read, write) = io::pipe().unwrap();
        let mut queue = OutputQueue::new(write);
        queue.write_all(b"one ").unwrap();
        queue.write_later(3, Box::new(|out| out.write_all(b"two")));
        queue.write_all(b" three").unwrap();
        assert_eq!(queue.waiting(), 13);
        queue.flush().unwrap();
        queue.written().await.unwrap();
        let mut shown = [0; 13];
        io::Read::read_exact(&mut read, &mut shown).unwrap();
        assert_eq!(&shown, b"one two three");
    }

    #[tokio::test]
    async fn held_text_follows_the_cleared_line() {
        let (read, write) = io::pipe().unwrap();
        let mut queue = OutputQueue::new(write);
        let held = queue.hold();
        queue.write_all(b"news").unwrap();
        queue.flush().unwrap();
        queue.wanted().await;
        assert!(queue.is_held());
        held.clear_line();
        drop(held);
        queue.written().await.unwrap();
        let mut shown = [0; 8];
        io::Read::read_exact(&mut { read }, &mut shown).unwrap();
        assert_eq!(&shown, b"\r\x1b[Jnews");
    }
}
