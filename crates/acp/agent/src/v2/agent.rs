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
    /// The defaults answer as an agent without the feature: no session is listed or found, no option is known. Methods run
    /// concurrently, also those of one session. Each may call the client and wait for the answer.
    ///
    /// Implement the methods as `async fn`. Their futures are `Send`, so code that is generic over `A: Agent + 'static` can
    /// spawn what [`serve`](super::serve) returns. `&A`, `Box<A>` and `Arc<A>` are agents where `A` is one, and so are
    /// `Box<dyn Agent>` and `Arc<dyn Agent>`, for an agent that is chosen at run time. Each request through a pointer costs one
    /// allocation more.
    ///
    /// The [module's docs](super) list what the crate does before and after each method.
    pub trait Agent;

    requests:

    /// `initialize`: returns the agent's name and capabilities.
    ///
    /// The version in the request is 2, and so is that of the answer. Without the capability `session` no method of a
    /// session is available. Authentication methods of type `terminal` are left out of the answer for a client without
    /// `auth.terminal`. After it has succeeded it is not called again.
    async fn initialize(request: InitializeRequest, context: Context) -> Result<InitializeResponse, Error>;

    /// `session/new`: creates a session, which is idle. Updates may be sent before the answer.
    async fn new_session(request: NewSessionRequest, context: Context) -> Result<NewSessionResponse, Error>;

    /// `session/prompt`: adds a message to the session with [`Turn::accept`], which answers the request, and does the work.
    ///
    /// Returns why the work ended. The client gets the state `idle` when no other prompt of the session is at work. An error
    /// becomes part of that state, or is the answer to the request where the message was not accepted. After
    /// `session/cancel` [`Turn::cancelled`] completes. Whatever this method returns then, the client gets the stop reason
    /// `cancelled`.
    async fn prompt(request: PromptRequest, turn: Turn) -> Result<IdleStopReason, Error>;

    /// `session/resume`: opens a stored session. With a `replayFrom` it sends the history from there as updates before it
    /// answers.
    ///
    /// Unless this method has sent the session's state, the client gets it afterwards: `idle`, or the last state.
    async fn resume_session(request: ResumeSessionRequest, context: Context) -> Result<ResumeSessionResponse, Error>
        = Err(session_not_found(&request.session_id));

    /// `session/list`: lists the stored sessions.
    async fn list_sessions(request: ListSessionsRequest, context: Context) -> Result<ListSessionsResponse, Error>
        = Ok(ListSessionsResponse::new([]));

    /// `session/close`: frees what a session holds, and ends its work in the background.
    ///
    /// Its prompts are cancelled already. After this method the answer waits up to [`close_grace`](Self::close_grace) for
    /// them to end; those that have not are dropped. After the answer no update of the session is sent until it is resumed.
    async fn close_session(request: CloseSessionRequest, context: Context) -> Result<CloseSessionResponse, Error>
        = Ok(CloseSessionResponse::new());

    /// `session/delete`: deletes a stored session. To delete one that does not exist succeeds. Advertised by
    /// `session.delete`.
    async fn delete_session(request: DeleteSessionRequest, context: Context) -> Result<DeleteSessionResponse, Error>
        = not_found(&request);

    /// `session/set_config_option`: changes an option, to a value that it has, and answers with all options.
    async fn set_session_config_option(request: SetSessionConfigOptionRequest, context: Context)
        -> Result<SetSessionConfigOptionResponse, Error>
        = Err(Error::invalid_params(format_args!("there is no option {:?}", request.config_id)));

    /// `tool_call/cancel`: begins to stop one tool call, whose last update had the capability `cancel`. An update reports its
    /// end.
    async fn cancel_tool_call(request: CancelToolCallRequest, context: Context) -> Result<CancelToolCallResponse, Error>
        = Err(Error::invalid_params(format_args!("the call {:?} cannot be cancelled", request.tool_call_id)));

    /// `terminal/cancel`: begins to stop the command of one terminal, whose last update had the capability `cancel`. An
    /// update reports its end.
    async fn cancel_terminal(request: CancelTerminalRequest, context: Context) -> Result<CancelTerminalResponse, Error>
        = Err(Error::invalid_params(format_args!("the terminal {:?} cannot be cancelled", request.terminal_id)));

    /// `auth/login`: authenticates the user, by a method that `initialize` offered and that is not of type `terminal`. An
    /// agent that offers one must implement this and [`logout`](Self::logout).
    async fn login(request: LoginAuthRequest, context: Context) -> Result<LoginAuthResponse, Error>
        = not_found(&request);

    /// `auth/logout`: ends the authentication.
    async fn logout(request: LogoutAuthRequest, context: Context) -> Result<LogoutAuthResponse, Error>
        = not_found(&request);

    notifications:

    /// `session/cancel`: called when the foreground work of a session is cancelled. The [`Turn`] of each prompt reports the
    /// same, so only work that the agent has begun by itself is left to end here.
    fn cancel(notification: CancelSessionNotification, client: &RemoteClient) = ();

    /// Returns how long `session/close` waits for the session's prompts to end once they are cancelled (default 10 s). A
    /// prompt that has not ended is dropped, and reported as cancelled. Work of [`begin_work`](RemoteClient::begin_work) is
    /// reported as cancelled too; it is not dropped, but its updates are refused.
    fn close_grace() -> Duration = Duration::from_secs(10);

    /// Called just before [`prompt`](Self::prompt) with the parts of the prompt that cannot be read and are left out:
    /// blocks, and optional members of blocks. A prompt without a readable block is refused. The default ignores them.
    fn skipped(method: &str, skipped: Skipped) = ();

    extensions(Context, client: &RemoteClient)
}
