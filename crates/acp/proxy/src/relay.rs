//! Runs one proxy between a client and an agent.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use agentwire_peer::runtime::Port;
use agentwire_peer::{Config, TokioClock, driver};
use agentwire_transport::Transport;
use futures_util::FutureExt;

use crate::deadline::{HalfClose, HopClosing};
use crate::error::ProxyError;
use crate::forwarding::Relay;
use crate::names::is_initialize;
use crate::next::Next;
use crate::proxy::Proxy;
use crate::side::Direction;

/// Runs one proxy between a client and an agent, until one of them closes.
///
/// When the client closes, the agent gets what the client has sent and is closed; its answers are passed on until it closes
/// too. When the agent closes, the client gets what the agent has sent, errors for unanswered requests, and is closed. All
/// of it happens in this one future; dropping the future ends everything.
///
/// ```
/// use agentwire_acp_proxy::{Transparent, relay};
/// use agentwire_transport::{Packet, duplex};
/// use futures_util::{SinkExt, StreamExt, join};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let (mut client, near) = duplex(1);
/// let (far, mut agent) = duplex(1);
/// let conversation = async move {
///     client.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"_hello"}"#)).await?;
///     drop(client);
///     Ok::<_, Box<dyn std::error::Error>>(agent.next().await)
/// };
/// let (relayed, received) = join!(relay(Transparent::default(), near, far), conversation);
/// relayed?;
/// let Some(Ok(packet)) = received? else { panic!("nothing passed") };
/// assert_eq!(packet.into_json().as_deref(), Some(r#"{"jsonrpc":"2.0","method":"_hello"}"#));
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(example()).unwrap();
/// ```
///
/// # Errors
///
/// The error that the transport of either reported as it ended.
pub async fn relay<P: Proxy, C: Transport, A: Transport>(
    proxy: P,
    client: C,
    agent: A,
) -> Result<(), ProxyError> {
    relay_with(proxy, client, agent, crate::Config::new()).await
}

/// Runs one proxy between a client and an agent, until one of them closes; see [`relay`].
///
/// # Errors
///
/// The error that the transport of either reported as it ended.
pub async fn relay_with<P: Proxy, C: Transport, A: Transport>(
    proxy: P,
    client: C,
    agent: A,
    config: crate::Config,
) -> Result<(), ProxyError> {
    let config = config.into();
    let closing = HopClosing::alone(&config, HalfClose::Yes);
    run(proxy, client, agent, &config, closing).await
}

pub(crate) async fn run<P: Proxy, C: Transport, A: Transport>(
    proxy: P,
    client: C,
    agent: A,
    config: &Config,
    closing: HopClosing,
) -> Result<(), ProxyError> {
    let pass = |direction, request, next| pass(&proxy, direction, request, next);
    let (client, agent) = (port(client, config), port(agent, config));
    // Dropping the ports ends all handles, also when this future is dropped half-way.
    let mut relay = Relay::new(&proxy, pass, client, agent, config, closing);
    poll_fn(|cx| relay.poll(cx)).await
}

fn port<T: Transport>(transport: T, config: &Config) -> Port<T> {
    let (_, driver) = driver(config.clone(), TokioClock::default());
    Port::new(driver, transport)
}

/// Runs the hook of a proxy on one request.
async fn pass<P: Proxy>(
    proxy: &P,
    direction: Direction,
    request: Request,
    next: Next,
) -> Result<RawJson, ErrorObject> {
    let initialize =
        (direction == Direction::ToAgent && is_initialize(&request.method)).then(|| next.clone());
    let outcome = AssertUnwindSafe(async { proxy.request(request, next).await }).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_panic| Err(ErrorObject::internal_error("the proxy panicked")));
    match initialize {
        Some(next) => next.check_initialized(outcome),
        None => outcome,
    }
}
