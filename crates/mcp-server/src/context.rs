use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context as TaskContext, Poll};

use agentwire_jsonrpc::{ErrorObject, NotificationMethod, RawJson, Request, RequestId};
use agentwire_mcp_schema::core_tasks::RelatedTaskMetadata;
use agentwire_mcp_schema::{
    Downgrade, HasMeta, LoggingLevel, LoggingMessageNotification, Meta, ProgressNotification, ProgressToken,
    Revision,
};
use agentwire_peer::{CallError, Peer};
use agentwire_transport::MessageSource;
use futures::future::BoxFuture;
use serde::Serialize;

use crate::ask::{AskError, Keys, Pass};
use crate::cancelled::Cancelled;
use crate::era::Caller;
use crate::era::Session;
use crate::kind::Kind;
use crate::params::Params;
use crate::quota::{Holder, Share};
use crate::scope::{CancelledInScope, RequestScope, SendInScope};
use crate::tasks::Board;
use crate::undecoded::Undecoded;
use crate::value_limit::hold;
use crate::yield_timer::{YieldTimer, yield_once};
use crate::{Client, Server};

/// What a function is doing, boxed: it gives the text of the answer.
pub(crate) type Running = BoxFuture<'static, Result<RawJson, ErrorObject>>;

/// What a function holds of the request it works for. Cloning is cheap.
#[derive(Clone)]
pub struct Context(Arc<Work>);

struct Work {
    server: Server,
    caller: Caller,
    request: RequestScope,
    meta: Option<Undecoded<Meta>>,
    progress_token: Option<ProgressToken>,
    /// Where questions go that no request can carry.
    pass: Option<Box<Pass>>,
    keys: Keys,
    /// The bits of the greatest progress reported, an `f64`. Infinite once the work is over.
    progress: AtomicU64,
    yields: YieldTimer,
    /// The memory of the arguments, as values.
    values: OnceLock<Share>,
    /// Of a call that is a task, or may become one.
    board: OnceLock<Arc<Board>>,
}

impl Context {
    pub(crate) fn new(
        server: Server,
        caller: Caller,
        request: RequestScope,
        params: &Params<'_>,
    ) -> Result<Self, ErrorObject> {
        let progress_token = caller.progress_token(params);
        let progress = AtomicU64::new(f64::NEG_INFINITY.to_bits());
        let meta = params.meta()?.map(Undecoded::new);
        let keys = Keys::default();
        Ok(Self(Arc::new(Work {
            server,
            caller,
            request,
            meta,
            progress_token,
            pass: None,
            keys,
            progress,
            yields: YieldTimer::default(),
            values: OnceLock::new(),
            board: OnceLock::new(),
        })))
    }

    /// The same, for a request whose answer may be a question.
    pub(crate) fn asking(
        server: Server,
        caller: Caller,
        request: RequestScope,
        params: &Params<'_>,
        whole: &Request,
    ) -> Result<Self, ErrorObject> {
        let pass = caller.begin_pass(&server, whole, params, request.source().map(|source| &**source))?;
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

    /// How much memory the arguments may take as a tree of values.
    #[cfg(feature = "validate")]
    pub(crate) fn value_limit(&self) -> usize {
        self.0.server.value_limit_value()
    }

    /// Whom limits for each client count.
    pub(crate) fn holder(&self) -> Holder {
        self.0.caller.holder(&self.0.server, self.source().map(|source| &**source))
    }

    /// Counts the arguments as a tree of values that the function may hold, or says that they take too much memory: they
    /// alone, or with those of other calls of the client.
    pub(crate) fn hold_values(&self, arguments: &str) -> Result<(), String> {
        if let Some(share) = hold(&self.0.server, || self.holder(), "the arguments", arguments, 0)? {
            let _has_none = self.0.values.set(share);
        }
        Ok(())
    }

    /// The client that asked: who it is, and what can be asked of it.
    pub fn client(&self) -> Client {
        Client::new(self.session_peer(), self.0.caller.clone(), self.related_task().map(Into::into))
    }

    /// The revision of the protocol that was agreed on, or that the request is in.
    pub fn revision(&self) -> Revision {
        self.0.caller.revision()
    }

    /// The request's id.
    pub fn request_id(&self) -> &RequestId {
        self.0.request.id()
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
    ///     let head = cx.source().and_then(|source| source.downcast_ref::<Head>());
    ///     let caller = head.and_then(|head| head.extensions().get::<Principal>());
    ///     caller.map(|caller| caller.as_str().to_owned()).ok_or_else(|| ToolError::new("nobody I know"))
    /// }
    ///
    /// let server = Server::new("directory", "1.0.0").tool("whoami", "Who asks", whoami);
    /// let endpoint = Endpoint::serving(Config::new(), server);
    /// // A layer around `endpoint` finds out who calls, and inserts a `Principal` into the request's extensions.
    /// ```
    pub fn source(&self) -> Option<&Arc<dyn MessageSource>> {
        self.0.request.source()
    }

    /// What the client attached to the request.
    pub fn meta(&self) -> Option<&Meta> {
        self.0.meta.as_ref()?.value()
    }

    /// Whether the client asked to hear of progress, and can: of a [task](crate::ServerTool::task) only in a session.
    pub fn wants_progress(&self) -> bool {
        self.0.progress_token.is_some() && self.0.is_heard()
    }

    /// Tells the client how far the work has come, if it asked to know.
    ///
    /// `progress` and `total` are in any one unit. Progress grows: a report that is not greater than the last
    /// is not sent, nor is one after the work is over. A `message` is for people, since 2025-03-26. This
    /// waits while much is still to be sent, and nothing else limits how many reports are.
    ///
    /// Lets the connection and other functions run at least every 200 µs, whether or not a report is sent. A
    /// function whose call was cancelled is dropped then.
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
        let Some(token) = self.0.progress_token.as_ref().filter(|_| self.0.is_heard()) else {
            self.0.yields.pass().await;
            return Ok(());
        };
        if !self.0.grows_to(progress) {
            self.0.yields.pass().await;
            return Ok(());
        }
        let mut notification = ProgressNotification::new(token.clone(), progress);
        notification.total = total;
        if self.revision().has_progress_message() {
            notification.message = message.map(str::to_owned);
        }
        self.relate(&mut notification);
        let unrelated = self.unrelated_peer();
        let mut notify = pin!(self.notify(unrelated.as_ref(), &notification));
        let sent = poll_fn(|cx| {
            // Others may have reported more while this one waited for room.
            if !self.0.grows_to(progress) {
                return Poll::Ready(Ok(()));
            }
            let sent = notify.as_mut().poll(cx);
            if sent.is_ready() {
                self.0.progress.store(progress.to_bits(), Ordering::Relaxed);
            }
            sent
        })
        .await;
        if self.goes_on(&sent) { sent } else { self.after(sent).await }
    }

    /// Sends a line of log, from the part of the server that `logger` names: a string, or anything else that
    /// has a JSON form.
    ///
    /// Nothing is sent unless the server [logs](crate::Server::logging), nor below the level that the client
    /// set. Since 2026-07-28 the client sets it with each request, and hears nothing where it does not, nor after the
    /// answer. Secrets do not belong here. Like [`progress`](Self::progress), lets others run at least every 200 µs.
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
            self.0.yields.pass().await;
            return Ok(());
        }
        let seen = level.clone();
        let data = RawJson::encode(data).map_err(|error| {
            CallError::not_allowed("notifications/message", format!("the data has no JSON form: {error}"))
        })?;
        let mut notification = LoggingMessageNotification::new(level, data);
        notification.logger = logger.map(str::to_owned);
        self.relate(&mut notification);
        let unrelated = self.unrelated_peer();
        let mut notify = pin!(self.notify(unrelated.as_ref(), &notification));
        // While this waits for room, the request may be answered, after which it may not be spoken of.
        let sent = poll_fn(|cx| match self.0.wants_log(&seen) {
            true => notify.as_mut().poll(cx),
            false => Poll::Ready(Ok(())),
        });
        let sent = sent.await;
        if self.goes_on(&sent) { sent } else { self.after(sent).await }
    }

    /// Says in words how a [task](crate::ServerTool::task) stands, for those who ask for it. A call that is none has nobody
    /// who does, so nothing happens.
    pub fn status(&self, message: impl Into<String>) {
        if let Some(board) = self.board() {
            board.say(message.into());
        }
    }

    /// Whether the client has said that it no longer wants the answer, or cancelled the task that the call has become.
    pub fn is_cancelled(&self) -> bool {
        if self.board().is_some_and(|board| board.is_cancelled()) {
            return true;
        }
        self.0.request.is_cancelled()
    }

    /// Completes when the client says that it no longer wants the answer, or cancels the task that the call has become.
    ///
    /// A function that waits for this gets to run once more, up to its next wait; then it is dropped, like
    /// one that does not. What takes longer to clean up belongs into a destructor or a task.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled::new(self.0.request.cancelled(), self.board().map(Board::cancelled))
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

    /// The client's end of a session. What is sent through it belongs to the request, unless the call has become a task,
    /// which outlives its request. None for a request that stands alone.
    pub(crate) fn session_peer(&self) -> Option<Peer> {
        let peer = self.0.request.peer().filter(|_| self.in_session())?;
        Some(if self.is_task() { peer.unrelated() } else { peer.clone() })
    }

    /// What a task notifies, whose request is answered already. None for a plain call.
    fn unrelated_peer(&self) -> Option<Peer> {
        self.0.request.peer().filter(|_| self.is_task()).map(Peer::unrelated)
    }

    fn notify<'a, N: NotificationMethod>(
        &'a self,
        unrelated: Option<&'a Peer>,
        notification: &N,
    ) -> SendInScope<'a> {
        match unrelated {
            Some(peer) => SendInScope::Connection(peer.notify(notification)),
            None => self.0.request.notify(notification),
        }
    }

    pub(crate) fn scope(&self) -> &RequestScope {
        &self.0.request
    }

    pub(crate) fn is_task(&self) -> bool {
        self.0.is_task()
    }

    /// Encodes an answer, in the terms of the client's revision. One that it has no terms for is an error.
    pub(crate) fn encode<T: Serialize + Downgrade + HasMeta>(
        &self,
        mut value: T,
    ) -> Result<RawJson, ErrorObject> {
        self.relate(&mut value);
        self.encode_plain(value)
    }

    /// The same, for what says itself which task it is about.
    pub(crate) fn encode_plain<T: Serialize + Downgrade + HasMeta>(
        &self,
        value: T,
    ) -> Result<RawJson, ErrorObject> {
        self.0.caller.encode(&self.0.server, &self.0.request, value)
    }

    /// The client's answer is none to the question of that key.
    pub(crate) fn wrong_answer(&self, key: &str, why: String) -> AskError {
        self.0.caller.wrong_answer(key, why, self.is_task())
    }

    /// Says in what is sent which task it is about, where the protocol wants that.
    fn relate<T: HasMeta>(&self, value: &mut T) {
        if let Some(id) = self.related_task() {
            RelatedTaskMetadata::new(id).write_to(value.meta_slot());
        }
    }

    fn related_task(&self) -> Option<&str> {
        self.task().filter(|_| self.in_session()).map(|board| board.id())
    }

    /// Whether a function may go on at once after a notification.
    #[inline]
    fn goes_on(&self, sent: &Result<(), CallError>) -> bool {
        sent.is_ok() && !self.0.yields.is_due_queued()
    }

    /// Lets others run after a notification. A task outlives the connection on which it began, so its function gets no
    /// error for that.
    async fn after(&self, sent: Result<(), CallError>) -> Result<(), CallError> {
        match sent {
            Ok(()) => yield_once().await,
            Err(_) => self.0.yields.pass().await,
        }
        sent.or_else(|error| if self.is_task() { Ok(()) } else { Err(error) })
    }

    /// Lets others run at least every 200 µs, also where a function only calls what is ready at once.
    pub(crate) async fn let_others_run(&self) {
        self.0.yields.pass().await;
    }

    /// Works until the function is done, or the client no longer wants it to be.
    pub(crate) fn race(self, running: Running) -> Race {
        Race { running, cancelled: None, context: self, has_let_go: false }
    }
}

/// What calls that go on as tasks need.
impl Context {
    /// The call is a task on that board, or may become one.
    pub(crate) fn put_on(&self, board: Arc<Board>) {
        let _has_one = self.0.board.set(board);
    }

    pub(crate) fn board(&self) -> Option<&Arc<Board>> {
        self.0.board.get()
    }

    /// The board of a call that is a task by now.
    pub(crate) fn task(&self) -> Option<&Arc<Board>> {
        self.board().filter(|board| board.is_task())
    }

    pub(crate) fn in_session(&self) -> bool {
        self.session().is_some()
    }

    pub(crate) fn session(&self) -> Option<&Session> {
        match &self.0.caller {
            Caller::Session(session) => Some(session),
            Caller::Request(_) => None,
        }
    }

    /// Completes when the client no longer wants the answer to its request.
    pub(crate) fn request_cancelled(&self) -> CancelledInScope {
        self.0.request.cancelled()
    }

    /// Answers the request before its future completes, if it can be: the future returns the same answer.
    pub(crate) fn answer_now(&self, answer: &Result<RawJson, ErrorObject>) {
        self.0.request.answer_now(|| answer.clone());
    }

    /// The request is not answered by questions any more.
    pub(crate) fn close_pass(&self) {
        if let Some(pass) = self.pass() {
            pass.close();
        }
    }

    /// The work is over: no progress follows.
    pub(crate) fn end(&self) {
        self.0.progress.store(f64::INFINITY.to_bits(), Ordering::Relaxed);
    }
}

impl Work {
    fn reported(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    /// Whether a report of that progress is more than the last one. False for what is no number.
    #[inline]
    fn grows_to(&self, progress: f64) -> bool {
        progress > self.reported()
    }

    fn is_task(&self) -> bool {
        self.board.get().is_some_and(|board| board.is_task())
    }

    /// Whether there is somebody whom progress and log reach: since 2026-07-28 there is nobody once the call is a task.
    #[inline]
    fn is_heard(&self) -> bool {
        if let Some(board) = self.board.get().filter(|board| board.is_task()) {
            return matches!(self.caller, Caller::Session(_)) && !board.is_over();
        }
        true
    }

    fn wants_log(&self, level: &LoggingLevel) -> bool {
        let over = self.reported() == f64::INFINITY;
        self.caller.is_offered(&self.server, Kind::Logging)
            && self.caller.wants_log(level, over)
            && self.is_heard()
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

pub(crate) struct Race {
    running: Running,
    /// Once the function has to wait.
    cancelled: Option<agentwire_peer::Cancelled>,
    context: Context,
    /// Somebody else goes on with the work.
    has_let_go: bool,
}

impl Race {
    /// Gives the work away as it stands.
    pub(crate) fn let_go(mut self) -> Running {
        self.has_let_go = true;
        std::mem::replace(&mut self.running, Box::pin(std::future::pending()))
    }
}

impl Future for Race {
    type Output = Result<RawJson, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // The function first: one that waits for its cancellation may still do something about it.
        if let Poll::Ready(answer) = this.running.as_mut().poll(cx) {
            return Poll::Ready(answer);
        }
        // An exchange is cancelled by dropping this.
        if let RequestScope::Connection(request) = &this.context.0.request {
            let cancelled = this.cancelled.get_or_insert_with(|| request.cancelled());
            if Pin::new(cancelled).poll(cx).is_ready() {
                return Poll::Ready(Err(ErrorObject::request_cancelled()));
            }
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
        if self.has_let_go {
            return;
        }
        if let Some(pass) = self.context.pass() {
            pass.close();
        }
        self.context.0.progress.store(f64::INFINITY.to_bits(), Ordering::Relaxed);
    }
}
