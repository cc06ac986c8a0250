//! Checks of how a client prompts, and of what it does with the updates.

pub(super) mod content;
pub(super) mod prompt;
pub(super) mod tool_calls;
pub(super) mod updates;
