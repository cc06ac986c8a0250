use std::path::PathBuf;

use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{EnvVariable, Meta, SessionId, TerminalId, empty_object};

/// `terminal/create`: run a command in a terminal of the client. The answer does not wait for the command.
///
/// This and every other `terminal/*` method only where the client has the capability `terminal`. See
/// <https://agentclientprotocol.com/protocol/v1/terminals>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CreateTerminalRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The program.
    #[wire(required)]
    pub command: String,
    /// Its arguments.
    #[wire(list)]
    pub args: Vec<String>,
    /// Environment variables to set for it.
    #[wire(list)]
    pub env: Vec<EnvVariable>,
    /// The directory it starts in, an absolute path.
    #[wire(optional)]
    pub cwd: Option<PathBuf>,
    /// How many bytes of output to keep at most. The client drops the oldest, whole characters at a time.
    #[wire(number)]
    pub output_byte_limit: Option<u64>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for CreateTerminalRequest {
    const NAME: &'static str = "terminal/create";
    type Response = CreateTerminalResponse;
}

/// The answer to `terminal/create`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CreateTerminalResponse {
    /// The terminal, until `terminal/release`.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Defines the requests that only say which terminal is meant.
macro_rules! terminal_requests {
    ($($(#[$doc:meta])* $name:ident = $method:literal -> $response:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Wire, Build)]
        #[non_exhaustive]
        pub struct $name {
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

        impl RequestMethod for $name {
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

/// The answer to `terminal/output`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct TerminalOutputResponse {
    /// The output, or the end of it.
    #[wire(required)]
    pub output: String,
    /// Whether older output was dropped.
    #[wire(required)]
    pub truncated: bool,
    /// How the command ended; none while it runs.
    #[wire(lenient)]
    pub exit_status: Option<TerminalExitStatus>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
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

/// How a command ended: usually either with a code or by a signal.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TerminalExitStatus {
    /// The code that it returned.
    #[wire(lenient_number)]
    pub exit_code: Option<u32>,
    /// The signal that ended it, such as `SIGKILL`.
    #[wire(lenient)]
    pub signal: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `terminal/wait_for_exit`: how the command ended.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct WaitForTerminalExitResponse {
    /// The code that it returned.
    #[wire(lenient_number)]
    pub exit_code: Option<u32>,
    /// The signal that ended it, such as `SIGKILL`.
    #[wire(lenient)]
    pub signal: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
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
