//! Limits the memory of the calls in pending permission requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::ToolCall;

use crate::memory_estimate;

/// The default limit: 64 MiB.
const LIMIT: usize = 64 << 20;

/// The memory of the calls that complete pending permission requests. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct QuestionMemory {
    used: Arc<AtomicUsize>,
    pub(super) limit: usize,
}

impl Default for QuestionMemory {
    fn default() -> Self {
        Self { used: Arc::default(), limit: LIMIT }
    }
}

/// The memory of one permission request. Dropping it returns the memory.
pub(super) struct Reservation {
    memory: QuestionMemory,
    bytes: usize,
}

impl QuestionMemory {
    /// Reserves memory for a call.
    ///
    /// # Errors
    ///
    /// If the pending requests take too much memory, and this is not the only one.
    pub(super) fn reserve(&self, call: &ToolCall) -> Result<Reservation, Error> {
        let bytes = memory_estimate(call);
        let sum = |used: usize| {
            let sum = used.saturating_add(bytes);
            (used == 0 || sum <= self.limit).then_some(sum)
        };
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_err() {
            let limit = self.limit;
            let why =
                format!("the calls of the permission requests that wait take over {limit} bytes, the limit");
            return Err(Error::internal_error(why));
        }
        Ok(Reservation { memory: self.clone(), bytes })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
