use std::num::NonZeroU16;

use agentwire_jsonrpc::Method;

use super::AbsolutePath;
use crate::common::{Meta, Patch, SessionId, TerminalId};
use crate::wire::{empty_object, marker_capability, object};

object! {
    /// The update `terminal_update`: a terminal of the agent began or changed.
    ///
    /// The first one with an id begins the terminal, later ones patch it: what is kept is left out, what is not known any
    /// more is null.
    TerminalUpdate {
        /// Names the terminal.
        required terminal_id: TerminalId,
        /// The command that it runs.
        patch command: Patch<String>,
        /// The directory it runs in.
        patch cwd: Patch<AbsolutePath>,
        /// All output there is to show.
        patch output: Patch<TerminalOutput>,
        /// How the command ended. That it is there says that it has ended.
        patch exit_status: Patch<TerminalExitStatus>,
        /// How large the command takes the terminal to be. Show the output in this size.
        patch size: Patch<TerminalSize>,
        /// What the client can do to the terminal now, all of it. Nothing for a new one.
        patch capabilities: Patch<TerminalCapabilities>,
        /// Free room; see [`Meta`]. It is [merged](Patch::merge).
        patch meta: Patch<Meta> = "_meta",
    }
}

object! {
    /// The output of a terminal, all that there is to show.
    TerminalOutput {
        /// Its bytes, in Base64. They need not be text, nor end with a whole character.
        #[cfg_attr(feature = "schema", schemars(extend("contentEncoding" = "base64")))]
        required data: String,
        meta,
    }
}

object! {
    /// The update `terminal_output_chunk`: bytes to append to the output of a terminal.
    TerminalOutputChunk {
        /// The terminal.
        required terminal_id: TerminalId,
        /// The bytes, in Base64 that is whole in itself.
        #[cfg_attr(feature = "schema", schemars(extend("contentEncoding" = "base64")))]
        required data: String,
        meta,
    }
}

object! {
    /// How a command ended. Neither a code nor a signal need be known.
    TerminalExitStatus {
        /// The code that it returned, as the system tells it; on Windows it may be negative.
        lenient_number exit_code: Option<i64>,
        /// The signal that ended it, such as `SIGKILL`.
        lenient signal: Option<String>,
        meta,
    }
}

object! {
    /// How large a terminal is, in characters.
    TerminalSize {
        /// How many stand in a line.
        required cols: NonZeroU16,
        /// How many lines there are.
        required rows: NonZeroU16,
        meta,
    }
}

object! {
    /// What a client can do to a terminal now.
    TerminalCapabilities {
        /// Whether it may send `terminal/cancel`. An agent should take it back when the command has ended.
        lenient cancel: Option<TerminalCancelCapabilities>,
        meta,
        extra,
    }
}

marker_capability! {
    /// That the command of a terminal can be cancelled.
    TerminalCancelCapabilities,
}

object! {
    /// `terminal/cancel`: stop the command of one terminal. Only where the terminal has the capability `cancel` now.
    ///
    /// The answer says that the agent will try; that the command has ended comes as an update with an exit status. The
    /// terminal stays. One that is unknown, has ended or cannot be cancelled is an error of the code
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
    /// <https://agentclientprotocol.com/protocol/v2/tool-calls#cancelling-terminals>.
    CancelTerminalRequest {
        /// The session.
        required session_id: SessionId,
        /// The terminal.
        required terminal_id: TerminalId,
        meta,
    }
}

impl Method for CancelTerminalRequest {
    const NAME: &'static str = "terminal/cancel";
    type Response = CancelTerminalResponse;
}

empty_object! {
    /// The answer to `terminal/cancel`.
    CancelTerminalResponse,
}
