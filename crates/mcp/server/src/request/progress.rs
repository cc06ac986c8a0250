//! The progress of a request: the client's token, and the greatest value reported so far.

use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_mcp_schema::ProgressToken;

/// The progress of a request: the token that its client gave, and the greatest report so far.
pub(crate) struct Progress {
    pub(crate) token: Option<ProgressToken>,
    /// The bits of an `f64`. Infinite once the request is over.
    greatest: AtomicU64,
}

impl Progress {
    pub(crate) fn new(token: Option<ProgressToken>) -> Self {
        Self { token, greatest: AtomicU64::new(f64::NEG_INFINITY.to_bits()) }
    }

    /// Whether a report is greater than the last one. False for NaN, and once the request is over.
    #[inline]
    pub(crate) fn grows_to(&self, progress: f64) -> bool {
        progress > self.greatest()
    }

    pub(crate) fn set(&self, progress: f64) {
        self.greatest.store(progress.to_bits(), Ordering::Relaxed);
    }

    /// No report follows.
    pub(crate) fn end(&self) {
        self.set(f64::INFINITY);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.greatest() == f64::INFINITY
    }

    fn greatest(&self) -> f64 {
        f64::from_bits(self.greatest.load(Ordering::Relaxed))
    }
}
