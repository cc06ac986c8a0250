//! `Next`, the service that a layer of a client calls, and layers made of async functions.

use agentwire_peer::CallError;
use agentwire_peer::layers::{self, FromFn, LayerError, LayeredCall};
use bytestring::ByteString;
use futures_util::future::BoxFuture;

use super::built_in::RawCallFuture;
use crate::raw::{RawAnswer, RawCall};

/// The layers below the user's own, down to the server: what a layer calls. Dropping the future of a call cancels it.
pub type Next = layers::Next<RawCall>;

impl LayeredCall for RawCall {
    type Response = RawAnswer;
    type Error = CallError;
    type ErrorContext = ByteString;
    type Future = RawCallFuture;

    fn boxed(response: BoxFuture<'static, Result<RawAnswer, CallError>>) -> RawCallFuture {
        RawCallFuture::boxed(response)
    }

    fn error_context(&self) -> ByteString {
        self.method.clone()
    }

    fn error_of_layer(method: ByteString, error: LayerError) -> CallError {
        match error.downcast::<CallError>() {
            Ok(error) => *error,
            Err(error) => CallError::failed(method, error),
        }
    }
}

/// Makes a layer from an async function of the call and the [next](Next) service. See [`Client::layer`](crate::Client::layer).
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
    FromFn::new(function)
}
