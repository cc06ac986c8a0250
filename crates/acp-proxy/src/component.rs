use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};
use agentwire_peer::Config;
use agentwire_transport::Transport;
use bytestring::ByteString;

use crate::deadline::Position;
use crate::ends::Ends;
use crate::error::Broken;
use crate::names;
use crate::next::Next;
use crate::proxy::{Direction, Proxy};
use crate::relay::{HalfClose, config, run};
use crate::split::{Whose, split};

/// Runs a proxy as a component of its own, mostly a process on stdio, until its conductor closes it.
///
/// On its one transport it hears the client plainly and the agent in `proxy/successor`, and speaks to them likewise.
/// The proxy sees none of that, nor that `initialize` comes as `proxy/initialize`: it is the same as one of
/// [`relay`](crate::relay) or [`proxied`](crate::proxied). The names of before they were drafts, `_proxy/initialize` and
/// `_proxy/successor`, are understood too, and used if the conductor does.
///
/// # Errors
///
/// What the transport reported as it ended.
pub async fn serve<P: Proxy, T: Transport>(proxy: P, conductor: T) -> Result<(), Broken> {
    serve_with(proxy, conductor, config()).await
}

/// Runs a proxy as a component of its own; see [`serve`].
///
/// # Errors
///
/// What the transport reported as it ended.
pub async fn serve_with<P: Proxy, T: Transport>(
    proxy: P,
    conductor: T,
    config: Config,
) -> Result<(), Broken> {
    let (client, agent) = split(conductor, Whose::Component, Arc::default());
    let position = Position::alone(&config, HalfClose::No);
    run(Component(proxy), client, agent, &config, position).await
}

/// Gives `initialize` its name.
struct Component<P>(P);

impl<P: Proxy> Proxy for Component<P> {
    async fn request(&self, mut request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        if next.direction() == Direction::ToAgent {
            if request.method == names::INITIALIZE {
                return Err(ErrorObject::invalid_request(
                    "this is a proxy, for a conductor that sends proxy/initialize",
                ));
            }
            if names::is_proxy_initialize(&request.method) {
                request.method = ByteString::from_static(names::INITIALIZE);
            }
        }
        self.0.request(request, next).await
    }

    fn notification(
        &self,
        notification: Notification,
        direction: Direction,
        ends: &Ends,
    ) -> Option<Notification> {
        self.0.notification(notification, direction, ends)
    }
}
