use std::num::NonZeroU16;

use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::AbsolutePath;
use crate::common::{Meta, Patch, SessionId, TerminalId, empty_object, marker_capability};

/// The update `terminal_update`: a terminal of the agent began or changed.
///
/// The first one with an id begins the terminal, later ones patch it: what is kept is left out, what is not known any
/// more is null.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalUpdate {
    /// Names the terminal.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// The command that it runs.
    #[wire(patch)]
    pub command: Patch<String>,
    /// The directory it runs in.
    #[wire(patch)]
    pub cwd: Patch<AbsolutePath>,
    /// All output there is to show.
    #[wire(patch)]
    pub output: Patch<TerminalOutput>,
    /// How the command ended. That it is there says that it has ended.
    #[wire(patch)]
    pub exit_status: Patch<TerminalExitStatus>,
    /// How large the command takes the terminal to be. Show the output in this size.
    #[wire(patch)]
    pub size: Patch<TerminalSize>,
    /// What the client can do to the terminal now, all of it. Nothing for a new one.
    #[wire(patch)]
    pub capabilities: Patch<TerminalCapabilities>,
    /// Free room; see [`Meta`]. It is [merged](Patch::merge).
    #[wire(patch, name = "_meta")]
    pub meta: Patch<Meta>,
}

/// The output of a terminal, all that there is to show.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalOutput {
    /// Its bytes, in Base64. They need not be text, nor end with a whole character.
    #[wire(required, schema(extend("contentEncoding" = "base64")))]
    pub data: String,
    /// Free room: its keys belong to whoever sent them.
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
    /// The bytes, in Base64 that is whole in itself.
    #[wire(required, schema(extend("contentEncoding" = "base64")))]
    pub data: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How a command ended. Neither a code nor a signal need be known.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalExitStatus {
    /// The code that it returned, as the system tells it; on Windows it may be negative.
    #[wire(lenient_number)]
    pub exit_code: Option<i64>,
    /// The signal that ended it, such as `SIGKILL`.
    #[wire(lenient)]
    pub signal: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How large a terminal is, in characters.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalSize {
    /// How many stand in a line.
    #[wire(required)]
    pub cols: NonZeroU16,
    /// How many lines there are.
    #[wire(required)]
    pub rows: NonZeroU16,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// What a client can do to a terminal now.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalCapabilities {
    /// Whether it may send `terminal/cancel`. An agent should take it back when the command has ended.
    #[wire(lenient)]
    pub cancel: Option<TerminalCancelCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// That the command of a terminal can be cancelled.
    TerminalCancelCapabilities,
}

/// `terminal/cancel`: stop the command of one terminal. Only where the terminal has the capability `cancel` now.
///
/// The answer says that the agent will try; that the command has ended comes as an update with an exit status. The
/// terminal stays. One that is unknown, has ended or cannot be cancelled is an error of the code
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for CancelTerminalRequest {
    const NAME: &'static str = "terminal/cancel";
    type Response = CancelTerminalResponse;
}

empty_object! {
    /// The answer to `terminal/cancel`.
    CancelTerminalResponse,
}
