//! Layers around the calls of a runtime, in tower's shape.
//!
//! ```text
//!  call ─▶ layer ─▶ Next ─▶ layer ─▶ Next ─▶ the runtime
//! ```
//!
//! A runtime implements [`LayeredCall`] for the type of its calls, and wraps its own code by [`Next::innermost`].

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tower_layer::Layer;
use tower_service::Service;

/// The error of a layer: the `BoxError` of tower. Tower's middleware cannot use this crate's [`BoxError`](crate::BoxError).
pub type LayerError = Box<dyn Error + Send + Sync>;

/// A call that can pass through layers.
pub trait LayeredCall: Send + Sized + 'static {
    /// The response of a successful call.
    type Response: Send + 'static;
    /// The error of the call.
    type Error: Into<LayerError> + Send + 'static;
    /// The part of a call that is needed to make its error.
    type ErrorContext: Send + 'static;
    /// The future of the call below a layer.
    type Future: Future<Output = Result<Self::Response, Self::Error>> + Send + 'static;

    /// Makes the future of a call that a layer handles.
    fn boxed(response: BoxFuture<'static, Result<Self::Response, Self::Error>>) -> Self::Future;

    /// Returns the part of this call that [`error_of_layer`](Self::error_of_layer) needs.
    fn error_context(&self) -> Self::ErrorContext;

    /// Turns the error of a layer into the error of a call.
    fn error_of_layer(context: Self::ErrorContext, error: LayerError) -> Self::Error;
}

/// A layer for the calls `C`: any [`tower_layer::Layer`] whose service takes a `C`, returns its response, and is `Clone`, `Send`, `Sync`
/// and `'static`. Each call gets its own clone of the service.
///
/// Of tower's own middleware, `RateLimit` is not `Clone`. Put `BufferLayer` in front of it, in one `tower::ServiceBuilder`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer for `{C}`",
    note = "its service must be `Clone` and a `Service<{C}>` with the answer of such a call and an error that becomes a `LayerError`"
)]
pub trait CallLayer<C: LayeredCall>: Send + Sync + 'static {
    #[doc(hidden)]
    fn on(&self, next: Next<C>) -> Next<C>;
}

impl<C, L> CallLayer<C> for L
where
    C: LayeredCall,
    L: Layer<Next<C>> + Send + Sync + 'static,
    L::Service: Service<C, Response = C::Response, Error: Into<LayerError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    fn on(&self, next: Next<C>) -> Next<C> {
        Next(Arc::new(Layered(self.layer(next))))
    }
}

/// The service that a layer calls: the layers below it, down to the runtime.
///
/// It is a [`tower_service::Service`] that is always ready, and cheap to clone. A layer may call it several times, or not at all.
pub struct Next<C: LayeredCall>(Arc<dyn StartCall<C>>);

impl<C: LayeredCall> Next<C> {
    /// Makes the innermost service, which is the runtime's function below all layers.
    pub fn innermost(start: impl Fn(C) -> C::Future + Send + Sync + 'static) -> Self {
        Self(Arc::new(Innermost(start)))
    }

    /// Passes a call on. Dropping the future cancels the call.
    pub fn call(&self, call: C) -> C::Future {
        self.0.start(call)
    }
}

impl<C: LayeredCall> Service<C> for Next<C> {
    type Response = C::Response;
    type Error = C::Error;
    type Future = C::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: C) -> C::Future {
        Next::call(self, call)
    }
}

impl<C: LayeredCall> Clone for Next<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C: LayeredCall> fmt::Debug for Next<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}

/// A service of any type.
trait StartCall<C: LayeredCall>: Send + Sync {
    fn start(&self, call: C) -> C::Future;
}

struct Innermost<F>(F);

impl<C: LayeredCall, F: Fn(C) -> C::Future + Send + Sync> StartCall<C> for Innermost<F> {
    fn start(&self, call: C) -> C::Future {
        self.0(call)
    }
}

/// The service of a layer.
struct Layered<S>(S);

impl<C, S> StartCall<C> for Layered<S>
where
    C: LayeredCall,
    S: Service<C, Response = C::Response, Error: Into<LayerError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    fn start(&self, call: C) -> C::Future {
        // A service may reserve capacity for a call when it becomes ready, so each call has its own clone.
        let mut service = self.0.clone();
        let context = call.error_context();
        C::boxed(Box::pin(async move {
            let outcome: Result<_, LayerError> =
                match poll_fn(|cx| service.poll_ready(cx).map_err(Into::into)).await {
                    Ok(()) => service.call(call).await.map_err(Into::into),
                    Err(error) => Err(error),
                };
            outcome.map_err(|error| C::error_of_layer(context, error))
        }))
    }
}

/// Layers in the order in which they were added. The first one is the outermost.
pub struct Layers<C: LayeredCall>(Vec<AddLayer<C>>);

/// Puts a layer on top of others.
type AddLayer<C> = Arc<dyn Fn(Next<C>) -> Next<C> + Send + Sync>;

impl<C: LayeredCall> Layers<C> {
    /// Adds a layer below the existing ones.
    pub fn add<L: CallLayer<C>>(&mut self, layer: L) {
        self.0.push(Arc::new(move |next| layer.on(next)));
    }

    /// Puts the layers around the innermost service, and returns the outermost. `None` if there are no layers.
    pub fn on(&self, innermost: impl FnOnce() -> Next<C>) -> Option<Next<C>> {
        let (outermost, others) = self.0.split_first()?;
        Some(outermost(others.iter().rev().fold(innermost(), |next, add| add(next))))
    }

    /// Whether there are no layers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<C: LayeredCall> Clone for Layers<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C: LayeredCall> Default for Layers<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C: LayeredCall> fmt::Debug for Layers<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layers").field("count", &self.0.len()).finish_non_exhaustive()
    }
}

/// A layer that is an async function of the call and the [next](Next) service.
///
/// The runtimes have a function `from_fn` that makes one for their types, so that a closure needs no types of its arguments.
pub struct FromFn<F>(Arc<F>);

impl<F> FromFn<F> {
    /// Makes a layer that calls this function.
    pub fn new(function: F) -> Self {
        Self(Arc::new(function))
    }
}

impl<C: LayeredCall, F> Layer<Next<C>> for FromFn<F> {
    type Service = FromFnService<C, F>;

    fn layer(&self, next: Next<C>) -> FromFnService<C, F> {
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

/// A [`FromFn`] layer on top of others.
pub struct FromFnService<C: LayeredCall, F> {
    function: Arc<F>,
    next: Next<C>,
}

impl<C, F, O> Service<C> for FromFnService<C, F>
where
    C: LayeredCall,
    F: Fn(C, Next<C>) -> O,
    O: Future<Output = Result<C::Response, C::Error>>,
{
    type Response = C::Response;
    type Error = C::Error;
    type Future = O;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: C) -> O {
        (self.function)(call, self.next.clone())
    }
}

impl<C: LayeredCall, F> Clone for FromFnService<C, F> {
    fn clone(&self) -> Self {
        Self { function: self.function.clone(), next: self.next.clone() }
    }
}

impl<C: LayeredCall, F> fmt::Debug for FromFnService<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFnService").finish_non_exhaustive()
    }
}
