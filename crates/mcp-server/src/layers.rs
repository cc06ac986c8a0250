//! Layers around tools, resources and prompts, in tower's shape.
//!
//! ```text
//!  RawCall ─▶ the server's layers ─▶ the layers of the tool, resource or prompt ─▶ arguments, decoded ─▶ function
//! ```
//!
//! A function without layers is called directly, and costs nothing for them.

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::sync::Arc;
use std::task::{self, Poll};

use agentwire_jsonrpc::{ErrorObject, RawJson};
use bytestring::ByteString;
use futures::TryFutureExt;
use futures::future::BoxFuture;
use tower_layer::Layer;
use tower_service::Service;

use crate::Context;
use crate::request_future::HandlerFuture;

/// The error of a layer. See [`Server::layer`](crate::Server::layer) for what the client gets.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The future of a call through layers: the result as JSON text, in the client's revision.
pub type RawCallFuture = BoxFuture<'static, Result<RawJson, BoxError>>;

/// A call of a tool, a read of a resource or a request for a prompt, on its way through the layers.
///
/// A clone is cheap. Calling it again runs the function again.
#[derive(Clone)]
pub struct RawCall {
    target: Arc<dyn Target>,
    name: ByteString,
    arguments: RawJson,
    context: Context,
}

impl RawCall {
    pub(crate) fn new<T: Target + 'static>(
        target: &Arc<T>,
        name: &str,
        arguments: RawJson,
        context: Context,
    ) -> Self {
        Self { target: target.clone(), name: name.into(), arguments, context }
    }

    /// `tools/call`, `resources/read` or `prompts/get`.
    pub fn method(&self) -> &'static str {
        self.target.method()
    }

    /// The name of the tool or prompt, or the URI of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments, an object: those of the tool or prompt, or the variables of the resource template. They are decoded
    /// and checked below the layers.
    pub fn arguments(&self) -> &RawJson {
        &self.arguments
    }

    /// The context that the function gets.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl fmt::Debug for RawCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCall")
            .field("method", &self.method())
            .field("name", &self.name)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// A tool, resource, resource template or prompt.
pub(crate) trait Target: Send + Sync {
    fn method(&self) -> &'static str;

    fn layers(&self) -> &Layers;

    /// Decodes the arguments and starts the function.
    fn start(&self, call: &RawCall) -> Result<HandlerFuture, ErrorObject>;

    /// The answer where a layer failed with anything but an [`ErrorObject`].
    fn layer_failed(&self, _context: &Context, error: BoxError) -> Result<RawJson, ErrorObject> {
        Err(ErrorObject::internal_error(error))
    }
}

/// The layers of a server, or of one of its tools, resources and prompts.
#[derive(Clone, Default)]
pub(crate) struct Layers {
    /// The first one is the outermost.
    added: Vec<AddLayer>,
    stack: Option<Next>,
}

/// Puts a layer on top of others.
type AddLayer = Arc<dyn Fn(Next) -> Next + Send + Sync>;

impl Layers {
    /// Adds a layer of a server, below those that it has.
    pub(crate) fn add_to_server<L: ToolLayer>(&mut self, layer: L) {
        self.add(layer, Next(Inner::Target));
    }

    /// Adds a layer of a single tool, resource or prompt, below those that it has.
    pub(crate) fn add_to_target<L: ToolLayer>(&mut self, layer: L) {
        self.add(layer, Next(Inner::Function));
    }

    fn add<L: ToolLayer>(&mut self, layer: L, lowest: Next) {
        self.added.push(Arc::new(move |next| layer.on(next)));
        self.stack = Some(self.added.iter().rev().fold(lowest, |next, add| add(next)));
    }

    /// The outermost layer, if there is one.
    pub(crate) fn first(&self) -> Option<&Next> {
        self.stack.as_ref()
    }
}

/// A layer that fits around a tool, a resource or a prompt: any [`tower_layer::Layer`] whose service takes a [`RawCall`] and
/// returns JSON text, and that is `Send`, `Sync` and `'static`. The service is also `Clone`, because each call gets its own.
///
/// Of tower's own middleware, `RateLimit` is not `Clone`. Put `BufferLayer` in front of it, in one
/// `tower::ServiceBuilder`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer for tools, resources and prompts",
    note = "its service must be `Clone` and a `Service<RawCall, Response = RawJson>` whose error becomes a `BoxError`"
)]
pub trait ToolLayer: Send + Sync + 'static {
    #[doc(hidden)]
    fn on(&self, next: Next) -> Next;
}

impl<L> ToolLayer for L
where
    L: Layer<Next> + Send + Sync + 'static,
    L::Service: Service<RawCall, Response = RawJson, Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    fn on(&self, next: Next) -> Next {
        Next(Inner::Layer(Arc::new(self.layer(next))))
    }
}

/// The layers below a layer, down to the function.
///
/// It is a [`tower_service::Service`] that is always ready. A clone is cheap. A layer may call it not at all, once or
/// several times.
#[derive(Clone)]
pub struct Next(Inner);

#[derive(Clone)]
enum Inner {
    /// The layers of the tool, resource or prompt.
    Target,
    /// The function.
    Function,
    Layer(Arc<dyn AnyService>),
}

impl Next {
    /// Passes a call on. Dropping the future drops the function.
    pub fn call(&self, call: RawCall) -> RawCallFuture {
        match &self.0 {
            Inner::Layer(service) => service.call(call),
            Inner::Target => {
                let target = call.target.clone();
                target.layers().first().unwrap_or(&Self(Inner::Function)).call(call)
            }
            Inner::Function => match call.target.start(&call) {
                Ok(handler) => Box::pin(handler.map_err(BoxError::from)),
                Err(error) => Box::pin(ready(Err(error.into()))),
            },
        }
    }

    /// Answers a request through the layers.
    pub(crate) fn run(&self, call: RawCall) -> HandlerFuture {
        let (target, context) = (call.target.clone(), call.context.clone());
        let next = self.clone();
        // Nothing runs before the first poll, as without layers.
        Box::pin(async move {
            next.call(call).await.or_else(|error| match error.downcast::<ErrorObject>() {
                Ok(error) => Err(*error),
                Err(error) => target.layer_failed(&context, error),
            })
        })
    }
}

impl Service<RawCall> for Next {
    type Response = RawJson;
    type Error = BoxError;
    type Future = RawCallFuture;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), BoxError>> {
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
    S: Service<RawCall, Response = RawJson, Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    fn call(&self, call: RawCall) -> RawCallFuture {
        // A service may reserve something for a call when it becomes ready, so each call has a clone.
        let mut service = self.clone();
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
            Service::call(&mut service, call).await.map_err(Into::into)
        })
    }
}

/// A layer that is an async function of the call and of what comes [next](Next). See
/// [`Server::layer`](crate::Server::layer).
///
/// ```
/// use agentwire_mcp_server::{Next, RawCall, Server, from_fn};
///
/// let server = Server::new("files", "1.0.0").layer(from_fn(async |call: RawCall, next: Next| {
///     eprintln!("{} {}", call.method(), call.name());
///     next.call(call).await
/// }));
/// # let _ = server;
/// ```
pub fn from_fn<F, O>(function: F) -> FromFn<F>
where
    F: Fn(RawCall, Next) -> O + Send + Sync + 'static,
    O: Future<Output = Result<RawJson, BoxError>> + Send + 'static,
{
    FromFn(Arc::new(function))
}

/// The layer of [`from_fn`].
pub struct FromFn<F>(Arc<F>);

impl<F> Layer<Next> for FromFn<F> {
    type Service = FromFnService<F>;

    fn layer(&self, next: Next) -> FromFnService<F> {
        FromFnService { function: self.0.clone(), next }
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}

/// The service of [`from_fn`].
pub struct FromFnService<F> {
    function: Arc<F>,
    next: Next,
}

impl<F, O> Service<RawCall> for FromFnService<F>
where
    F: Fn(RawCall, Next) -> O,
    O: Future<Output = Result<RawJson, BoxError>>,
{
    type Response = RawJson;
    type Error = BoxError;
    type Future = O;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), BoxError>> {
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
