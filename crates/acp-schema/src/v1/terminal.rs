use std::path::PathBuf;

use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use crate::common::lenient::{lenient, null_as_empty};
use crate::common::{Meta, SessionId, TerminalId, builder, empty_object};

/// `terminal/create`: run a command in a terminal of the client. The answer does not wait for the command.
///
/// This and every other `terminal/*` method only where the client has the capability `terminal`. See
/// <https://agentclientprotocol.com/protocol/v1/terminals>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateTerminalRequest {
    /// The session.
    pub session_id: SessionId,
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables to set for it.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVariable>,
    /// The directory it starts in, an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// How many bytes of output to keep at most. The client drops the oldest, whole characters at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_byte_limit: Option<u64>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    CreateTerminalRequest::new(session_id: SessionId, command: String) {
        list args: String,
        list env: EnvVariable,
        option cwd: PathBuf,
        number output_byte_limit: u64,
        option meta: Meta,
    }
}

impl Method for CreateTerminalRequest {
    const NAME: &'static str = "terminal/create";
    type Response = CreateTerminalResponse;
}

/// The answer to `terminal/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateTerminalResponse {
    /// The terminal, until `terminal/release`.
    pub terminal_id: TerminalId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    CreateTerminalResponse::new(terminal_id: TerminalId) {
        option meta: Meta,
    }
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EnvVariable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    EnvVariable::new(name: String, value: String) {
        option meta: Meta,
    }
}

/// Defines the requests that only say which terminal is meant.
macro_rules! terminal_requests {
    ($($(#[$doc:meta])* $name:ident = $method:literal -> $response:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $name {
            /// The session.
            pub session_id: SessionId,
            /// The terminal.
            pub terminal_id: TerminalId,
            /// Free room; see [`Meta`].
            #[serde(rename = "_meta", default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
            pub meta: Option<Meta>,
        }

        builder! {
            $name::new(session_id: SessionId, terminal_id: TerminalId) {
                option meta: Meta,
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

/// The answer to `terminal/output`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TerminalOutputResponse {
    /// The output, or the end of it.
    pub output: String,
    /// Whether older output was dropped.
    pub truncated: bool,
    /// How the command ended; none while it runs.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<TerminalExitStatus>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

impl TerminalOutputResponse {
    /// The output, complete.
    #[must_use]
    pub fn new(output: impl Into<String>) -> Self {
        Self { output: output.into(), truncated: false, exit_status: None, meta: None }
    }
}

builder! {
    TerminalOutputResponse {
        plain truncated: bool,
        option exit_status: TerminalExitStatus,
        option meta: Meta,
    }
}

/// How a command ended: usually either with a code or by a signal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TerminalExitStatus {
    /// The code that it returned.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u32>,
    /// The signal that ended it, such as `SIGKILL`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    TerminalExitStatus::new() {
        number exit_code: u32,
        option signal: String,
        option meta: Meta,
    }
}

/// The answer to `terminal/wait_for_exit`: how the command ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaitForTerminalExitResponse {
    /// The code that it returned.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u32>,
    /// The signal that ended it, such as `SIGKILL`.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    WaitForTerminalExitResponse::new() {
        number exit_code: u32,
        option signal: String,
        option meta: Meta,
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
