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
    pub(crate) fn new(change: Change, omitted: usize) -> Self {
        Self { change, forgotten: 0, omitted }
    }
}

/// The part of a [`Conversation`](super::Conversation) that is different now.
///
/// It names what to draw, so a view never compares an entry with what it drew before: drawing costs as much as the update
/// is long, however much the entry holds.
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
    /// Fields of an entry have other values.
    Updated {
        /// The entry.
        index: usize,
        /// Which fields. At least one.
        fields: ChangedFields,
    },
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
    /// The title, when the session was last active, or its `_meta`.
    Info {
        /// Whether the title is another one.
        title: bool,
    },
    /// How full the context is, and the cost.
    Usage,
}

impl Change {
    /// The entry that it is about.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Added(index) | Self::Updated { index, .. } | Self::Extended { index, .. } => Some(*index),
            _ => None,
        }
    }

    /// [`Updated`](Self::Updated), or [`Nothing`](Self::Nothing) where no field is different.
    pub(super) fn updated(index: usize, fields: ChangedFields) -> Self {
        if fields == ChangedFields::default() { Self::Nothing } else { Self::Updated { index, fields } }
    }
}

/// The fields of an [`Entry`](super::Entry) that have other values than before. An entry has only some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedFields {
    /// The content of a tool call or a message, or the summary of a compaction: the index of the first block that is
    /// different, new or gone. The blocks before it are as they were.
    pub content: Option<usize>,
    /// The status of a tool call or a compaction.
    pub status: bool,
    /// The title of a tool call.
    pub title: bool,
    /// The kind of a tool call.
    pub kind: bool,
    /// The name of the tool.
    pub name: bool,
    /// The places that a tool call is about.
    pub locations: bool,
    /// What the tool was given.
    pub raw_input: bool,
    /// What the tool returned.
    pub raw_output: bool,
    /// Whether a tool call counts as cancelled.
    pub cancelled: bool,
    /// What went wrong in a compaction.
    pub error: bool,
    /// The id of a message.
    pub message_id: bool,
    /// The `_meta`.
    pub meta: bool,
    /// How much was left out of the entry.
    pub omitted: bool,
}
