use std::future::Future;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};

use crate::ends::Ends;
use crate::next::Next;

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "there are two ways")]
pub enum Direction {
    /// From the client to the agent.
    ToAgent,
    /// From the agent to the client.
    ToClient,
}

/// Whoever stands between a client and an agent.
///
/// What is not written passes unchanged, so an empty `impl` is a proxy that does nothing. The hooks see methods and
/// undecoded params; the types of `agentwire-acp-schema` decode what is of interest:
///
/// ```
/// use agentwire_acp_proxy::{Direction, ErrorObject, Next, Proxy, RawJson, Request};
/// use agentwire_acp_schema::v1::PromptRequest;
/// use agentwire_jsonrpc::{Method, decode_params};
///
/// /// Begins every prompt with the date.
/// struct Dated;
///
/// impl Proxy for Dated {
///     async fn request(&self, mut request: Request, next: Next) -> Result<RawJson, ErrorObject> {
///         if next.direction() == Direction::ToAgent && request.method == PromptRequest::NAME {
///             let mut prompt: PromptRequest = decode_params(request.params)?;
///             prompt.prompt.insert(0, "It is the 1st of May.".into());
///             request.params = Some(RawJson::encode(&prompt).map_err(ErrorObject::internal_error)?);
///         }
///         next.run(request).await
///     }
/// }
/// ```
///
/// One proxy is shared by everything that passes, which happens at the same time and within one future. Nothing needs
/// to be `Send` unless that future is to be spawned.
pub trait Proxy {
    /// A request passes.
    ///
    /// [`Next::run`] passes it on and gives the answer. It may be given another request, be called several times or not
    /// at all, and its answer may be changed. The id of what it is given does not matter: every hop has ids of its own.
    ///
    /// The part before the first wait runs before the next message is looked at. So a request that is passed on without
    /// waiting for anything keeps its place among those of its direction, and so does an answer that is given without
    /// waiting after that of `run`. Whoever waits gives the place up: when it delays a prompt, a `session/cancel` may
    /// be ahead of it, and that is for the proxy to see to.
    ///
    /// An error answers the request; so does a panic, with an internal error. Who no longer wants the answer is passed
    /// on by itself, see [`Next::cancelled`].
    ///
    /// `initialize` is asked of the agent before it is answered, and the `protocolVersion` of the answer is the agent's:
    /// an answer without, or with another one, is made an internal error.
    fn request(&self, request: Request, next: Next) -> impl Future<Output = Result<RawJson, ErrorObject>> {
        next.run(request)
    }

    /// A notification passes: gives what is passed on, or none.
    ///
    /// It does not wait, so that notifications and answers keep their order. To say more than one thing instead there
    /// is [`End::post`](crate::End::post). What this panics on is not passed on.
    ///
    /// `$/cancel_request` does not come by here, because it belongs to one hop only.
    fn notification(
        &self,
        notification: Notification,
        direction: Direction,
        ends: &Ends,
    ) -> Option<Notification> {
        let _ = (direction, ends);
        Some(notification)
    }
}

/// Lets everything pass.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Transparent;

impl Proxy for Transparent {}

impl<P: Proxy + ?Sized> Proxy for &P {
    fn request(&self, request: Request, next: Next) -> impl Future<Output = Result<RawJson, ErrorObject>> {
        (**self).request(request, next)
    }

    fn notification(
        &self,
        notification: Notification,
        direction: Direction,
        ends: &Ends,
    ) -> Option<Notification> {
        (**self).notification(notification, direction, ends)
    }
}
