//! The params and results of the `terminal/*` methods, with which the agent runs commands in the client.

use std::fmt;
use std::path::PathBuf;

use agentwire_jsonrpc::Printable;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{EnvVariable, Meta, SessionId, TerminalId, empty_object};

/// `terminal/create`: runs a command in a terminal of the client. The client answers without waiting for the command.
///
/// The agent may use the `terminal/*` methods only if the client has the capability `terminal`. See
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
    /// The maximum number of bytes of output to keep. The client drops the oldest, whole characters at a time.
    #[wire(number)]
    pub output_byte_limit: Option<u64>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `terminal/create`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CreateTerminalResponse {
    /// The terminal, until `terminal/release`.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Defines the requests whose only parameter is a terminal.
macro_rules! terminal_requests {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
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
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<Meta>,
        }
    )+};
}

terminal_requests! {
    /// `terminal/output`: returns the output of the command so far, without waiting.
    TerminalOutputRequest,
    /// `terminal/wait_for_exit`: the client answers when the command has ended.
    WaitForTerminalExitRequest,
    /// `terminal/kill`: kills the command. The terminal remains until it is released.
    KillTerminalRequest,
    /// `terminal/release`: kills the command if it still runs, and frees the terminal.
    ReleaseTerminalRequest,
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
    /// The output, or the last part of it.
    #[wire(required)]
    pub output: String,
    /// Whether older output was dropped.
    #[wire(required)]
    pub truncated: bool,
    /// How the command ended; none while it runs.
    #[wire(lenient)]
    pub exit_status: Option<TerminalExitStatus>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl TerminalOutputResponse {
    /// Makes an answer with the complete output.
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
    /// Its exit code.
    #[wire(lenient_number)]
    pub exit_code: Option<u32>,
    /// The signal that ended it, such as `SIGKILL`.
    #[wire(lenient)]
    pub signal: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Such as `exit code 1` or `signal SIGKILL`.
impl fmt::Display for TerminalExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.exit_code, &self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {}", Printable::one_line(signal)),
            (None, None) => f.write_str("no exit code"),
        }
    }
}

/// The answer to `terminal/wait_for_exit`: how the command ended.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct WaitForTerminalExitResponse {
    /// Its exit code.
    #[wire(lenient_number)]
    pub exit_code: Option<u32>,
    /// The signal that ended it, such as `SIGKILL`.
    #[wire(lenient)]
    pub signal: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
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
