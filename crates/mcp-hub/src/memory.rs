//! What has worked before.

use std::collections::VecDeque;
use std::sync::Arc;

use agentwire_sync::{Mutex, MutexGuard};

use crate::ladder::Rung;

/// Of how many servers something is remembered. The one that was asked for longest ago is forgotten first.
const MOST: usize = 256;

/// Remembers how each server was reached, so that the next connection begins there and nothing has to be found
/// out again. Clones share what they remember.
///
/// It is never wrong for long: what was remembered and does not work any more is forgotten, and the server is
/// asked anew. Servers are told apart by their URL or their command.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<VecDeque<(String, Rung)>>>);

impl Memory {
    /// One that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn recall(&self, server: &str) -> Option<Rung> {
        let mut known = self.lock();
        let place = known.iter().position(|(name, _)| name == server)?;
        let entry = known.remove(place)?;
        let rung = entry.1;
        known.push_back(entry);
        Some(rung)
    }

    pub(crate) fn remember(&self, server: &str, rung: Rung) {
        let mut known = self.lock();
        known.retain(|(name, _)| name != server);
        if known.len() >= MOST {
            known.pop_front();
        }
        known.push_back((server.to_owned(), rung));
    }

    pub(crate) fn forget(&self, server: &str) {
        self.lock().retain(|(name, _)| name != server);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Rung)>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_kept_longest() {
        let memory = Memory::new();
        for number in 0..MOST {
            memory.remember(&number.to_string(), Rung::Session);
        }
        assert_eq!(memory.clone().recall("0"), Some(Rung::Session));
        memory.remember("one more", Rung::Sse);
        assert_eq!(memory.recall("1"), None);
        assert_eq!(memory.recall("0"), Some(Rung::Session));
        memory.forget("0");
        assert_eq!(memory.recall("0"), None);
        assert_eq!(memory.lock().len(), MOST - 1);
    }
}
