use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request};
use agentwire_peer::{Config, Dialect, TokioClock};
use agentwire_transport::Transport;
use futures::FutureExt;

use crate::deadline::Position;
use crate::error::Broken;
use crate::names::is_initialize;
use crate::next::Next;
use crate::proxy::{Direction, Proxy};
use crate::shared::Shared;
use crate::turn::Turn;

/// The defaults, to be changed and given to whatever ends in `_with`.
///
/// [`Config::drain`](agentwire_peer::Config::drain) is how long what a proxy does has to end when an end closes,
/// [`Config::close`](agentwire_peer::Config::close) how long the other end then has to close.
pub fn config() -> Config {
    Config::new(Dialect::ACP)
}

/// Runs one proxy between a client and an agent, until one of them closes.
///
/// When the client closes, the agent is closed as soon as it has all that the client said, and what it still answers
/// is passed on until it closes too. When the agent closes, the client gets what is on its way, errors for what has no
/// answer, and is closed. Everything happens in this one future: dropping it ends it all.
///
/// ```
/// use agentwire_acp_proxy::{Transparent, relay};
/// use agentwire_transport::{Packet, duplex};
/// use futures::{SinkExt, StreamExt, join};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let (mut client, near) = duplex(1);
/// let (far, mut agent) = duplex(1);
/// let conversation = async move {
///     client.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"_hello"}"#)).await?;
///     drop(client);
///     Ok::<_, Box<dyn std::error::Error>>(agent.next().await)
/// };
/// let (relayed, heard) = join!(relay(Transparent::default(), near, far), conversation);
/// relayed?;
/// let Some(Ok(packet)) = heard? else { panic!("nothing passed") };
/// assert_eq!(packet.into_json().as_deref(), Some(r#"{"jsonrpc":"2.0","method":"_hello"}"#));
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(example()).unwrap();
/// ```
///
/// # Errors
///
/// What the transport of either reported as it ended.
pub async fn relay<P: Proxy, C: Transport, A: Transport>(
    proxy: P,
    client: C,
    agent: A,
) -> Result<(), Broken> {
    relay_with(proxy, client, agent, config()).await
}

/// Runs one proxy between a client and an agent, until one of them closes; see [`relay`].
///
/// # Errors
///
/// What the transport of either reported as it ended.
pub async fn relay_with<P: Proxy, C: Transport, A: Transport>(
    proxy: P,
    client: C,
    agent: A,
    config: Config,
) -> Result<(), Broken> {
    let position = Position::alone(&config, HalfClose::Yes);
    run(proxy, client, agent, &config, position).await
}

/// Whether an agent that hears no more can still be heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HalfClose {
    Yes,
    /// Then what it was asked is to be answered before it is closed.
    No,
}

pub(crate) async fn run<P: Proxy, C: Transport, A: Transport>(
    proxy: P,
    client: C,
    agent: A,
    config: &Config,
    position: Position,
) -> Result<(), Broken> {
    let shared = Shared::new(&config.connection, Box::new(TokioClock::default()));
    // Whoever still holds a handle is told, also when this future is dropped half-way.
    let over = HangUp(shared.clone());
    let pass = |direction, request, next| pass(&proxy, direction, request, next);
    let mut turn = Turn::new(&shared, &proxy, pass, client, agent, config, position);
    let ended = poll_fn(|cx| turn.poll(cx)).await;
    drop(turn);
    drop(over);
    ended
}

struct HangUp(Arc<Shared>);

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.hang_up();
    }
}

/// Takes one request through a proxy.
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
