//! The outcome of an update: the part that a view draws again.

/// The outcome of an update of a [`Conversation`](super::Conversation).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a view draws the part that it names"]
#[non_exhaustive]
pub struct Applied {
    /// The part to draw again.
    pub change: Change,
    /// The change of a terminal of the agent, also beside another `change`.
    pub terminal: Option<TerminalChange>,
    /// How many of the oldest entries were dropped because of the limit.
    pub forgotten: usize,
    /// How many bytes of memory of the update were left out, because they exceed the limit of their part. The earlier
    /// value stays.
    pub omitted: usize,
}

impl Applied {
    pub(crate) fn new(change: Change, omitted: usize) -> Self {
        Self { change, terminal: None, forgotten: 0, omitted }
    }
}

/// The part of a [`Conversation`](super::Conversation) that an update has changed.
///
/// A view draws the named part and compares nothing, so drawing takes time in proportion to the update, not to the
/// entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// No part.
    Nothing,
    /// A new entry was added at the end, with this index.
    Added(usize),
    /// A message or the summary of a compaction grew, by a block or by text in its last block. The `_meta` of the message
    /// may have changed too.
    Extended {
        /// The entry.
        index: usize,
        /// The block, the last one of its content.
        block: usize,
        /// Where the new text begins in the block, in bytes. 0 if all of the block is new.
        byte: usize,
    },
    /// Fields of an entry have changed.
    Updated {
        /// The entry.
        index: usize,
        /// The changed fields. At least one.
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
    /// Both the modes and the configuration options.
    Settings,
    /// The title, the time of the last activity, or the `_meta` of the session.
    Info {
        /// Whether the title has changed.
        title: bool,
    },
    /// The size of the context in use, and the cost.
    Usage,
}

impl Change {
    /// Returns the index of the changed entry.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Added(index) | Self::Updated { index, .. } | Self::Extended { index, .. } => Some(*index),
            _ => None,
        }
    }

    /// Returns [`Updated`](Self::Updated), or [`Nothing`](Self::Nothing) if no field has changed.
    pub(super) fn updated(index: usize, fields: ChangedFields) -> Self {
        if fields == ChangedFields::default() { Self::Nothing } else { Self::Updated { index, fields } }
    }
}

/// The change of an [`AgentTerminal`](super::AgentTerminal).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalChange {
    /// The terminal.
    pub index: usize,
    /// The position from which its output is new. 0 if other output replaces all of the earlier output.
    pub output: Option<u64>,
    /// Whether this update ended the command.
    pub ended: bool,
}

/// The fields of an [`Entry`](super::Entry) that have changed. An entry has only some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedFields {
    /// The first block that has changed, was added or was removed: in the content of a tool call or a message, or in the
    /// summary of a compaction.
    pub content: Option<usize>,
    /// The status of a tool call or a compaction.
    pub status: bool,
    /// The title of a tool call.
    pub title: bool,
    /// The kind of a tool call.
    pub kind: bool,
    /// The name of the tool.
    pub name: bool,
    /// The locations of a tool call.
    pub locations: bool,
    /// The input of the tool.
    pub raw_input: bool,
    /// The output of the tool.
    pub raw_output: bool,
    /// Whether a tool call counts as cancelled.
    pub cancelled: bool,
    /// The error of a compaction.
    pub error: bool,
    /// The id of a message.
    pub message_id: bool,
    /// The `_meta`.
    pub meta: bool,
    /// The bytes that were left out of the entry.
    pub omitted: bool,
}
