//! The updates `terminal_update` and `terminal_output_chunk` for terminals of the agent, and `terminal/cancel`.

use std::num::NonZeroU16;

use agentwire_wire_derive::{Build, Wire};

use super::AbsolutePath;
use crate::common::{Meta, Patch, SessionId, TerminalId, empty_object, marker_capability};

/// The update `terminal_update`: a terminal of the agent began or changed.
///
/// The first one with an id begins the terminal, later ones patch it: a missing member keeps its value, null means that the
/// value is unknown.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalUpdate {
    /// Identifies the terminal.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// The command that it runs.
    #[wire(patch)]
    pub command: Patch<String>,
    /// The directory it runs in.
    #[wire(patch)]
    pub cwd: Patch<AbsolutePath>,
    /// The whole output.
    #[wire(patch)]
    pub output: Patch<TerminalOutput>,
    /// How the command ended. If it is present, the command has ended.
    #[wire(patch)]
    pub exit_status: Patch<TerminalExitStatus>,
    /// The size of the terminal for the command. Show the output in this size.
    #[wire(patch)]
    pub size: Patch<TerminalSize>,
    /// Everything that the client can do to the terminal now. Nothing for a new one.
    #[wire(patch)]
    pub capabilities: Patch<TerminalCapabilities>,
    /// Extension metadata, as a patch that [merges](Patch::merge) its keys.
    #[wire(patch, name = "_meta")]
    pub meta: Patch<Meta>,
}

/// The whole output of a terminal.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalOutput {
    /// The bytes, in Base64. They need not be text, and may end within a character.
    #[wire(required, schema(extend("contentEncoding" = "base64")))]
    pub data: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `terminal_output_chunk`: bytes to append to the output of a terminal.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalOutputChunk {
    /// The terminal.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// The bytes, in complete Base64.
    #[wire(required, schema(extend("contentEncoding" = "base64")))]
    pub data: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How a command ended. Both the code and the signal may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalExitStatus {
    /// Its exit code. On Windows it may be negative.
    #[wire(lenient_number)]
    pub exit_code: Option<i64>,
    /// The signal that ended it, such as `SIGKILL`.
    #[wire(lenient)]
    pub signal: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The size of a terminal in characters.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalSize {
    /// The number of columns.
    #[wire(required)]
    pub cols: NonZeroU16,
    /// The number of rows.
    #[wire(required)]
    pub rows: NonZeroU16,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The actions that a client can take on a terminal now.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalCapabilities {
    /// Present if the client may send `terminal/cancel`. An agent should withdraw it when the command ends.
    #[wire(lenient)]
    pub cancel: Option<TerminalCancelCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// The command of the terminal can be cancelled.
    TerminalCancelCapabilities,
}

/// `terminal/cancel`: stops the command of a terminal. Only while the terminal has the capability `cancel`.
///
/// The answer means that the agent tries. An update with an exit status reports the end of the command. The terminal remains.
/// For a terminal that is unknown, has ended or cannot be cancelled, the agent answers with the error
/// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
/// <https://agentclientprotocol.com/protocol/v2/tool-calls#cancelling-terminals>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CancelTerminalRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The terminal.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

empty_object! {
    /// The answer to `terminal/cancel`.
    CancelTerminalResponse,
}
