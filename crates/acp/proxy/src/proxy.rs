//! The trait of a proxy.

use std::future::Future;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};

use crate::next::Next;
use crate::peers::Peers;
use crate::side::Direction;

/// A proxy between a client and an agent: hooks that watch, change or answer the messages.
///
/// The defaults pass everything unchanged, so an empty `impl` is a proxy that does nothing. The hooks get methods and
/// undecoded params; the types of `agentwire-acp-schema` decode them:
///
/// ```
/// use agentwire_acp_proxy::{Direction, ErrorObject, Next, Proxy, RawJson, Request};
/// use agentwire_acp_schema::v1::PromptRequest;
/// use agentwire_jsonrpc::{RequestMethod, decode_params};
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
/// All messages share one proxy, and its hooks run concurrently within one future. Nothing needs to be `Send` unless that
/// future is to be spawned.
pub trait Proxy {
    /// Called for each request that passes.
    ///
    /// [`Next::run`] passes it on and returns the answer. A hook may run another request, several or none, and may change
    /// the answer. The id of the request does not matter: every hop has ids of its own.
    ///
    /// The part before the first wait runs before the next message is handled. So a request that is passed on without a
    /// wait keeps its place among those of its direction, and so does an answer that is returned without a wait after
    /// `run`. A hook that waits loses that place: if it delays a prompt, a `session/cancel` may overtake the prompt.
    ///
    /// An error answers the request; so does a panic, with an internal error. Cancels pass by themselves, see
    /// [`Next::cancelled`].
    ///
    /// A hook must pass `initialize` on to the agent before it answers, and keep the agent's `protocolVersion`. Any other
    /// answer becomes an internal error.
    fn request(&self, request: Request, next: Next) -> impl Future<Output = Result<RawJson, ErrorObject>> {
        next.run(request)
    }

    /// Called for each notification that passes. Returns the notification to forward, or `None` to drop it.
    ///
    /// It cannot wait, so that notifications and answers keep their order. To send further ones there is
    /// [`PeerHandle::notify_now`](crate::PeerHandle::notify_now). A notification on which this panics is not passed on.
    ///
    /// It is not called for `$/cancel_request`, which belongs to one hop only.
    fn notification(
        &self,
        notification: Notification,
        direction: Direction,
        peers: &Peers,
    ) -> Option<Notification> {
        let _ = (direction, peers);
        Some(notification)
    }
}

/// Passes everything unchanged.
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
        peers: &Peers,
    ) -> Option<Notification> {
        (**self).notification(notification, direction, peers)
    }
}
