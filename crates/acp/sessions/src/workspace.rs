//! The files and terminals that a turn works with: those of the client in version 1, those of the agent's machine in
//! version 2, which has no such methods.

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest, WriteTextFileResponse,
};

#[cfg(feature = "v2")]
use crate::v2::workspace::LocalWorkspace;

/// The files and terminals of a turn.
#[derive(Clone, Debug)]
pub(crate) enum Workspace {
    /// Those of the client, by its methods of version 1.
    Client(agentwire_acp_agent::RemoteClient),
    /// Those of the agent's machine.
    #[cfg(feature = "v2")]
    Local(std::sync::Arc<LocalWorkspace>),
}

/// Defines methods that either the client or the agent's machine answers.
macro_rules! methods {
    ($($name:ident($request:ty) -> $response:ty;)+) => {
        impl Workspace {$(
            pub(crate) async fn $name(&self, request: $request) -> Result<$response, CallError> {
                match self {
                    Self::Client(client) => client.$name(request).await,
                    #[cfg(feature = "v2")]
                    Self::Local(local) => local.$name(request).await,
                }
            }
        )+}
    };
}

methods! {
    read_text_file(ReadTextFileRequest) -> ReadTextFileResponse;
    write_text_file(WriteTextFileRequest) -> WriteTextFileResponse;
    terminal_output(TerminalOutputRequest) -> TerminalOutputResponse;
    wait_for_terminal_exit(WaitForTerminalExitRequest) -> WaitForTerminalExitResponse;
    kill_terminal(KillTerminalRequest) -> KillTerminalResponse;
    release_terminal(ReleaseTerminalRequest) -> ReleaseTerminalResponse;
}

impl Workspace {
    /// Starts a command. Its output is shown as part of `turn`.
    pub(crate) async fn create_terminal(
        &self,
        turn: u64,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, CallError> {
        #[cfg(not(feature = "v2"))]
        let _ = turn;
        match self {
            Self::Client(client) => client.create_terminal(request).await,
            #[cfg(feature = "v2")]
            Self::Local(local) => local.create_terminal(turn, request).await,
        }
    }
}
