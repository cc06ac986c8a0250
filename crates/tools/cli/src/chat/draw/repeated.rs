//! A message that may be a copy of the result right above it.
//!
//! Many agents repeat the result of a tool as their answer. A message is held back while it is a prefix of the result. It is
//! left out if it equals the result when it ends, and shown as soon as it differs.

use crate::terminal::StreamedMessage;

/// The longest result that is compared with the message below it: 1 KiB, and 10 lines. All of it is shown.
const LIMIT: usize = 1 << 10;
const LINE_LIMIT: usize = 10;

/// Whether a result is short enough to be compared.
pub(super) fn is_comparable(result: &str) -> bool {
    result.len() <= LIMIT && result.lines().nth(LINE_LIMIT).is_none() && !result.trim().is_empty()
}

/// The part of a message that has arrived. It is a prefix of the result above it.
pub(super) struct HeldMessage {
    pub(super) message: StreamedMessage,
    text: String,
    result: String,
}

impl HeldMessage {
    /// Holds back the beginning of a message. Returns the text if it is not a prefix of the result.
    pub(super) fn begin(message: StreamedMessage, text: String, result: &str) -> Result<Self, String> {
        Self { message, text: String::new(), result: result.trim().to_owned() }.extend(&text)
    }

    /// Adds text to the message. Returns the whole message if it is not a prefix of the result.
    pub(super) fn extend(mut self, more: &str) -> Result<Self, String> {
        self.text.push_str(more);
        if self.result.starts_with(self.text.trim()) { Ok(self) } else { Err(self.text) }
    }

    /// Ends the message. Returns it unless it is a copy of the result.
    pub(super) fn end(self) -> Option<String> {
        (self.text.trim() != self.result).then_some(self.text)
    }
}
