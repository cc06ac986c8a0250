//! The trait of an agent for version 2.

use std::time::Duration;

use agentwire_acp_schema::v2::{
    CancelSessionNotification, CancelTerminalRequest, CancelTerminalResponse, CancelToolCallRequest,
    CancelToolCallResponse, CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest,
    DeleteSessionResponse, IdleStopReason, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, ResumeSessionRequest, ResumeSessionResponse,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use agentwire_jsonrpc::{RawJson, Skipped};

use super::{Context, RemoteClient, Turn, session_not_found};
use crate::Error;
use crate::agent::not_found;

agentwire_peer::method_trait! {
    /// An agent that speaks the draft of version 2: the methods that an editor calls.
    ///
    /// The default methods answer like an agent without the feature: the list of sessions is empty, closing a session succeeds,
    /// and every session or option of another request is unknown. Methods run concurrently, even within one session. Each
    /// method may call the client and wait for the answer.
    ///
    /// Implement the methods as `async fn`. Their futures must be `Send`, so code that is generic over `A: Agent + 'static`
    /// can spawn the future of [`serve`](super::serve). `&A`, `Box<A>` and `Arc<A>` implement `Agent` if `A` does. So do
    /// `Box<dyn Agent>` and `Arc<dyn Agent>`, for an agent that is chosen at run time. Each request through a pointer costs
    /// one more allocation.
    ///
    /// The [module's docs](super) list what the crate does before and after each method.
    pub trait Agent;

    requests:

    /// `initialize`: returns the agent's name and capabilities.
    ///
    /// The version in the request and in the answer is 2. An agent without the capability `session` has no session methods.
    /// Authentication methods of type `terminal` are removed from the answer for a client without `auth.terminal`. After
    /// this method has succeeded it is not called again.
    async fn initialize(request: InitializeRequest, context: Context) -> Result<InitializeResponse, Error>;

    /// `session/new`: creates a session. The session is idle. Updates may be sent before the answer.
    async fn new_session(request: NewSessionRequest, context: Context) -> Result<NewSessionResponse, Error>;

    /// `session/prompt`: adds a message to the session with [`Turn::accept`], which answers the request, and does the work.
    ///
    /// Returns why the work ended. The client gets the state `idle` when no other prompt of the session runs. An error becomes
    /// part of that state, or, before the message is accepted, the answer to the request. After `session/cancel`,
    /// [`Turn::cancelled`] completes, and the client gets the stop reason `cancelled` regardless of what this method returns.
    async fn prompt(request: PromptRequest, turn: Turn) -> Result<IdleStopReason, Error>;

    /// `session/resume`: opens a stored session. If the request has `replayFrom`, the agent sends the history from that
    /// position as updates before it answers.
    ///
    /// If this method has not sent the session's state, the crate sends it afterwards: the last state, or `idle`.
    async fn resume_session(request: ResumeSessionRequest, context: Context) -> Result<ResumeSessionResponse, Error>
        = Err(session_not_found(&request.session_id));

    /// `session/list`: lists the stored sessions.
    async fn list_sessions(request: ListSessionsRequest, context: Context) -> Result<ListSessionsResponse, Error>
        = Ok(ListSessionsResponse::new([]));

    /// `session/close`: frees the resources of a session, and ends its background work.
    ///
    /// The session's prompts are cancelled before this call. After it the answer waits up to
    /// [`close_grace`](Self::close_grace) for the prompts to end; prompts that still run are then dropped. After the answer
    /// no update of the session is sent until the session is resumed.
    async fn close_session(request: CloseSessionRequest, context: Context) -> Result<CloseSessionResponse, Error>
        = Ok(CloseSessionResponse::new());

    /// `session/delete`: deletes a stored session. Deleting an unknown session succeeds. Advertised by
    /// `session.delete`.
    async fn delete_session(request: DeleteSessionRequest, context: Context) -> Result<DeleteSessionResponse, Error>
        = not_found(&request);

    /// `session/set_config_option`: sets an option to one of its values, and returns all options.
    async fn set_session_config_option(request: SetSessionConfigOptionRequest, context: Context)
        -> Result<SetSessionConfigOptionResponse, Error>
        = Err(Error::invalid_params(format_args!("there is no option {:?}", request.config_id)));

    /// `tool_call/cancel`: starts to stop one tool call. The call's last update had the capability `cancel`. The agent reports
    /// the call's end in an update.
    async fn cancel_tool_call(request: CancelToolCallRequest, context: Context) -> Result<CancelToolCallResponse, Error>
        = Err(Error::invalid_params(format_args!("the call {:?} cannot be cancelled", request.tool_call_id)));

    /// `terminal/cancel`: starts to stop the command of one terminal. The terminal's last update had the capability `cancel`.
    /// The agent reports the command's end in an update.
    async fn cancel_terminal(request: CancelTerminalRequest, context: Context) -> Result<CancelTerminalResponse, Error>
        = Err(Error::invalid_params(format_args!("the terminal {:?} cannot be cancelled", request.terminal_id)));

    /// `auth/login`: authenticates the user, by a method that `initialize` offered and that is not of type `terminal`. An
    /// agent that offers such a method must implement this and [`logout`](Self::logout).
    async fn login(request: LoginAuthRequest, context: Context) -> Result<LoginAuthResponse, Error>
        = not_found(&request);

    /// `auth/logout`: ends the authentication.
    async fn logout(request: LogoutAuthRequest, context: Context) -> Result<LogoutAuthResponse, Error>
        = not_found(&request);

    notifications:

    /// `session/cancel`: called when the foreground work of a session is cancelled. [`Turn::cancelled`] and
    /// [`ForegroundWork::cancelled`](super::ForegroundWork::cancelled) report it too, so only work without such a handle
    /// must be ended here.
    fn cancel(notification: CancelSessionNotification, client: &RemoteClient) = ();

    /// Returns how long `session/close` waits for the session's cancelled prompts to end (default 10 s). A prompt that has not
    /// ended by then is dropped and reported as cancelled. Work of [`begin_work`](RemoteClient::begin_work) is
    /// reported as cancelled too; it is not dropped, but its updates are refused.
    fn close_grace() -> Duration = Duration::from_secs(10);

    /// Called just before [`prompt`](Self::prompt) with the parts of the prompt that cannot be read and are left out:
    /// blocks, and optional members of blocks. A prompt without a readable block is refused. The default ignores them.
    fn skipped(method: &str, skipped: Skipped) = ();

    extensions(Context, client: &RemoteClient)
}
