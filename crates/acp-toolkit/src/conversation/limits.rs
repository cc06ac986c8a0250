use serde::Serialize;

use super::weight::weight;

/// What an entry takes beside its content: its place, its id, and where the id is looked up.
pub(super) const ENTRY: usize = 1024;

/// How much memory each part of a conversation may take.
///
/// The shares are such that the largest entry and all of the state fit at once: whatever comes, room can be made by
/// forgetting entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) total: usize,
}

impl Limits {
    /// A message.
    pub(super) fn message(self) -> usize {
        self.total / 4
    }

    /// What a tool call has produced, or the summary of a compaction.
    pub(super) fn content(self) -> usize {
        self.total / 8
    }

    /// Each part of the state, such as the plan; also an update that nobody knows, and a notice.
    pub(super) fn state(self) -> usize {
        self.total / 16
    }

    /// What a tool was given, or what it returned.
    pub(super) fn raw(self) -> usize {
        self.total / 32
    }

    /// A title, an id, a word.
    pub(super) fn small(self) -> usize {
        self.total / 256
    }
}

/// Puts `new` in the place of `old`, and its weight in the place of the old one's, unless it is too heavy. Says how much
/// is left out.
pub(super) fn replace<T: Serialize>(old: &mut T, new: T, held: &mut usize, limit: usize) -> usize {
    match weight(&new) {
        heavy if heavy > limit => heavy,
        light => {
            *old = new;
            *held = light;
            0
        }
    }
}
