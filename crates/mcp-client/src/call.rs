use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::{HasMeta, ProgressNotification, ProgressToken};
use agentwire_peer::{CallError, Peer};

/// A call to the server: a value until it is awaited, which sends it.
///
/// Awaiting gives the decoded result. Dropping it before that tells the server that nobody waits any more.
/// Where a future is needed, [`into_future`](IntoFuture::into_future) gives one.
#[must_use = "a call is not made until it is awaited"]
pub struct Call<M> {
    peer: Peer,
    request: Result<M, CallError>,
    timeout: Option<Duration>,
    progress_maximum: Option<Duration>,
    on_progress: Option<Hook>,
}

type Hook = Box<dyn FnMut(ProgressNotification) + Send>;

impl<M> Call<M> {
    pub(crate) fn new(
        peer: Peer,
        request: Result<M, CallError>,
        timeout: Option<Duration>,
        progress_maximum: Option<Duration>,
    ) -> Self {
        Self { peer, request, timeout, progress_maximum, on_progress: None }
    }

    /// Waits so long for the answer instead of the client's default; with `None`, for ever. Then the call
    /// fails, and the server is told.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Each progress report starts the wait anew, until `maximum` has passed since the call was made, instead
    /// of the client's default; with `None`, progress extends nothing.
    pub fn progress_maximum(mut self, maximum: impl Into<Option<Duration>>) -> Self {
        self.progress_maximum = maximum.into();
        self
    }

    /// Asks the server for progress, and hears each report, in order, before the answer.
    pub fn on_progress(mut self, hook: impl FnMut(ProgressNotification) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(hook));
        self
    }
}

impl<M: Method + HasMeta> IntoFuture for Call<M> {
    type Output = Result<M::Response, CallError>;
    type IntoFuture = agentwire_peer::Call<M::Response>;

    fn into_future(self) -> Self::IntoFuture {
        let mut request = match self.request {
            Ok(request) => request,
            Err(error) => return self.peer.refuse_call(error),
        };
        let mut call = match self.on_progress {
            Some(mut hook) => {
                let id = self.peer.reserve_call();
                request.set_progress_token(&ProgressToken::from(id.request_id()));
                let hook = move |params: RawJson| {
                    // A report that cannot be read still shows that the server is at work, and no more.
                    if let Ok(report) = params.decode() {
                        hook(report);
                    }
                };
                self.peer.call(&request).reserved(id).on_progress(hook)
            }
            None => self.peer.call(&request),
        };
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
            .field("timeout", &self.timeout)
            .field("progress_maximum", &self.progress_maximum)
            .finish_non_exhaustive()
    }
}
