//! How the editing of a line at the terminal ended.

/// How the editing of a line ended.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "editor"), allow(dead_code, reason = "only a line editor makes them"))]
pub(in crate::chat) enum EditOutcome {
    /// Enter: the line.
    Line(String),
    /// The terminal was needed for something else. The editor keeps the text for the next read.
    Interrupted,
    /// ^C: the text is dropped.
    Cleared,
    /// ^Z: the process is to be stopped. The editor keeps the text for the next read.
    Suspended,
    /// ^D: the person ends the conversation.
    End,
}
