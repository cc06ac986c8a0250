//! Keeps incomplete lines and bodies, within limits for each and for all together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::event::{KEPT_OF_LONG_LINE, Line};

/// A limit on the bytes of several buffers together.
#[derive(Debug)]
pub(crate) struct Budget {
    used: AtomicUsize,
    limit: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { used: AtomicUsize::new(0), limit })
    }
}

/// The bytes of a budget that one buffer has reserved. Dropping it returns them.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Reservation {
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        Self { budget: budget.clone(), bytes: 0 }
    }

    /// Reserves more bytes. Returns whether the budget has them.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let used = self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        if used.saturating_add(bytes) <= self.budget.limit {
            return true;
        }
        self.shrink(bytes);
        false
    }

    /// Returns all bytes to the budget.
    pub(crate) fn clear(&mut self) {
        self.shrink(self.bytes);
    }

    fn shrink(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.budget.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.clear();
    }
}

/// An incomplete line or body. Beyond its limit or the budget, only its first 4 KiB are kept, and the rest is counted.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    limit: usize,
    reservation: Reservation,
    bytes: Vec<u8>,
    length: u64,
    is_cut: bool,
}

impl LineBuffer {
    pub(crate) fn new(limit: usize, budget: &Arc<Budget>) -> Self {
        Self { limit, reservation: Reservation::new(budget), bytes: Vec::new(), length: 0, is_cut: false }
    }

    /// Adds bytes.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        self.is_cut = self.is_cut || self.length > self.limit as u64 || !self.reservation.grow(piece.len());
        if !self.is_cut {
            self.bytes.extend_from_slice(piece);
            return;
        }
        self.reservation.clear();
        let room = KEPT_OF_LONG_LINE.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&piece[..room.min(piece.len())]);
        self.bytes.truncate(KEPT_OF_LONG_LINE);
        self.bytes.shrink_to(KEPT_OF_LONG_LINE);
    }

    /// Takes the complete line, and empties the buffer.
    pub(crate) fn take(&mut self) -> Line {
        self.reservation.clear();
        self.is_cut = false;
        Line { bytes: std::mem::take(&mut self.bytes), length: std::mem::take(&mut self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_their_own_and_the_common_limit() {
        let budget = Budget::new(20_000);
        let mut lines: Vec<_> = (0..3).map(|_| LineBuffer::new(12_000, &budget)).collect();
        for _ in 0..9 {
            lines.iter_mut().for_each(|line| line.push(&[b'x'; 1000]));
        }
        assert_eq!(lines.iter().map(|line| line.is_cut).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(lines[2].bytes.capacity(), KEPT_OF_LONG_LINE);
        let cut = lines[2].take();
        assert_eq!((cut.bytes.len(), cut.length), (KEPT_OF_LONG_LINE, 9000));
        assert_eq!(lines[1].take().bytes.len(), 9000);
        lines[0].push(&[b'y'; 3001]);
        assert_eq!((lines[0].take().length, budget.used.load(Ordering::Relaxed)), (12_001, 0));
        lines[0].push(b"next");
        assert_eq!(lines[0].take(), Line::new("next"));
        lines[1].push(b"dropped");
        drop(lines);
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }
}
