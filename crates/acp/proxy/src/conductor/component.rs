//! Runs a proxy as a component, in its own process.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request};
use agentwire_transport::Transport;
use bytestring::ByteString;

use crate::Config;
use crate::deadline::{HalfClose, HopClosing};
use crate::error::ProxyError;
use crate::names;
use crate::next::Next;
use crate::peers::Peers;
use crate::proxy::Proxy;
use crate::relay::run;
use crate::side::Direction;
use crate::split::{Role, split};

/// Runs a proxy as a separate component, usually a process on stdio, until its conductor closes it.
///
/// Its one transport carries messages to and from the client plainly, and those to and from the agent in
/// `proxy/successor`. The proxy sees neither these envelopes nor `proxy/initialize`, so the same type works
/// in [`relay`](crate::relay) and [`proxied`](crate::proxied). The older names, `_proxy/initialize` and
/// `_proxy/successor`, are accepted too, and used if the conductor uses them.
///
/// # Errors
///
/// The error that the transport reported as it ended.
///
/// ```no_run
/// use agentwire_acp_proxy::{Proxy, serve};
/// use agentwire_transport_stdio::stdio;
///
/// /// The main function of a proxy that a conductor starts.
/// async fn run(proxy: impl Proxy) -> Result<(), Box<dyn std::error::Error>> {
///     Ok(serve(proxy, stdio()?).await?)
/// }
/// ```
pub async fn serve<P: Proxy, T: Transport>(proxy: P, conductor: T) -> Result<(), ProxyError> {
    serve_with(proxy, conductor, Config::new()).await
}

/// Runs a proxy as a separate component; see [`serve`].
///
/// # Errors
///
/// The error that the transport reported as it ended.
pub async fn serve_with<P: Proxy, T: Transport>(
    proxy: P,
    conductor: T,
    config: Config,
) -> Result<(), ProxyError> {
    let (client, agent) = split(conductor, Role::Component, Arc::default());
    let config = config.into();
    let closing = HopClosing::alone(&config, HalfClose::No);
    run(Component(proxy), client, agent, &config, closing).await
}

/// Renames `proxy/initialize` to `initialize`.
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
        peers: &Peers,
    ) -> Option<Notification> {
        self.0.notification(notification, direction, peers)
    }
}
