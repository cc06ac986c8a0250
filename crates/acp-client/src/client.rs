use std::future::Future;

use agentwire_acp_schema::v1::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};

use crate::{Agent, Context, Error};

/// A client: what an agent asks of the editor.
///
/// Only what every client must answer has no default. The rest answers "method not found" until it is
/// written, and is asked for only if `initialize` advertised it. Methods run at the same time, and each may
/// call the agent and wait for it. Nothing needs to be `Send` unless the future of
/// [`connect`](crate::connect) is to be spawned.
pub trait Client {
    /// `session/update`: hears what happens in a session. Updates come one by one, in order, and all of a
    /// turn's come before its `prompt` returns; so this must not take long.
    fn session_update(&self, notification: SessionNotification);

    /// `session/request_permission`: asks the user. Once the turn is cancelled this is dropped, and the agent
    /// is told that the request was cancelled.
    fn request_permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> impl Future<Output = Result<RequestPermissionResponse, Error>>;

    /// `fs/read_text_file`. Advertised by `fs.readTextFile`.
    fn read_text_file(
        &self,
        request: ReadTextFileRequest,
        context: Context,
    ) -> impl Future<Output = Result<ReadTextFileResponse, Error>> {
        not_found(&request, context)
    }

    /// `fs/write_text_file`. Advertised by `fs.writeTextFile`.
    fn write_text_file(
        &self,
        request: WriteTextFileRequest,
        context: Context,
    ) -> impl Future<Output = Result<WriteTextFileResponse, Error>> {
        not_found(&request, context)
    }

    /// `terminal/create`: starts a command and answers at once. Advertised, with the rest, by `terminal`.
    fn create_terminal(
        &self,
        request: CreateTerminalRequest,
        context: Context,
    ) -> impl Future<Output = Result<CreateTerminalResponse, Error>> {
        not_found(&request, context)
    }

    /// `terminal/output`: what the command has printed so far.
    fn terminal_output(
        &self,
        request: TerminalOutputRequest,
        context: Context,
    ) -> impl Future<Output = Result<TerminalOutputResponse, Error>> {
        not_found(&request, context)
    }

    /// `terminal/wait_for_exit`: answers when the command has ended.
    fn wait_for_terminal_exit(
        &self,
        request: WaitForTerminalExitRequest,
        context: Context,
    ) -> impl Future<Output = Result<WaitForTerminalExitResponse, Error>> {
        not_found(&request, context)
    }

    /// `terminal/kill`: ends the command and keeps its output.
    fn kill_terminal(
        &self,
        request: KillTerminalRequest,
        context: Context,
    ) -> impl Future<Output = Result<KillTerminalResponse, Error>> {
        not_found(&request, context)
    }

    /// `terminal/release`: ends the command if it runs, and forgets the terminal.
    fn release_terminal(
        &self,
        request: ReleaseTerminalRequest,
        context: Context,
    ) -> impl Future<Output = Result<ReleaseTerminalResponse, Error>> {
        not_found(&request, context)
    }

    /// `elicitation/create`: asks the user for something else. Advertised by `elicitation.form` and
    /// `elicitation.url`, each for its mode.
    fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        context: Context,
    ) -> impl Future<Output = Result<CreateElicitationResponse, Error>> {
        not_found(&request, context)
    }

    /// `elicitation/complete`: hears that what the user did at a URL is done.
    fn complete_elicitation(&self, notification: CompleteElicitationNotification) {
        let _ = notification;
    }

    /// A request that the protocol does not know.
    fn extension_request(
        &self,
        method: &str,
        params: Option<RawJson>,
        context: Context,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let _ = (params, context);
        std::future::ready(Err(Error::method_not_found(method)))
    }

    /// A notification that the protocol does not know. It is passed over unless this is written.
    fn extension_notification(&self, method: &str, params: Option<RawJson>, agent: &Agent) {
        let _ = (method, params, agent);
    }

    /// An update that cannot be read: it is no `session/update` of any version. It is passed over unless this
    /// is written. An update of a kind that nobody knows is not among these; it has a variant of its own.
    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        let _ = (params, why);
    }

    /// A message that cannot be read and belongs to no call, such as a line over the limit. What it said is lost; it may
    /// have been an update. It is passed over unless this is written.
    fn unreadable_message(&self, why: &Error) {
        let _ = why;
    }

    /// Parts of a message that cannot be read: items of lists, and optional members. The message, which belongs to
    /// `method`, is taken without them: that of an update or of a request just after this, that of an answer just before.
    /// It is passed over unless this is written.
    fn skipped(&self, method: &str, skipped: Skipped) {
        let _ = (method, skipped);
    }
}

fn not_found<M: RequestMethod>(
    _: &M,
    _: Context,
) -> impl Future<Output = Result<M::Response, Error>> + use<M> {
    std::future::ready(Err(Error::method_not_found(M::NAME)))
}
