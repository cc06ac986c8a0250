//! Remembers for each server the attempt to connect that worked.

use std::collections::VecDeque;
use std::sync::Arc;

use agentwire_sync::{Mutex, MutexGuard};

use crate::target::attempt::Attempt;

/// The maximum number of remembered servers. The least recently used one is dropped first.
const MAX_REMEMBERED: usize = 256;

/// Remembers the successful [`Attempt`] for each server, so that the next connection begins with it. Clones share one memory.
///
/// An entry that no longer works is dropped, and the attempts begin again. Servers are identified by their URL or command.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<VecDeque<(String, Attempt)>>>);

impl Memory {
    /// Creates an empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn recall(&self, server: &str) -> Option<Attempt> {
        let mut known = self.lock();
        let place = known.iter().position(|(name, _)| name == server)?;
        let entry = known.remove(place)?;
        let attempt = entry.1;
        known.push_back(entry);
        Some(attempt)
    }

    pub(crate) fn remember(&self, server: &str, attempt: Attempt) {
        let mut known = self.lock();
        known.retain(|(name, _)| name != server);
        if known.len() >= MAX_REMEMBERED {
            known.pop_front();
        }
        known.push_back((server.to_owned(), attempt));
    }

    pub(crate) fn forget(&self, server: &str) {
        self.lock().retain(|(name, _)| name != server);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Attempt)>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_entry_is_kept_longest() {
        let memory = Memory::new();
        for number in 0..MAX_REMEMBERED {
            memory.remember(&number.to_string(), Attempt::Legacy);
        }
        assert_eq!(memory.clone().recall("0"), Some(Attempt::Legacy));
        memory.remember("one more", Attempt::Sse);
        assert_eq!(memory.recall("1"), None);
        assert_eq!(memory.recall("0"), Some(Attempt::Legacy));
        memory.forget("0");
        assert_eq!(memory.recall("0"), None);
        assert_eq!(memory.lock().len(), MAX_REMEMBERED - 1);
    }
}
