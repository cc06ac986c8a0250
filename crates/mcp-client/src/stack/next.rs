use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_peer::CallError;
use futures::FutureExt;
use tower_layer::Layer;
use tower_service::Service;

use super::built_in::{self, RawCallFuture};
use crate::connection::Connection;
use crate::error::BoxError;
use crate::raw::{RawAnswer, RawCall};

/// The layers below the user's own, down to the server: what a layer calls.
///
/// It is a [`tower_service::Service`] that is always ready. A clone is cheap. A layer may call it not at all, once or
/// several times.
#[derive(Clone)]
pub struct Next(Inner);

#[derive(Clone)]
enum Inner {
    BuiltIn(Arc<Connection>),
    Layer(Arc<dyn AnyService>),
}

impl Next {
    pub(crate) fn built_in(connection: Arc<Connection>) -> Self {
        Self(Inner::BuiltIn(connection))
    }

    /// Passes a call on. Dropping the future cancels it.
    pub fn call(&self, call: RawCall) -> RawCallFuture {
        match &self.0 {
            Inner::BuiltIn(connection) => built_in::start(connection, call),
            Inner::Layer(service) => service.call(call),
        }
    }
}

impl Service<RawCall> for Next {
    type Response = RawAnswer;
    type Error = CallError;
    type Future = RawCallFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: RawCall) -> RawCallFuture {
        Next::call(self, call)
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}

/// A service of any type.
trait AnyService: Send + Sync {
    fn call(&self, call: RawCall) -> RawCallFuture;
}

impl<S> AnyService for S
where
    S: Service<RawCall, Response = RawAnswer, Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    fn call(&self, call: RawCall) -> RawCallFuture {
        // A service may have reserved something for the call when it said that it was ready, so each call has a clone.
        let mut service = self.clone();
        let method = call.method.clone();
        let answer = async move {
            let outcome = match poll_fn(|cx| service.poll_ready(cx).map_err(Into::into)).await {
                Ok(()) => Service::call(&mut service, call).await.map_err(Into::into),
                Err(error) => Err(error),
            };
            outcome.map_err(|error: BoxError| match error.downcast::<CallError>() {
                Ok(error) => *error,
                Err(error) => CallError::failed(method, error),
            })
        };
        RawCallFuture::boxed(answer.boxed())
    }
}

/// Puts a layer on top of others.
pub(crate) type AddLayer = Arc<dyn Fn(Next) -> Next + Send + Sync>;

pub(crate) fn add_layer<L>(layer: L) -> AddLayer
where
    L: Layer<Next> + Send + Sync + 'static,
    L::Service: Service<RawCall, Response = RawAnswer, Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    Arc::new(move |next| Next(Inner::Layer(Arc::new(layer.layer(next)))))
}

/// A layer that is an async function of the call and of what comes [next](Next). See [`Client::layer`](crate::Client::layer).
///
/// ```
/// use agentwire_mcp_client::{Client, Next, RawCall, from_fn};
///
/// let client = Client::default().layer(from_fn(async |call: RawCall, next: Next| {
///     eprintln!("{}", call.method());
///     next.call(call).await
/// }));
/// # let _ = client;
/// ```
pub fn from_fn<F, O>(function: F) -> FromFn<F>
where
    F: Fn(RawCall, Next) -> O + Send + Sync + 'static,
    O: Future<Output = Result<RawAnswer, CallError>> + Send + 'static,
{
    FromFn(Arc::new(function))
}

/// What [`from_fn`] returns.
pub struct FromFn<F>(Arc<F>);

impl<F> Layer<Next> for FromFn<F> {
    type Service = FromFnService<F>;

    fn layer(&self, next: Next) -> FromFnService<F> {
        FromFnService { function: self.0.clone(), next }
    }
}

impl<F> Clone for FromFn<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}

/// A [`from_fn`] layer on top of others.
pub struct FromFnService<F> {
    function: Arc<F>,
    next: Next,
}

impl<F, O> Service<RawCall> for FromFnService<F>
where
    F: Fn(RawCall, Next) -> O,
    O: Future<Output = Result<RawAnswer, CallError>>,
{
    type Response = RawAnswer;
    type Error = CallError;
    type Future = O;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: RawCall) -> O {
        (self.function)(call, self.next.clone())
    }
}

impl<F> Clone for FromFnService<F> {
    fn clone(&self) -> Self {
        Self { function: self.function.clone(), next: self.next.clone() }
    }
}

impl<F> fmt::Debug for FromFnService<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFnService").finish_non_exhaustive()
    }
}
