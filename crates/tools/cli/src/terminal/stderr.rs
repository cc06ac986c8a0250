//! Orders output to stderr with the output to stdout.

use std::io::{self, Write};

use crate::output::output_queue::{DeferredWrite, Output, OutputQueue};
use crate::output::text::UnlockedStderr;

/// Writes each piece to stderr after the output that was queued for stdout before it. So a terminal or a file that receives both
/// has everything in order.
pub(super) struct OrderedStderr {
    queue: OutputQueue,
    /// The output since the last flush.
    piece: Vec<u8>,
}

impl OrderedStderr {
    pub(super) fn new(queue: OutputQueue) -> Self {
        Self { queue, piece: Vec::new() }
    }

    fn queue_piece(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        if piece.is_empty() {
            return;
        }
        let weight = piece.len();
        let write = move |_: &mut dyn Write| {
            // If stderr is closed, the answer still goes to stdout.
            let _closed = UnlockedStderr.write_all(&piece);
            Ok(())
        };
        self.queue.write_later(weight, Box::new(write));
    }
}

impl Write for OrderedStderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.queue_piece();
        self.queue.flush()
    }
}

impl Output for OrderedStderr {
    fn write_later(&mut self, bytes: usize, write: DeferredWrite) {
        self.queue_piece();
        let write = move |_: &mut dyn Write| {
            let mut stderr = io::BufWriter::new(UnlockedStderr);
            let _closed = write(&mut stderr).and_then(|()| stderr.flush());
            Ok(())
        };
        self.queue.write_later(bytes, Box::new(write));
    }
}
