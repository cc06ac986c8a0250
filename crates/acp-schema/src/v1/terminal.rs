use std::path::PathBuf;

use agentwire_jsonrpc::Method;

use crate::common::{EnvVariable, SessionId, TerminalId};
use crate::wire::{empty_object, object};

object! {
    /// `terminal/create`: run a command in a terminal of the client. The answer does not wait for the command.
    ///
    /// This and every other `terminal/*` method only where the client has the capability `terminal`. See
    /// <https://agentclientprotocol.com/protocol/v1/terminals>.
    CreateTerminalRequest {
        /// The session.
        required session_id: SessionId,
        /// The program.
        required command: String,
        /// Its arguments.
        list args: Vec<String>,
        /// Environment variables to set for it.
        list env: Vec<EnvVariable>,
        /// The directory it starts in, an absolute path.
        optional cwd: Option<PathBuf>,
        /// How many bytes of output to keep at most. The client drops the oldest, whole characters at a time.
        number output_byte_limit: Option<u64>,
        meta,
    }
}

impl Method for CreateTerminalRequest {
    const NAME: &'static str = "terminal/create";
    type Response = CreateTerminalResponse;
}

object! {
    /// The answer to `terminal/create`.
    CreateTerminalResponse {
        /// The terminal, until `terminal/release`.
        required terminal_id: TerminalId,
        meta,
    }
}

/// Defines the requests that only say which terminal is meant.
macro_rules! terminal_requests {
    ($($(#[$doc:meta])* $name:ident = $method:literal -> $response:ident,)+) => {$(
        object! {
            $(#[$doc])*
            $name {
                /// The session.
                required session_id: SessionId,
                /// The terminal.
                required terminal_id: TerminalId,
                meta,
            }
        }

        impl Method for $name {
            const NAME: &'static str = $method;
            type Response = $response;
        }
    )+};
}

terminal_requests! {
    /// `terminal/output`: what the command has written so far, without waiting.
    TerminalOutputRequest = "terminal/output" -> TerminalOutputResponse,
    /// `terminal/wait_for_exit`: the answer comes when the command has ended.
    WaitForTerminalExitRequest = "terminal/wait_for_exit" -> WaitForTerminalExitResponse,
    /// `terminal/kill`: end the command. The terminal stays until it is released.
    KillTerminalRequest = "terminal/kill" -> KillTerminalResponse,
    /// `terminal/release`: end the command if it still runs, and forget the terminal.
    ReleaseTerminalRequest = "terminal/release" -> ReleaseTerminalResponse,
}

empty_object! {
    /// The answer to `terminal/kill`.
    KillTerminalResponse,
    /// The answer to `terminal/release`.
    ReleaseTerminalResponse,
}

object! {
    /// The answer to `terminal/output`.
    TerminalOutputResponse without new {
        /// The output, or the end of it.
        required output: String,
        /// Whether older output was dropped.
        required truncated: bool,
        /// How the command ended; none while it runs.
        lenient exit_status: Option<TerminalExitStatus>,
        meta,
    }
}

impl TerminalOutputResponse {
    /// The output, complete.
    #[must_use]
    pub fn new(output: impl Into<String>) -> Self {
        Self { output: output.into(), truncated: false, exit_status: None, meta: None }
    }

    /// Sets [`truncated`](Self#structfield.truncated).
    #[must_use]
    pub fn truncated(mut self, truncated: bool) -> Self {
        self.truncated = truncated;
        self
    }
}

object! {
    /// How a command ended: usually either with a code or by a signal.
    TerminalExitStatus {
        /// The code that it returned.
        lenient_number exit_code: Option<u32>,
        /// The signal that ended it, such as `SIGKILL`.
        lenient signal: Option<String>,
        meta,
    }
}

object! {
    /// The answer to `terminal/wait_for_exit`: how the command ended.
    WaitForTerminalExitResponse {
        /// The code that it returned.
        lenient_number exit_code: Option<u32>,
        /// The signal that ended it, such as `SIGKILL`.
        lenient signal: Option<String>,
        meta,
    }
}

impl From<TerminalExitStatus> for WaitForTerminalExitResponse {
    fn from(status: TerminalExitStatus) -> Self {
        Self { exit_code: status.exit_code, signal: status.signal, meta: status.meta }
    }
}

impl From<WaitForTerminalExitResponse> for TerminalExitStatus {
    fn from(response: WaitForTerminalExitResponse) -> Self {
        Self { exit_code: response.exit_code, signal: response.signal, meta: response.meta }
    }
}
