use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll};

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestId};
use agentwire_mcp_schema::{
    HasMeta, LoggingLevel, LoggingMessageNotification, Meta, Narrow, ProgressNotification, ProgressToken,
    Revision,
};
use agentwire_peer::{CallError, Cancelled, Peer, RequestContext};
use agentwire_transport::Origin;
use futures::future::BoxFuture;
use serde::Serialize;

use crate::ask::{Keys, Pass};
use crate::era::Caller;
use crate::kind::Kind;
use crate::params::Params;
use crate::undecoded::Undecoded;
use crate::{Client, Server};

/// What a function is doing, boxed: it gives the text of the answer.
pub(crate) type Running = BoxFuture<'static, Result<RawJson, ErrorObject>>;

/// What a function holds of the request it works for. Cloning is cheap.
#[derive(Clone)]
pub struct Context(Arc<Work>);

struct Work {
    server: Server,
    caller: Caller,
    request: RequestContext,
    meta: Option<Undecoded<Meta>>,
    progress_token: Option<ProgressToken>,
    /// Where questions go that no request can carry.
    pass: Option<Box<Pass>>,
    keys: Keys,
    /// The bits of the greatest progress reported, an `f64`. Infinite once the work is over.
    progress: AtomicU64,
}

impl Context {
    pub(crate) fn new(
        server: Server,
        caller: Caller,
        request: RequestContext,
        params: &Params<'_>,
    ) -> Result<Self, ErrorObject> {
        let progress_token = caller.progress_token(params);
        let progress = AtomicU64::new(f64::NEG_INFINITY.to_bits());
        let meta = params.meta()?.map(Undecoded::new);
        let keys = Keys::default();
        Ok(Self(Arc::new(Work { server, caller, request, meta, progress_token, pass: None, keys, progress })))
    }

    /// The same, for a request whose answer may be a question.
    pub(crate) fn asking(
        server: Server,
        caller: Caller,
        request: RequestContext,
        params: &Params<'_>,
        whole: &Request,
    ) -> Result<Self, ErrorObject> {
        let pass = caller.begin_pass(&server, whole, params, request.origin().map(|origin| &**origin))?;
        let mut context = Self::new(server, caller, request, params)?;
        if let Some(work) = Arc::get_mut(&mut context.0) {
            work.pass = pass;
        }
        Ok(context)
    }

    /// Whether arguments and structured content are held against the schemas of their tools.
    pub(crate) fn validates(&self) -> bool {
        self.0.server.validates()
    }

    /// The client that asked: who it is, and what can be asked of it.
    pub fn client(&self) -> Client {
        Client::new(self.0.request.peer().clone(), self.0.caller.clone())
    }

    /// The revision of the protocol that was agreed on, or that the request is in.
    pub fn revision(&self) -> Revision {
        self.0.caller.revision()
    }

    /// The request's id.
    pub fn request_id(&self) -> &RequestId {
        self.0.request.request_id().expect("the context of a request has its id")
    }

    /// How the request came in, where there is more to say of it than over which connection. Which type it has, its
    /// transport says.
    ///
    /// Over HTTP it is the head of the HTTP request, with what layers in front of the server noted there:
    ///
    /// ```
    /// # use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};
    /// use agentwire_transport_http::server::{Config, Endpoint, Head, Principal};
    ///
    /// async fn whoami(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    ///     let head = cx.origin().and_then(|origin| origin.downcast_ref::<Head>());
    ///     let caller = head.and_then(|head| head.extensions().get::<Principal>());
    ///     caller.map(|caller| caller.as_str().to_owned()).ok_or_else(|| ToolError::new("nobody I know"))
    /// }
    ///
    /// let server = Server::new("directory", "1.0.0").tool("whoami", "Who asks", whoami);
    /// let endpoint = Endpoint::serving(Config::new(), move |link| server.serve(link));
    /// // A layer around `endpoint` finds out who calls, and inserts a `Principal` into the request's extensions.
    /// ```
    pub fn origin(&self) -> Option<&Arc<dyn Origin>> {
        self.0.request.origin()
    }

    /// What the client attached to the request.
    pub fn meta(&self) -> Option<&Meta> {
        self.0.meta.as_ref()?.value()
    }

    /// Whether the client asked to hear of progress.
    pub fn wants_progress(&self) -> bool {
        self.0.progress_token.is_some()
    }

    /// Tells the client how far the work has come, if it asked to know.
    ///
    /// `progress` and `total` are in any one unit. Progress grows: a report that is not greater than the last
    /// is not sent, nor is one after the work is over. A `message` is for people, since 2025-03-26. This
    /// waits while much is still to be sent, and nothing else limits how many reports are.
    ///
    /// # Errors
    ///
    /// When the connection is over.
    pub async fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<(), CallError> {
        let Some(token) = &self.0.progress_token else {
            return Ok(());
        };
        let mut notification = ProgressNotification::new(token.clone(), progress);
        notification.total = total;
        if self.revision().has_progress_message() {
            notification.message = message.map(str::to_owned);
        }
        let mut notify = pin!(self.0.request.peer().notify(&notification));
        poll_fn(|cx| {
            // Others may have reported more while this one waited for room. Also false for what is no number.
            let grows = progress > self.0.reported();
            if !grows {
                return Poll::Ready(Ok(()));
            }
            let sent = notify.as_mut().poll(cx);
            if sent.is_ready() {
                self.0.progress.store(progress.to_bits(), Ordering::Relaxed);
            }
            sent
        })
        .await
    }

    /// Sends a line of log, from the part of the server that `logger` names: a string, or anything else that
    /// has a JSON form.
    ///
    /// Nothing is sent unless the server [logs](crate::Server::logging), nor below the level that the client
    /// set. Since 2026-07-28 the client sets it with each request, and hears nothing where it does not, nor after the
    /// answer. Secrets do not belong here.
    ///
    /// # Errors
    ///
    /// When the connection is over, or the data has no JSON form.
    pub async fn log<T: Serialize + ?Sized>(
        &self,
        level: LoggingLevel,
        logger: Option<&str>,
        data: &T,
    ) -> Result<(), CallError> {
        if !self.0.wants_log(&level) {
            return Ok(());
        }
        let seen = level.clone();
        let data = RawJson::encode(data).map_err(|error| {
            CallError::not_allowed("notifications/message", format!("the data has no JSON form: {error}"))
        })?;
        let mut notification = LoggingMessageNotification::new(level, data);
        notification.logger = logger.map(str::to_owned);
        let mut notify = pin!(self.0.request.peer().notify(&notification));
        // While this waits for room, the request may be answered, after which it may not be spoken of.
        poll_fn(|cx| if self.0.wants_log(&seen) { notify.as_mut().poll(cx) } else { Poll::Ready(Ok(())) })
            .await
    }

    /// Whether the client has said that it no longer wants the answer.
    pub fn is_cancelled(&self) -> bool {
        self.0.request.is_cancelled()
    }

    /// Completes when the client says that it no longer wants the answer.
    ///
    /// A function that waits for this gets to run once more, up to its next wait; then it is dropped, like
    /// one that does not. What takes longer to clean up belongs into a destructor or a task.
    pub fn cancelled(&self) -> Cancelled {
        self.0.request.cancelled()
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.0.caller
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.0.keys
    }

    pub(crate) fn pass(&self) -> Option<&Pass> {
        self.0.pass.as_deref()
    }

    /// What is said through this belongs to the request.
    pub(crate) fn peer(&self) -> &Peer {
        self.0.request.peer()
    }

    /// Encodes an answer, in the terms of the client's revision. One that it has no terms for is an error.
    pub(crate) fn encode<T: Serialize + Narrow + HasMeta>(&self, value: T) -> Result<RawJson, ErrorObject> {
        self.0.caller.encode(&self.0.server, self.peer(), value)
    }

    /// Works until the function is done, or the client no longer wants it to be.
    pub(crate) fn race(self, running: Running) -> impl Future<Output = Result<RawJson, ErrorObject>> + Send {
        Race { running, cancelled: None, context: self }
    }
}

impl Work {
    fn reported(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    fn wants_log(&self, level: &LoggingLevel) -> bool {
        let over = self.reported() == f64::INFINITY;
        self.caller.is_offered(&self.server, Kind::Logging) && self.caller.wants_log(level, over)
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

struct Race {
    running: Running,
    /// Once the function has to wait.
    cancelled: Option<Cancelled>,
    context: Context,
}

impl Future for Race {
    type Output = Result<RawJson, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // The function first: one that waits for its cancellation may still do something about it.
        if let Poll::Ready(answer) = this.running.as_mut().poll(cx) {
            return Poll::Ready(answer);
        }
        let cancelled = this.cancelled.get_or_insert_with(|| this.context.cancelled());
        if Pin::new(cancelled).poll(cx).is_ready() {
            return Poll::Ready(Err(ErrorObject::request_cancelled()));
        }
        match this.context.pass() {
            // The function waits for an answer that only the next round brings. It is dropped, as when it is cancelled.
            Some(pass) if pass.ends(cx.waker()) => {
                Poll::Ready(pass.end().and_then(|wanted| this.context.encode(wanted)))
            }
            _ => Poll::Pending,
        }
    }
}

/// A context may live on, in a task for example, but no progress may follow the answer, and no question.
impl Drop for Race {
    fn drop(&mut self) {
        if let Some(pass) = self.context.pass() {
            pass.close();
        }
        self.context.0.progress.store(f64::INFINITY.to_bits(), Ordering::Relaxed);
    }
}
