//! `Call`: a request to the server that is sent when it is awaited.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::{CallToolRequest, Downgrade, HasMeta, ProgressNotification};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;
use bytestring::ByteString;
use serde::de::DeserializeOwned;

use crate::connection::Connection;
use crate::raw::{CallOptions, RawCall};
use crate::stack::downgrade::downgrade;
use crate::stack::{CallStack, RawCallFuture};
use crate::tasks::handle;
use crate::{RemoteServer, TaskOrResult, TaskState};

/// A call to the server. It is sent when it is awaited.
///
/// Awaiting it returns the decoded result. Dropping it before that cancels the call at the server.
/// [`into_future`](IntoFuture::into_future) converts it to a future.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_mcp_client::{BoxError, RemoteServer};
///
/// async fn build(server: &RemoteServer) -> Result<String, BoxError> {
///     let call = server
///         .call_tool("build", ())
///         .timeout(Duration::from_secs(60)) // progress extends it
///         .on_progress(|report| println!("{}", report.progress));
///     Ok(call.await?.text().into_owned())
/// }
/// # let _ = build;
/// ```
#[must_use = "a call is not made until it is awaited"]
pub struct Call<M> {
    stack: CallStack,
    request: Result<M, CallError>,
    options: CallOptions,
}

impl<M> Call<M> {
    /// Creates a call that fails when it is awaited, and sends nothing.
    pub(crate) fn refused(stack: CallStack, error: CallError) -> Self {
        Self { stack, request: Err(error), options: CallOptions::default() }
    }

    /// Sets how long to wait for the answer, instead of the client's default; `None` for ever. On time-out the call fails,
    /// and the server gets a cancellation. After a question of a modern server, each repetition of the request has this time.
    /// The time in which the client answers does not count.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.waits.timeout = timeout.into();
        self
    }

    /// Sets how long progress reports can extend the wait, counted from the call, instead of the client's default; `None`
    /// sets no maximum. Progress extends the wait even without a [hook](Self::on_progress).
    pub fn progress_maximum(mut self, maximum: impl Into<Option<Duration>>) -> Self {
        self.options.waits.progress_maximum = maximum.into();
        self
    }

    /// Asks the server for progress. The hook gets each report, in order, before the answer.
    pub fn on_progress(mut self, hook: impl FnMut(ProgressNotification) + Send + 'static) -> Self {
        self.options.on_progress = Some(Arc::new(Mutex::new(hook)));
        self
    }
}

impl<M: RequestMethod + Downgrade + HasMeta> Call<M> {
    /// Creates a call in the form of the server's revision, with the client's default time limits.
    pub(crate) fn new(stack: CallStack, request: M) -> Self {
        let server = &stack.connection.server;
        let options = CallOptions { waits: server.waits, ..CallOptions::default() };
        Self { request: downgrade(server, request), options, stack }
    }
}

impl<M: Clone> Call<M> {
    /// Copies the call and its hooks, to send it in another session. `None` for a call that cannot be sent.
    pub fn draft(&self) -> Option<CallDraft<M>> {
        Some(CallDraft { request: self.request.as_ref().ok()?.clone(), options: self.options.clone() })
    }
}

/// A call without a connection: see [`Call::draft`].
#[derive(Clone)]
pub struct CallDraft<M> {
    request: M,
    options: CallOptions,
}

impl<M: RequestMethod + Downgrade + HasMeta> CallDraft<M> {
    /// Makes the call to a server, for example in a new session with the same server.
    pub fn send_to(self, server: &RemoteServer) -> Call<M> {
        Call { options: self.options, ..server.call(self.request) }
    }
}

impl<M: fmt::Debug> fmt::Debug for CallDraft<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallDraft").field("request", &self.request).finish_non_exhaustive()
    }
}

impl Call<CallToolRequest> {
    /// Sets a hook that gets each new state of the task that the server makes of the call; see
    /// [`Client::tasks`](crate::Client::tasks). Keep the task's [id](TaskState::id) to come back to it by [`RemoteServer::task`](crate::RemoteServer::task)
    /// if the connection is lost.
    pub fn on_task(mut self, hook: impl FnMut(&TaskState) + Send + 'static) -> Self {
        self.options.on_task = Some(Arc::new(Mutex::new(hook)));
        self
    }

    /// Asks the server to keep the task, and later its result, for this long from its creation on. Only in 2025-11-25;
    /// later servers decide by themselves.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.options.task_ttl = Some(ttl);
        self
    }

    /// Starts the call, and returns a handle on its task if the server runs it as one. In 2025-11-25 the call asks for
    /// a task; since 2026-07-28 the server decides. The time limit of the call is that of its start.
    ///
    /// Dropping the future before it returns the handle cancels the task as well. Since 2026-07-28 a task that the server
    /// makes at that moment may go on for as long as the server keeps it, because the client does not know its id.
    ///
    /// # Errors
    ///
    /// The errors of the call itself. [`CallError::NotAllowed`] if the client has no [`Tasks`](crate::Client::tasks) or, in
    /// 2025-11-25, if the server or the tool does not support tasks. A tool that was not listed before is looked up first.
    pub async fn start(mut self) -> Result<TaskOrResult, CallError> {
        if self.request.is_ok() {
            handle::may_start(&self.stack.connection)?;
        }
        self.options.starts_task = true;
        let connection = self.stack.connection.clone();
        let tool = self.request.as_ref().map(|request| request.name.clone()).unwrap_or_default();
        let hook = self.options.on_task.clone();
        let answer = Box::pin(self.into_raw()).await?;
        handle::started(connection, tool, hook, answer)
    }
}

impl<M: RequestMethod + HasMeta> Call<M> {
    /// Starts the call, and returns a future for the text of its result.
    pub(crate) fn into_raw(self) -> RawCallFuture {
        let Self { stack, request, options } = self;
        let call = request.and_then(|request| RawCall::encode(&stack.connection, &request, options));
        match call {
            Ok(call) => stack.start(call),
            Err(error) => RawCallFuture::refused(&stack.connection, error),
        }
    }
}

impl<M: RequestMethod + HasMeta + Send + 'static> IntoFuture for Call<M> {
    type Output = Result<M::Response, CallError>;
    type IntoFuture = CallFuture<M::Response>;

    fn into_future(self) -> Self::IntoFuture {
        let connection = self.stack.connection.clone();
        CallFuture { call: self.into_raw(), connection, method: M::NAME, result: PhantomData }
    }
}

impl<M: fmt::Debug> fmt::Debug for Call<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("request", &self.request)
            .field("waits", &self.options.waits)
            .finish_non_exhaustive()
    }
}

/// A [`Call`] as a future.
#[must_use = "a call is not made until it is awaited"]
pub struct CallFuture<R> {
    call: RawCallFuture,
    connection: Arc<Connection>,
    method: &'static str,
    result: PhantomData<fn() -> R>,
}

impl<R: DeserializeOwned> Future for CallFuture<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(Pin::new(&mut self.call).poll(cx))?;
        let method = ByteString::from_static(self.method);
        Poll::Ready(self.connection.decode(method, &answer.result))
    }
}

impl<R> fmt::Debug for CallFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").field("method", &self.method).finish_non_exhaustive()
    }
}
