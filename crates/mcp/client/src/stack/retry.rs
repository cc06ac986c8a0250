//! `Retry`: a layer that repeats idempotent calls that the transport could not carry or that timed out.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::core_tasks::{GetTaskPayloadRequest, ListTasksRequest};
use agentwire_mcp_schema::task_extension::GetTaskRequest;
use agentwire_mcp_schema::{
    CompleteRequest, GetPromptRequest, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, PingRequest, ReadResourceRequest,
};
use agentwire_peer::{CallError, Clock, TokioClock};
use agentwire_sync::Backoff;
use futures_util::future::BoxFuture;
use tower_layer::Layer;
use tower_service::Service;

use super::built_in::RawCallFuture;
use super::next::Next;
use crate::raw::{RawAnswer, RawCall};

/// The methods by which a client only reads.
const READING: [&str; 11] = [
    PingRequest::NAME,
    ListToolsRequest::NAME,
    ListPromptsRequest::NAME,
    GetPromptRequest::NAME,
    ListResourcesRequest::NAME,
    ListResourceTemplatesRequest::NAME,
    ReadResourceRequest::NAME,
    CompleteRequest::NAME,
    GetTaskRequest::NAME,
    GetTaskPayloadRequest::NAME,
    ListTasksRequest::NAME,
];

impl RawCall {
    /// Whether the server does nothing more when it gets the request a second time.
    ///
    /// This holds for the methods that only read: pings, lists, `resources/read`, `prompts/get`, `completion/complete` and
    /// the questions about tasks. It holds for `tools/call` where the last list described the tool by `readOnlyHint`, "the
    /// tool does not modify its environment", or by `idempotentHint`, "calling the tool repeatedly with the same arguments
    /// will have no additional effect on its environment". A tool that was not listed on this connection is not idempotent,
    /// and neither is a call that [starts](crate::Call::start) a task.
    ///
    /// These annotations are hints of the server: the specification warns clients not to rely on those of a server that they
    /// do not trust.
    pub fn is_idempotent(&self) -> bool {
        if self.options.starts_task || self.params.member("task").is_some() {
            return false;
        }
        match (self.tool(), &self.tools) {
            (Some(tool), Some(tools)) => tools.is_idempotent(&tool),
            _ => READING.contains(&self.method()),
        }
    }
}

/// A layer that repeats a call that failed on its way, where that is safe.
///
/// A call is repeated where it is [idempotent](RawCall::is_idempotent) and its error is one of these:
///
/// - [`CallError::Failed`]: the transport could not carry the request or its answer, and the connection goes on;
/// - [`CallError::TimedOut`]: no response came in time, and the call was cancelled at the server.
///
/// An answer of the server is never a reason, and neither is the end of the connection. [`when`](Self::when) narrows that
/// further. Each repetition has the whole [time limit](crate::Call::timeout) of the call.
///
/// The pause before a repetition doubles each time, with jitter, as a [`Backoff`] has it: with the defaults, the first pause
/// is between 250 and 500 ms.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_mcp_client::{Client, Retry};
///
/// let client = Client::default()
///     .layer(Retry::idempotent(3).pauses(Duration::from_millis(200), Duration::from_secs(5)));
/// # let _ = client;
/// ```
#[derive(Clone)]
pub struct Retry(Arc<Settings>);

type Condition = Arc<dyn Fn(&CallError) -> bool + Send + Sync>;

#[derive(Clone)]
struct Settings {
    backoff: Backoff,
    when: Option<Condition>,
    clock: Arc<dyn Clock>,
}

impl Retry {
    /// Repeats idempotent calls up to `retries` times, after pauses of up to 500 ms, 1 s, 2 s and so on up to 30 s.
    pub fn idempotent(retries: u32) -> Self {
        Self(Arc::new(Settings {
            backoff: Backoff::new(retries),
            when: None,
            clock: Arc::new(TokioClock::default()),
        }))
    }

    /// Sets the longest first pause (default 500 ms) and the longest pause of all (default 30 s). A pause lasts between half
    /// of its length and all of it, at random.
    #[must_use]
    pub fn pauses(self, first: Duration, longest: Duration) -> Self {
        self.with(|settings| settings.backoff = settings.backoff.pauses(first, longest))
    }

    /// Repeats a call only where the function returns true for its error too, for example by the status of an HTTP answer.
    #[must_use]
    pub fn when(self, condition: impl Fn(&CallError) -> bool + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.when = Some(Arc::new(condition)))
    }

    /// Takes the time for the pauses from another clock than tokio's.
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        self.with(|settings| settings.clock = Arc::new(clock))
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl Settings {
    /// The pause before a repetition; `None` if there is no repetition.
    fn pause(&self, call: &RawCall, retried: u32, error: &CallError) -> Option<Duration> {
        let is_lost = matches!(error, CallError::Failed { .. } | CallError::TimedOut { .. });
        let may = is_lost && call.is_idempotent() && self.when.as_ref().is_none_or(|when| when(error));
        if may { self.backoff.pause(retried) } else { None }
    }
}

impl Layer<Next> for Retry {
    type Service = RetryService;

    fn layer(&self, next: Next) -> RetryService {
        RetryService { settings: self.0.clone(), next }
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("backoff", &self.0.backoff).finish_non_exhaustive()
    }
}

/// A [`Retry`] layer on top of others.
#[derive(Clone)]
pub struct RetryService {
    settings: Arc<Settings>,
    next: Next,
}

impl Service<RawCall> for RetryService {
    type Response = RawAnswer;
    type Error = CallError;
    type Future = RetryFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: RawCall) -> RetryFuture {
        let attempt = Attempt::Sent(self.next.call(call.clone()));
        RetryFuture { service: self.clone(), call, retried: 0, attempt }
    }
}

impl fmt::Debug for RetryService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryService").finish_non_exhaustive()
    }
}

/// The answer of a call that may be repeated.
#[must_use = "futures do nothing unless polled"]
pub struct RetryFuture {
    service: RetryService,
    call: RawCall,
    retried: u32,
    attempt: Attempt,
}

#[expect(clippy::large_enum_variant, reason = "the usual one needs no allocation")]
enum Attempt {
    Sent(RawCallFuture),
    Pause(BoxFuture<'static, ()>),
}

impl Future for RetryFuture {
    type Output = Result<RawAnswer, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let settings = &this.service.settings;
        loop {
            this.attempt = match &mut this.attempt {
                Attempt::Pause(pause) => {
                    ready!(pause.as_mut().poll(cx));
                    this.retried += 1;
                    Attempt::Sent(this.service.next.call(this.call.clone()))
                }
                Attempt::Sent(answer) => match ready!(Pin::new(answer).poll(cx)) {
                    Err(error) => match settings.pause(&this.call, this.retried, &error) {
                        Some(pause) => Attempt::Pause(settings.clock.sleep(pause)),
                        None => return Poll::Ready(Err(error)),
                    },
                    answer => return Poll::Ready(answer),
                },
            };
        }
    }
}

impl fmt::Debug for RetryFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryFuture").field("retried", &self.retried).finish_non_exhaustive()
    }
}
