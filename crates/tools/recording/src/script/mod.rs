//! Scripts: conversations of which one side is played and the other judged, in the format of recordings.

mod format;
mod pattern;
mod play;
#[cfg(test)]
mod tests;
mod wire;

pub use self::format::{Script, ScriptEvent};
pub use self::play::{ScriptConfig, ScriptFailure, play};
pub use self::wire::{LineStreams, ScriptWire};
