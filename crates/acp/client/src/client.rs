//! The trait of a client for version 1.

use agentwire_acp_schema::v1::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};

use crate::{AgentHandle, Context, Error};

agentwire_peer::method_trait! {
    /// A client: the methods that an agent calls.
    ///
    /// Only the methods that every client must have are required. The others answer "method not found" until they are
    /// implemented, and are called only if `initialize` advertised them. Methods run concurrently. Each may call the agent
    /// and wait for the answer.
    ///
    /// Implement the methods as `async fn`. Their futures are `Send`, so code that is generic over `C: Client + 'static` can
    /// spawn what [`connect`](crate::connect) or [`start`](crate::start) returns.
    ///
    /// # A client that is chosen at run time
    ///
    /// `Box<dyn Client>` and `Arc<dyn Client>` implement `Client`. So do `&C`, `Box<C>` and `Arc<C>` if `C` does. Each request
    /// through a pointer costs one more allocation.
    ///
    /// ```
    /// use agentwire_acp_client::{BoxError, Client, Context, Error, connect};
    /// use agentwire_acp_schema::v1::*;
    /// use agentwire_transport::Transport;
    ///
    /// struct Allow;
    ///
    /// impl Client for Allow {
    ///     fn session_update(&self, note: SessionNotification) {
    ///         println!("{:?}", note.update);
    ///     }
    ///     async fn request_permission(
    ///         &self,
    ///         req: RequestPermissionRequest,
    ///         _: Context,
    ///     ) -> Result<RequestPermissionResponse, Error> {
    ///         Ok(req.allow())
    ///     }
    /// }
    ///
    /// async fn run(chosen: usize, transport: impl Transport) -> Result<(), BoxError> {
    ///     let mut clients: Vec<Box<dyn Client>> = vec![Box::new(Allow)];
    ///     connect(clients.swap_remove(chosen), transport, async |agent| {
    ///         agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
    ///         Ok(())
    ///     })
    ///     .await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// A method returns the JSON-RPC error that the agent gets. `?` makes an internal error of a failed call, of an
    /// [`io::Error`](std::io::Error) and of a [`BoxError`](crate::BoxError); [`internal`](crate::OrInternal::internal) makes
    /// one of any other error:
    ///
    /// ```
    /// use agentwire_acp_client::{Error, OrInternal};
    ///
    /// fn lines(text: Vec<u8>) -> Result<usize, Error> {
    ///     let text = String::from_utf8(text).internal()?;
    ///     Ok(text.lines().count())
    /// }
    /// # assert_eq!(lines(vec![0xff]).unwrap_err().code, -32603);
    /// ```
    pub trait Client;

    requests:

    /// `session/request_permission`: asks the user. When the turn is cancelled the future is dropped, and the agent gets the
    /// outcome `cancelled`.
    async fn request_permission(request: RequestPermissionRequest, context: Context)
        -> Result<RequestPermissionResponse, Error>;

    /// `fs/read_text_file`: reads a file. Advertised by `fs.readTextFile`.
    async fn read_text_file(request: ReadTextFileRequest, context: Context) -> Result<ReadTextFileResponse, Error>
        = not_found(&request);

    /// `fs/write_text_file`: writes a file. Advertised by `fs.writeTextFile`.
    async fn write_text_file(request: WriteTextFileRequest, context: Context) -> Result<WriteTextFileResponse, Error>
        = not_found(&request);

    /// `terminal/create`: starts a command and answers at once. Advertised, with the other terminal methods, by `terminal`.
    async fn create_terminal(request: CreateTerminalRequest, context: Context) -> Result<CreateTerminalResponse, Error>
        = not_found(&request);

    /// `terminal/output`: returns what the command has printed so far.
    async fn terminal_output(request: TerminalOutputRequest, context: Context) -> Result<TerminalOutputResponse, Error>
        = not_found(&request);

    /// `terminal/wait_for_exit`: answers when the command has ended.
    async fn wait_for_terminal_exit(request: WaitForTerminalExitRequest, context: Context)
        -> Result<WaitForTerminalExitResponse, Error>
        = not_found(&request);

    /// `terminal/kill`: ends the command and keeps its output.
    async fn kill_terminal(request: KillTerminalRequest, context: Context) -> Result<KillTerminalResponse, Error>
        = not_found(&request);

    /// `terminal/release`: kills the command if it runs, and releases the terminal.
    async fn release_terminal(request: ReleaseTerminalRequest, context: Context)
        -> Result<ReleaseTerminalResponse, Error>
        = not_found(&request);

    /// `elicitation/create`: asks the user for anything but a permission. Advertised by `elicitation.form` and
    /// `elicitation.url`, each for its mode.
    async fn create_elicitation(request: CreateElicitationRequest, context: Context)
        -> Result<CreateElicitationResponse, Error>
        = not_found(&request);

    notifications:

    /// `session/update`: called for each update of a session, one by one, in order. All updates of a turn come before its
    /// `prompt` returns, so this must not take long.
    fn session_update(notification: SessionNotification);

    /// `elicitation/complete`: called when the user has done what an elicitation's URL was for. Called only for URLs that the
    /// user agreed to visit, or is being asked about, and once for each.
    fn complete_elicitation(notification: CompleteElicitationNotification) = ();

    /// Called for a `session/update` that cannot be decoded or exceeds [`Config::value_limit`](crate::Config::value_limit). The
    /// default ignores it. An update of an unknown
    /// kind is not among these; it has a variant of its own.
    fn unreadable_update(params: Option<RawJson>, why: &Error) = ();

    /// Called for a message that cannot be read, such as a line over the limit, and for an answer whose id belongs to no
    /// open call. Its content is lost; it may have been an update. The default ignores it.
    fn unreadable_message(why: &Error) = ();

    /// Called for parts of a message of `method` that cannot be read: items of lists, and optional members. The message is
    /// used without them. For an update or a request this is called just before, for an answer just after. The default
    /// ignores them.
    fn skipped(method: &str, skipped: Skipped) = ();

    extensions(Context, agent: &AgentHandle)
}

/// Returns the "method not found" error, the answer of every method that the client does not implement.
pub(crate) fn not_found<M: RequestMethod>(_: &M) -> Result<M::Response, Error> {
    Err(Error::method_not_found(M::NAME))
}
