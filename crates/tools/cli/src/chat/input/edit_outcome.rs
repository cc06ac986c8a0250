//! The outcome of editing a line at the terminal.

/// The outcome of editing a line.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "editor"), allow(dead_code, reason = "only a line editor makes them"))]
pub(in crate::chat) enum EditOutcome {
    /// Enter: the line.
    Line(String),
    /// Output or a question needs the terminal. The editor keeps the text for the next read.
    Interrupted,
    /// ^C: the text is dropped.
    Cleared,
    /// ^Z: the process is to be stopped. The editor keeps the text for the next read.
    Suspended,
    /// ^D: the person ends the conversation.
    End,
}
