/// What an update did to a [`Conversation`](super::Conversation).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a view draws what it names"]
#[non_exhaustive]
pub struct Applied {
    /// What to draw anew.
    pub change: Change,
    /// How many of the oldest entries were forgotten because the limit was reached.
    pub forgotten: usize,
    /// How much of the update, in bytes of memory, is not kept, because it is too large for what it belongs to. What
    /// was there before stays.
    pub omitted: usize,
}

impl Applied {
    pub(super) fn new(change: Change, omitted: usize) -> Self {
        Self { change, forgotten: 0, omitted }
    }
}

/// The part of a [`Conversation`](super::Conversation) that is different now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// None.
    Nothing,
    /// There is a new entry at the end, with this index.
    Added(usize),
    /// A block was added to a message or to the summary of a compaction, or text to its last block. A
    /// message may have another `_meta`.
    Extended {
        /// The entry.
        index: usize,
        /// The block, the last one of its content.
        block: usize,
        /// Where the new text begins in the block, in bytes. 0 if all of the block is new.
        byte: usize,
    },
    /// Any part of this entry may be different.
    Updated(usize),
    /// The plan.
    Plan,
    /// The slash commands.
    Commands,
    /// The mode.
    Mode,
    /// The configuration options.
    ConfigOptions,
    /// The modes and the configuration options, both.
    Settings,
    /// The title, or when the session was last active.
    Info,
    /// How full the context is, and the cost.
    Usage,
}

impl Change {
    /// The entry that it is about.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Added(index) | Self::Updated(index) | Self::Extended { index, .. } => Some(*index),
            _ => None,
        }
    }
}
