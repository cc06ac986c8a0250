//! Layers around tools, resources and prompts, in tower's shape.
//!
//! ```text
//!  RawCall ─▶ the server's layers ─▶ the layers of the tool, resource or prompt ─▶ arguments, decoded ─▶ function
//! ```
//!
//! A function without layers is called directly, and costs nothing for them.

use std::fmt;
use std::future::{Future, ready};
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_peer::BoxError;
use agentwire_peer::layers::{self, CallLayer, FromFn, LayeredCall};
use bytestring::ByteString;
use futures::TryFutureExt;
use futures::future::BoxFuture;

use crate::Context;
use crate::request::request_future::HandlerFuture;

pub use agentwire_peer::layers::LayerError;

/// The future of a call through layers: the result as JSON text, in the client's revision.
pub type RawCallFuture = BoxFuture<'static, Result<RawJson, LayerError>>;

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

impl LayeredCall for RawCall {
    type Response = RawJson;
    type Error = LayerError;
    type ErrorContext = ();
    type Future = RawCallFuture;

    fn boxed(answer: RawCallFuture) -> RawCallFuture {
        answer
    }

    fn error_context(&self) {}

    fn error_of_layer((): (), error: LayerError) -> LayerError {
        error
    }
}

/// A tool, resource, resource template or prompt.
pub(crate) trait Target: Send + Sync {
    fn method(&self) -> &'static str;

    fn layers(&self) -> &Layers;

    /// Decodes the arguments and starts the function.
    fn start(&self, call: &RawCall) -> Result<HandlerFuture, ErrorObject>;

    /// The answer when a layer, or the function below it, failed.
    fn layer_failed(&self, _context: &Context, error: BoxError) -> Result<RawJson, ErrorObject> {
        Err(error.into())
    }
}

/// The layers below a layer, down to the function. Dropping the future of a call drops the function.
pub type Next = layers::Next<RawCall>;

/// The layers of a server, or of one of its tools, resources and prompts.
#[derive(Clone, Default)]
pub(crate) struct Layers {
    added: layers::Layers<RawCall>,
    /// The outermost layer, on top of the others.
    first: Option<Next>,
}

impl Layers {
    /// Adds a layer of a server, below those that it has.
    pub(crate) fn add_to_server<L: CallLayer<RawCall>>(&mut self, layer: L) {
        self.add(layer, start_target);
    }

    /// Adds a layer of a single tool, resource or prompt, below those that it has.
    pub(crate) fn add_to_target<L: CallLayer<RawCall>>(&mut self, layer: L) {
        self.add(layer, start_function);
    }

    fn add<L: CallLayer<RawCall>>(&mut self, layer: L, innermost: fn(RawCall) -> RawCallFuture) {
        self.added.add(layer);
        self.first = self.added.on(|| Next::innermost(innermost));
    }

    /// The outermost layer, if there is one.
    pub(crate) fn first(&self) -> Option<&Next> {
        self.first.as_ref()
    }
}

/// Passes a call through the layers of its tool, resource or prompt.
fn start_target(call: RawCall) -> RawCallFuture {
    let target = call.target.clone();
    match target.layers().first() {
        Some(first) => first.call(call),
        None => start_function(call),
    }
}

/// Starts the function of a call.
fn start_function(call: RawCall) -> RawCallFuture {
    match call.target.start(&call) {
        Ok(handler) => Box::pin(handler.map_err(LayerError::from)),
        Err(error) => Box::pin(ready(Err(error.into()))),
    }
}

/// Answers a request through layers.
pub(crate) fn run(next: &Next, call: RawCall) -> HandlerFuture {
    let (target, context) = (call.target.clone(), call.context.clone());
    let next = next.clone();
    // Nothing runs before the first poll, as without layers.
    Box::pin(async move {
        next.call(call).await.or_else(|error| match error.downcast::<ErrorObject>() {
            Ok(error) => Err(*error),
            Err(error) => target.layer_failed(&context, error.into()),
        })
    })
}

/// Makes a layer from an async function of the call and the [next](Next) service. See
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
    O: Future<Output = Result<RawJson, LayerError>> + Send + 'static,
{
    FromFn::new(function)
}
