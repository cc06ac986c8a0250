//! The trait of an agent for version 1.

use agentwire_acp_schema::v1::{
    AuthenticateRequest, AuthenticateResponse, CancelNotification, CloseSessionRequest, CloseSessionResponse,
    DeleteSessionRequest, DeleteSessionResponse, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, LogoutRequest, LogoutResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, ResumeSessionRequest,
    ResumeSessionResponse, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse,
};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};

use crate::{Context, Error, RemoteClient};

agentwire_peer::method_trait! {
    /// An agent: the methods that an editor calls.
    ///
    /// Only the methods that every agent must have are required. Every other method answers "method not found" until the
    /// agent implements it and, if its docs name a capability, advertises that capability. Methods run concurrently, even
    /// within one session. Each method may call the client and wait for the answer.
    ///
    /// Implement the methods as `async fn`. Their futures must be `Send`, so code that is generic over `A: Agent + 'static`
    /// can spawn the future of [`serve`](crate::serve).
    ///
    /// # Choosing an agent at run time
    ///
    /// `Box<dyn Agent>` and `Arc<dyn Agent>` implement `Agent`. So do `&A`, `Box<A>` and `Arc<A>` if `A` does. Each request
    /// through a pointer costs one more allocation.
    ///
    /// ```
    /// use agentwire_acp_agent::{Agent, Closed, Context, Error, serve};
    /// use agentwire_acp_schema::v1::*;
    /// use agentwire_transport::Transport;
    ///
    /// struct Greeter(&'static str);
    ///
    /// impl Agent for Greeter {
    ///     async fn initialize(&self, req: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
    ///         Ok(InitializeResponse::new(req.protocol_version))
    ///     }
    ///     async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
    ///         Ok(NewSessionResponse::new("session-1"))
    ///     }
    ///     async fn prompt(&self, req: PromptRequest, cx: Context) -> Result<PromptResponse, Error> {
    ///         cx.client().session_update(SessionNotification::message(&req.session_id, self.0)).await?;
    ///         Ok(PromptResponse::new(StopReason::EndTurn))
    ///     }
    /// }
    ///
    /// async fn run(chosen: usize, transport: impl Transport) -> Result<(), Closed> {
    ///     let mut agents: Vec<Box<dyn Agent>> = vec![Box::new(Greeter("Hello")), Box::new(Greeter("Hi"))];
    ///     serve(agents.swap_remove(chosen), transport).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// A method returns the JSON-RPC error that the client gets. `?` converts a failed call, an
    /// [`io::Error`](std::io::Error) and a [`BoxError`](crate::BoxError) into an internal error.
    /// [`internal`](crate::OrInternal::internal) converts any other error:
    ///
    /// ```
    /// use agentwire_acp_agent::{Error, OrInternal};
    ///
    /// fn port(path: &str) -> Result<u16, Error> {
    ///     let text = std::fs::read_to_string(path)?;
    ///     text.trim().parse().internal()
    /// }
    /// # assert_eq!(port("/nowhere").unwrap_err().code, -32603);
    /// ```
    ///
    /// The [crate's docs](crate) list what the crate does before and after each method.
    pub trait Agent;

    requests:

    /// `initialize`: returns the agent's capabilities.
    ///
    /// The version in the request and in the answer is always 1, whichever version the client requested. Authentication
    /// methods of type `terminal` are removed from the answer for a client without `auth.terminal`. After this method has
    /// succeeded it is not called again.
    async fn initialize(request: InitializeRequest, context: Context) -> Result<InitializeResponse, Error>;

    /// `session/new`: creates a session.
    async fn new_session(request: NewSessionRequest, context: Context) -> Result<NewSessionResponse, Error>;

    /// `session/prompt`: runs one turn. Updates sent through the context's client arrive before the answer.
    ///
    /// After `session/cancel`, [`Context::cancelled`] completes, and the client gets the stop reason `cancelled` regardless of
    /// what this method returns.
    async fn prompt(request: PromptRequest, context: Context) -> Result<PromptResponse, Error>;

    /// `authenticate`: authenticates the user, by a method that `initialize` offered and that is not of type `terminal`.
    async fn authenticate(request: AuthenticateRequest, context: Context) -> Result<AuthenticateResponse, Error>
        = not_found(&request);

    /// `logout`: ends the authentication. Advertised by `auth.logout`.
    async fn logout(request: LogoutRequest, context: Context) -> Result<LogoutResponse, Error>
        = not_found(&request);

    /// `session/load`: opens a stored session and sends its whole history as updates before it answers. Advertised by
    /// `loadSession`.
    async fn load_session(request: LoadSessionRequest, context: Context) -> Result<LoadSessionResponse, Error>
        = not_found(&request);

    /// `session/resume`: opens a stored session without its history. Advertised by `sessionCapabilities.resume`.
    async fn resume_session(request: ResumeSessionRequest, context: Context) -> Result<ResumeSessionResponse, Error>
        = not_found(&request);

    /// `session/list`: lists the stored sessions. Advertised by `sessionCapabilities.list`.
    async fn list_sessions(request: ListSessionsRequest, context: Context) -> Result<ListSessionsResponse, Error>
        = not_found(&request);

    /// `session/close`: closes a session and ends its work. The session's running turns are cancelled before this call.
    /// Advertised by `sessionCapabilities.close`.
    async fn close_session(request: CloseSessionRequest, context: Context) -> Result<CloseSessionResponse, Error>
        = not_found(&request);

    /// `session/delete`: deletes a stored session. Deleting an unknown session succeeds. Advertised by
    /// `sessionCapabilities.delete`.
    async fn delete_session(request: DeleteSessionRequest, context: Context) -> Result<DeleteSessionResponse, Error>
        = not_found(&request);

    /// `session/set_mode`: changes the mode of a session to one of its available modes.
    async fn set_session_mode(request: SetSessionModeRequest, context: Context)
        -> Result<SetSessionModeResponse, Error>
        = not_found(&request);

    /// `session/set_config_option`: changes a configuration option and returns all options.
    async fn set_session_config_option(request: SetSessionConfigOptionRequest, context: Context)
        -> Result<SetSessionConfigOptionResponse, Error>
        = not_found(&request);

    notifications:

    /// `session/cancel`: called when a turn is cancelled. The turn's [`Context`] reports the same, so most agents have
    /// nothing to do here.
    fn cancel(notification: CancelNotification, client: &RemoteClient) = ();

    /// Called just before [`prompt`](Self::prompt) with the parts of the prompt that cannot be read and are left out:
    /// blocks, and optional members of blocks. A prompt whose blocks are all unreadable is refused. The default ignores them.
    fn skipped(method: &str, skipped: Skipped) = ();

    extensions(Context, client: &RemoteClient)
}

/// Returns the "method not found" error, the answer of every method that the agent does not implement.
pub(crate) fn not_found<M: RequestMethod>(_: &M) -> Result<M::Response, Error> {
    Err(Error::method_not_found(M::NAME))
}
