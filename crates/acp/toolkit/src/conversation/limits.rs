//! The memory limits of a conversation's parts, and replacement of values within them.

use serde::Serialize;

use super::weight::weight;

/// The weight of an entry beside its content: its slot, its id and the index of ids, in bytes.
pub(super) const ENTRY: usize = 1024;

/// The memory limits of the parts of a [`Conversation`](super::Conversation), in bytes.
///
/// Each part has a share of the total, and a setter that lowers it and never raises it. The largest entry and all of the
/// state fit into the total at once, so dropping old entries always makes room.
///
/// | part | share of the total | with the default total |
/// |---|---|---|
/// | a message | 1/4 | 32 MiB |
/// | the content of a tool call; the summary of a compaction; all terminals of the agent together | 1/8 each | 16 MiB |
/// | the plan; the commands; the modes; the options; the session's `_meta`; a notice; an unknown update | 1/16 each | 8 MiB |
/// | the input of a tool call; its output | 1/32 each | 4 MiB |
/// | a title, an id, the usage, any other field | 1/256 each | 512 KiB |
///
/// ```
/// use agentwire_acp_toolkit::{Conversation, ConversationLimits};
///
/// let limits = ConversationLimits::new(32 << 20).state(1 << 20).field(4096);
/// let conversation = Conversation::new().limits(limits);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversationLimits {
    pub(super) total: usize,
    pub(super) message: usize,
    pub(super) content: usize,
    pub(super) terminals: usize,
    pub(super) state: usize,
    pub(super) raw: usize,
    pub(super) field: usize,
}

impl ConversationLimits {
    /// Makes limits of this total, in bytes, with the default shares.
    pub fn new(total: usize) -> Self {
        Self {
            total,
            message: total / 4,
            content: total / 8,
            terminals: total / 8,
            state: total / 16,
            raw: total / 32,
            field: total / 256,
        }
    }

    /// Lowers the limit of a message.
    #[must_use]
    pub fn message(mut self, bytes: usize) -> Self {
        self.message = self.message.min(bytes);
        self
    }

    /// Lowers the limit of the content of a tool call, and of the summary of a compaction.
    #[must_use]
    pub fn content(mut self, bytes: usize) -> Self {
        self.content = self.content.min(bytes);
        self
    }

    /// Lowers the limit of all terminals of the agent together. The output of each is limited to a quarter of it.
    #[must_use]
    pub fn terminals(mut self, bytes: usize) -> Self {
        self.terminals = self.terminals.min(bytes);
        self
    }

    /// Lowers the limit of each part of the session's state: the plan, the commands, the modes, the configuration options
    /// and the `_meta`. A notice and an update of an unknown kind have the same limit.
    #[must_use]
    pub fn state(mut self, bytes: usize) -> Self {
        self.state = self.state.min(bytes);
        self
    }

    /// Lowers the limit of the input of a tool call, and of its output.
    #[must_use]
    pub fn raw(mut self, bytes: usize) -> Self {
        self.raw = self.raw.min(bytes);
        self
    }

    /// Lowers the limit of a title, an id, the usage and any other field.
    #[must_use]
    pub fn field(mut self, bytes: usize) -> Self {
        self.field = self.field.min(bytes);
        self
    }
}

/// Replaces `old` and its weight `held` by `new`, unless `new` exceeds the limit. Returns how many bytes are left out, and
/// sets `changed` if the value differs.
pub(super) fn replace<T: Serialize + PartialEq>(
    old: &mut T,
    new: T,
    held: &mut usize,
    limit: usize,
    changed: &mut bool,
) -> usize {
    if *old == new {
        return 0;
    }
    match weight(&new) {
        heavy if heavy > limit => heavy,
        light => {
            *old = new;
            *held = light;
            *changed = true;
            0
        }
    }
}

/// Replaces a list as [`replace`] does, and sets `first` to the index of the first difference.
pub(super) fn replace_list<T: Serialize + PartialEq>(
    old: &mut Vec<T>,
    new: Vec<T>,
    held: &mut usize,
    limit: usize,
    first: &mut Option<usize>,
) -> usize {
    let same = first_difference(old, &new);
    let mut changed = false;
    let omitted = replace(old, new, held, limit, &mut changed);
    *first = same.filter(|_| changed);
    omitted
}

/// Returns the index of the first difference of two lists, or `None` if they are equal.
pub(super) fn first_difference<T: PartialEq>(one: &[T], other: &[T]) -> Option<usize> {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    (same < one.len().max(other.len())).then_some(same)
}
