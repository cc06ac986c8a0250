use std::any::Any;
use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::{CallToolRequest, HasMeta, ProgressNotification, ProgressToken};
use agentwire_peer::CallError;
use agentwire_sync::Mutex;
use bytestring::ByteString;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use crate::era::stateless;
use crate::kept::Kept;
use crate::result::DecodedCall;
use crate::tasks::{TaskHook, core, decode, handle};
use crate::{Server, Started, TaskState, cache, lists};

/// A call to the server: a value until it is awaited, which sends it.
///
/// Awaiting gives the decoded result. Dropping it before that tells the server that nobody waits any more.
/// Where a future is needed, [`into_future`](IntoFuture::into_future) gives one.
#[must_use = "a call is not made until it is awaited"]
pub struct Call<M> {
    server: Server,
    request: Result<M, CallError>,
    options: Options,
}

/// How a call is made.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) waits: Waits,
    pub(crate) on_progress: Option<Hook>,
    pub(crate) on_task: Option<TaskHook>,
    pub(crate) task_ttl: Option<Duration>,
    /// The result stays text, of which whoever gets it decodes parts.
    pub(crate) as_text: bool,
}

/// How long a call waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) progress_maximum: Option<Duration>,
}

/// Looks at the text of a result.
pub(crate) type Check = Box<dyn FnOnce(&RawJson) -> Result<(), CallError> + Send>;

pub(crate) type Hook = Box<dyn FnMut(ProgressNotification) + Send>;

impl<M> Call<M> {
    pub(crate) fn new(server: Server, request: Result<M, CallError>, waits: Waits) -> Self {
        Self { server, request, options: Options { waits, ..Options::default() } }
    }

    /// Waits so long for the answer instead of the client's default; with `None`, for ever. Then the call
    /// fails, and the server is told. Since 2026-07-28, where a server asks back, each time that the call is made has
    /// this time, and what the client takes to answer does not count.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.waits.timeout = timeout.into();
        self
    }

    /// Each progress report starts the wait anew, until `maximum` has passed since the call was made, instead
    /// of the client's default; with `None`, progress extends nothing.
    pub fn progress_maximum(mut self, maximum: impl Into<Option<Duration>>) -> Self {
        self.options.waits.progress_maximum = maximum.into();
        self
    }

    /// Asks the server for progress, and hears each report, in order, before the answer.
    pub fn on_progress(mut self, hook: impl FnMut(ProgressNotification) + Send + 'static) -> Self {
        self.options.on_progress = Some(Box::new(hook));
        self
    }
}

impl Call<CallToolRequest> {
    /// Hears how the task stands that the server makes of the call, whenever that is something else than before; see
    /// [`Client::tasks`](crate::Client::tasks). Whoever keeps its [id](TaskState::id) can come back to it by
    /// [`Server::task`] if the connection is lost.
    pub fn on_task(mut self, hook: impl FnMut(&TaskState) + Send + 'static) -> Self {
        self.options.on_task = Some(Arc::new(Mutex::new(Box::new(hook))));
        self
    }

    /// Asks the server to keep the task, and later its result, for so long from its creation on. Only 2025-11-25; since
    /// then the server decides.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.options.task_ttl = Some(ttl);
        self
    }

    /// Starts the call, and gives a handle on its task where the server makes one of it: always in 2025-11-25, where
    /// the call asks for it, and as the server likes since 2026-07-28. The time limit of the call is that of its start.
    ///
    /// Dropping the future before it gives the handle gives the task up as well. Since 2026-07-28 that is said before the
    /// task has a name, so one that the server makes at that very moment may go on for as long as the server keeps it.
    ///
    /// # Errors
    ///
    /// As the call itself; [`CallError::NotAllowed`] where the client was not given
    /// [`Tasks`](crate::Client::tasks), or, in 2025-11-25, the server or the tool does not run as a task. A tool that
    /// was not listed before is looked up for that.
    pub async fn start(self) -> Result<Started, CallError> {
        let Self { server, request, options } = self;
        Box::pin(handle::start(server, request?, options)).await
    }
}

impl<M: Method + HasMeta + Send + 'static> IntoFuture for Call<M> {
    type Output = Result<M::Response, CallError>;
    type IntoFuture = Calling<M::Response>;

    fn into_future(self) -> Self::IntoFuture {
        self.begin()
    }
}

impl<M: Method + HasMeta + Send + 'static> Call<M> {
    /// Makes the call, and gives the text of its result.
    pub(crate) fn into_text(mut self) -> Calling<RawJson> {
        self.options.as_text = true;
        self.begin()
    }

    fn begin<R: DeserializeOwned + 'static>(self) -> Calling<R> {
        if let (Some(items), false) = (lists::items_of(M::NAME), self.options.as_text) {
            return Calling(Way::Several(lists::ask(self.server.clone(), self, items).boxed()));
        }
        let Self { server, request, options } = self;
        let refuse = |error| {
            let refused = server.peer.refuse_call(error);
            Calling(Way::Once(DecodedCall::new(refused, M::NAME, usize::MAX)))
        };
        let request = match request {
            Ok(request) => request,
            Err(error) => return refuse(error),
        };
        if core::must_not_ask(&server, &request) {
            let why = "it cannot be run as a task: the server, or this client, did not say that it has tasks";
            return refuse(CallError::not_allowed(M::NAME, why));
        }
        if let Some(check) = server.check(&request) {
            return Calling(Way::Several(checked(server, request, options, check).boxed()));
        }
        let cache = server.cache().cloned();
        let place = cache.and_then(|cache| cache.place(&request).map(|place| (cache, place)));
        Calling(match place {
            Some((cache, place)) => Way::Several(cache::ask(server, request, options, cache, place).boxed()),
            None if server.is_stateless() => Way::Several(stateless::ask(server, request, options).boxed()),
            None if core::is_offered(&server) => Way::Several(session(server, request, options).boxed()),
            None => Way::Once(ask(&server, request, options)),
        })
    }
}

/// Makes a call whose result must be more than its type says.
async fn checked<M, R>(server: Server, request: M, options: Options, check: Check) -> Result<R, CallError>
where
    M: Method + HasMeta + Send + 'static,
    R: DeserializeOwned,
{
    let Kept { result, text } = match server.is_stateless() {
        true => stateless::ask(server, request, options).await?,
        false => session(server, request, options).await?,
    };
    check(&text).map(|()| result)
}

/// Makes a call in a session whose server may have tasks.
async fn session<M, R>(server: Server, request: M, options: Options) -> Result<R, CallError>
where
    M: Method + HasMeta + Send + 'static,
    R: DeserializeOwned,
{
    let mut request = Some(request);
    let place = (&mut request as &mut dyn Any).downcast_mut::<Option<CallToolRequest>>();
    if core::is_offered(&server)
        && let Some(call) = place.and_then(Option::take)
    {
        return decode(&core::ask(server, call, options).await?);
    }
    let request = request.expect("only a call of a tool is taken, and that has returned");
    ask(&server, request, options).await
}

/// Makes a call in a session.
pub(crate) fn ask<M: Method + HasMeta, R: DeserializeOwned>(
    server: &Server,
    mut request: M,
    options: Options,
) -> DecodedCall<R> {
    let peer = &server.peer;
    let limit = server.limit_of(&options);
    let method = ByteString::from_static(M::NAME);
    let call = match options.on_progress {
        Some(mut hook) => {
            let id = peer.reserve_call();
            request.set_progress_token(&ProgressToken::from(id.request_id()));
            let hook = move |params: RawJson| {
                // A report that cannot be read still shows that the server is at work, and no more.
                if let Ok(report) = params.decode() {
                    hook(report);
                }
            };
            peer.call_method(method, Some(&request)).reserved(id).on_progress(hook)
        }
        None => peer.call_method(method, Some(&request)),
    };
    DecodedCall::new(options.waits.apply(call), M::NAME, limit)
}

impl Waits {
    pub(crate) fn apply<R>(self, mut call: agentwire_peer::Call<R>) -> agentwire_peer::Call<R> {
        if let Some(timeout) = self.timeout {
            call = call.timeout(timeout);
        }
        if let Some(maximum) = self.progress_maximum {
            call = call.progress_maximum(maximum);
        }
        call
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
pub struct Calling<R>(Way<R>);

#[expect(clippy::large_enum_variant, reason = "the usual one needs no allocation")]
enum Way<R> {
    Once(DecodedCall<R>),
    /// A request that may have to be made again, or of which the result is looked at.
    Several(BoxFuture<'static, Result<R, CallError>>),
}

impl<R: DeserializeOwned> Future for Calling<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Way::Once(call) => Pin::new(call).poll(cx),
            Way::Several(call) => call.as_mut().poll(cx),
        }
    }
}

impl<R> fmt::Debug for Calling<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calling").finish_non_exhaustive()
    }
}
