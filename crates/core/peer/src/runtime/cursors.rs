//! Detects cycles among the cursors of a list that comes in pages.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hash, RandomState};

/// The cursors that a peer has returned for the pages of one list, to detect a cycle.
#[derive(Debug, Default)]
pub struct Cursors {
    /// Each cursor, with a hash of the items of the page that returned it.
    seen: HashMap<Box<str>, u64>,
    hasher: RandomState,
}

/// The relation of a cursor to those that earlier pages returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a reader of pages handles each case")]
pub enum CursorStep {
    /// No earlier page returned the cursor.
    New,
    /// A page with other items returned it: the cursors form a cycle, so the list ends.
    Back,
    /// A page with the same items returned it: the peer ignores cursors.
    SamePage,
}

impl Cursors {
    /// Records the cursor that a page with these items has returned, and compares it with those of earlier pages.
    pub fn follow(&mut self, cursor: &str, items: &impl Hash) -> CursorStep {
        let hash = self.hasher.hash_one(items);
        match self.seen.entry(cursor.into()) {
            Entry::Vacant(entry) => {
                entry.insert(hash);
                CursorStep::New
            }
            Entry::Occupied(entry) if *entry.get() == hash => CursorStep::SamePage,
            Entry::Occupied(_) => CursorStep::Back,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_cursor_leads_back() {
        let mut cursors = Cursors::default();
        assert_eq!(cursors.follow("", &"a"), CursorStep::New);
        assert_eq!(cursors.follow("2", &"b"), CursorStep::New);
        assert_eq!(cursors.follow("", &"c"), CursorStep::Back);
        assert_eq!(cursors.follow("", &"a"), CursorStep::SamePage);
        assert_eq!(Cursors::default().follow("2", &"b"), CursorStep::New);
    }
}
