//! `Context`: the request that a function works for, with its progress, logs and questions.

use std::fmt;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{ErrorObject, RawJson, RequestId};
use agentwire_mcp_schema::core_tasks::RelatedTaskMetadata;
use agentwire_mcp_schema::{Downgrade, HasMeta, Meta, Revision};
use agentwire_peer::Peer;
use agentwire_peer::runtime::PeerExt;
use agentwire_transport::MessageSource;
use serde::Serialize;

use crate::RemoteClient;
use crate::input::{InputRound, QuestionKeys};
use crate::lazy_json::LazyJson;
use crate::quota::{Holder, Share};
use crate::request::cancelled::Cancelled;
use crate::request::client_context::ClientContext;
use crate::request::params::Params;
use crate::request::progress::Progress;
use crate::request::session::Session;
use crate::request::yield_timer::YieldTimer;
use crate::scope::RequestScope;
use crate::settings::Settings;
use crate::tasks::TaskHandle;
use crate::value_limit::hold;

/// The request that a function works for. Cloning is cheap.
///
/// A function reports [progress](Self::progress), [logs](Self::log) and [asks the client](Self::elicit) through it.
///
/// ```
/// use agentwire_mcp_server::{BoxError, Context};
///
/// async fn index(cx: Context) -> Result<&'static str, BoxError> {
///     for page in 1..=3 {
///         cx.progress(f64::from(page), Some(3.0), Some("reading")).await?;
///     }
///     Ok("The index is new.")
/// }
/// # let _ = index;
/// ```
#[derive(Clone)]
pub struct Context(Arc<Parts>);

struct Parts {
    settings: Arc<Settings>,
    client: ClientContext,
    request: RequestScope,
    meta: Option<LazyJson<Meta>>,
    progress: Progress,
    yields: YieldTimer,
    /// The round in which a modern request is answered.
    round: Option<Box<InputRound>>,
    keys: QuestionKeys,
    /// The memory of the arguments, as values.
    values: OnceLock<Share>,
    /// The task that the call is, or may become.
    task: OnceLock<Arc<TaskHandle>>,
}

impl Context {
    /// The context of a request. One whose answer may be a question has a `round`.
    pub(crate) fn new(
        settings: Arc<Settings>,
        client: ClientContext,
        request: RequestScope,
        params: &Params<'_>,
        round: Option<Box<InputRound>>,
    ) -> Result<Self, ErrorObject> {
        let progress = Progress::new(client.progress_token(params));
        let meta = params.meta().map(LazyJson::new);
        let (yields, keys) = (YieldTimer::default(), QuestionKeys::default());
        let (values, task) = (OnceLock::new(), OnceLock::new());
        let parts = Parts { settings, client, request, meta, progress, yields, round, keys, values, task };
        Ok(Self(Arc::new(parts)))
    }

    /// The client that sent the request: who it is, and what can be asked of it.
    pub fn client(&self) -> RemoteClient {
        RemoteClient::new(self.session_peer(), self.0.client.clone(), self.related_task().map(Into::into))
    }

    /// The revision of the protocol that was agreed on, or that the request is in.
    pub fn revision(&self) -> Revision {
        self.0.client.revision()
    }

    /// The request's id.
    pub fn request_id(&self) -> &RequestId {
        self.0.request.id()
    }

    /// How the request arrived, if the transport can tell. The transport's documentation names the type.
    ///
    /// Over HTTP it is the head of the HTTP request, with the extensions that layers in front of the server inserted:
    ///
    /// ```
    /// # use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};
    /// use agentwire_transport_http::server::{Endpoint, EndpointConfig, Head, Principal};
    ///
    /// async fn whoami(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    ///     let head = cx.source().and_then(|source| source.downcast_ref::<Head>());
    ///     let caller = head.and_then(|head| head.extensions().get::<Principal>());
    ///     caller.map(|caller| caller.as_str().to_owned()).ok_or_else(|| ToolError::new("an unknown caller"))
    /// }
    ///
    /// let server = Server::new("directory", "1.0.0").tool("whoami", "The name of the caller", whoami);
    /// let endpoint = Endpoint::serving(EndpointConfig::new(), server);
    /// // A layer around `endpoint` finds out who calls, and inserts a `Principal` into the request's extensions.
    /// ```
    pub fn source(&self) -> Option<&Arc<dyn MessageSource>> {
        self.0.request.source()
    }

    /// The `_meta` of the request.
    pub fn meta(&self) -> Option<&Meta> {
        self.0.meta.as_ref()?.value()
    }

    /// Sets the status message of a [task](crate::ServerTool::task), for its clients. Does nothing for any other call.
    pub fn status(&self, message: impl Into<String>) {
        if let Some(task) = self.task_handle() {
            task.set_status(message.into());
        }
    }

    /// Whether the client has cancelled the request, or the task that the call has become.
    pub fn is_cancelled(&self) -> bool {
        self.task_handle().is_some_and(|task| task.is_cancelled()) || self.0.request.is_cancelled()
    }

    /// Completes when the client cancels the request, or the task that the call has become.
    ///
    /// In a session and in a task, a function that waits for this is polled once more after the cancel, up to its next
    /// wait. Then it is dropped. A modern request over HTTP is cancelled by closing its response, and its
    /// function is dropped at once: code after this wait does not run. So cleaning up belongs in a destructor. This future is
    /// of use there only in what the function has spawned.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled::new(self.0.request.cancelled(), self.task_handle().map(TaskHandle::cancelled))
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.0.settings
    }

    pub(crate) fn client_context(&self) -> &ClientContext {
        &self.0.client
    }

    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        match &self.0.client {
            ClientContext::Session(session) => Some(session),
            ClientContext::Request(_) => None,
        }
    }

    pub(crate) fn in_session(&self) -> bool {
        self.session().is_some()
    }

    pub(crate) fn scope(&self) -> &RequestScope {
        &self.0.request
    }

    pub(crate) fn progress_state(&self) -> &Progress {
        &self.0.progress
    }

    pub(crate) fn yields(&self) -> &YieldTimer {
        &self.0.yields
    }

    pub(crate) fn keys(&self) -> &QuestionKeys {
        &self.0.keys
    }

    pub(crate) fn round(&self) -> Option<&InputRound> {
        self.0.round.as_deref()
    }

    /// Sets the task that the call is, or may become.
    pub(crate) fn set_task_handle(&self, handle: Arc<TaskHandle>) {
        let _has_one = self.0.task.set(handle);
    }

    pub(crate) fn task_handle(&self) -> Option<&Arc<TaskHandle>> {
        self.0.task.get()
    }

    /// The task that the call has become.
    #[inline]
    pub(crate) fn task(&self) -> Option<&Arc<TaskHandle>> {
        self.task_handle().filter(|handle| handle.is_task())
    }

    /// The id of the task in a session that the call has become.
    fn related_task(&self) -> Option<&str> {
        self.task().filter(|_| self.in_session()).map(|handle| handle.id())
    }

    /// Names the task that a message belongs to, where the protocol requires that.
    pub(crate) fn relate<T: HasMeta>(&self, value: &mut T) {
        if let Some(id) = self.related_task() {
            RelatedTaskMetadata::new(id).write_to(value.meta_slot());
        }
    }

    /// The client of a session. What is sent through the peer belongs to the request, unless the call has become a task,
    /// which outlives its request. None for a modern request.
    pub(crate) fn session_peer(&self) -> Option<Peer> {
        let peer = self.0.request.peer().filter(|_| self.in_session())?;
        Some(if self.task().is_some() { peer.unrelated() } else { peer.clone() })
    }

    /// The client that the limits for each client count.
    pub(crate) fn holder(&self) -> Holder {
        self.0.client.holder(&self.0.settings, self.source().map(|source| &**source))
    }

    /// Counts the arguments as a tree of values that the function may hold.
    ///
    /// # Errors
    ///
    /// When they take too much memory, alone or with those of other calls of the client.
    pub(crate) fn hold_values(&self, arguments: &str) -> Result<(), String> {
        if let Some(share) = hold(&self.0.settings, || self.holder(), "the arguments", arguments, 0)? {
            let _has_none = self.0.values.set(share);
        }
        Ok(())
    }

    /// Encodes an answer in the client's revision. A value that has no form in that revision is an error.
    pub(crate) fn encode<T: Serialize + Downgrade + HasMeta>(
        &self,
        mut value: T,
    ) -> Result<RawJson, ErrorObject> {
        self.relate(&mut value);
        self.encode_plain(value)
    }

    /// The same for a value that names its task itself.
    pub(crate) fn encode_plain<T: Serialize + Downgrade + HasMeta>(
        &self,
        value: T,
    ) -> Result<RawJson, ErrorObject> {
        self.0.client.encode(&self.0.settings, &self.0.request, value)
    }

    /// From now on the request is not answered by questions.
    pub(crate) fn close_round(&self) {
        if let Some(round) = self.round() {
            round.close();
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("request_id", self.request_id())
            .field("revision", &self.revision())
            .field("meta", &self.meta())
            .finish_non_exhaustive()
    }
}
