//! The conductor: runs a chain of component processes in front of an agent.

pub(crate) mod closing;
pub(crate) mod component;

use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, code};
use agentwire_transport::{Transport, read_when};
use bytestring::ByteString;
use futures_util::future::join_all;

use crate::Config;
use crate::deadline::{Deadline, HalfClose, HopClosing};
use crate::error::ProxyError;
use crate::names;
use crate::next::Next;
use crate::proxied::{driven, duplex_ends};
use crate::proxy::Proxy;
use crate::relay::run;
use crate::side::Direction;
use crate::split::{Backlog, Role, split};

type AnyTransport = Box<dyn Transport + Send>;

/// Runs a chain of components in front of an agent. A component is a proxy in a separate program, usually a process on
/// stdio.
///
/// Components do not know each other. A message of one to its successor goes through the conductor, which knows the
/// successor. To the client the conductor looks like the agent.
///
/// ```no_run
/// use agentwire_acp_proxy::Conductor;
/// use agentwire_transport_stdio::{Child, Command, stdio};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let first = Child::spawn(Command::new("logging-proxy"))?;
/// let second = Child::spawn(Command::new("context-proxy"))?;
/// let agent = Child::spawn(Command::new("agent"))?;
/// Conductor::new().component(first).component(second).serve(stdio()?, agent).await?;
/// # Ok(())
/// # }
/// ```
///
/// Every component gets `proxy/initialize`, the agent `initialize`. A component that does not know the method gets
/// `_proxy/initialize`, the older name. When a component ends, so does the chain: unanswered requests are answered with an
/// error, and the chain is closed from the component on in both directions.
///
/// A chain may also contain proxies of this program, because each part of a chain is a transport to the rest of it: see
/// [`in_front_of`](Self::in_front_of) and [`proxied`](crate::proxied).
#[derive(Default)]
pub struct Conductor {
    components: Vec<AnyTransport>,
    config: Config,
}

impl fmt::Debug for Conductor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conductor").field("components", &self.components.len()).finish_non_exhaustive()
    }
}

impl Conductor {
    /// Creates a conductor without components. It only forwards messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a component, nearer to the agent than those added before it.
    #[must_use]
    pub fn component(mut self, transport: impl Transport + Send + 'static) -> Self {
        self.components.push(Box::new(transport));
        self
    }

    /// Sets limits and times (default: those of [`Config::new`]).
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Runs the chain between a client and an agent, until one of its members closes.
    ///
    /// # Errors
    ///
    /// The error that the transport of a member reported as it ended.
    pub async fn serve(
        self,
        client: impl Transport + Send + 'static,
        agent: impl Transport + Send + 'static,
    ) -> Result<(), ProxyError> {
        self.run(Box::new(client), Box::new(agent), Last::Agent).await
    }

    /// Runs the chain as a component of another conductor, on its one transport, until that closes.
    ///
    /// # Errors
    ///
    /// The error that the transport of a member reported as it ended.
    pub async fn serve_as_component(
        self,
        conductor: impl Transport + Send + 'static,
    ) -> Result<(), ProxyError> {
        let (client, agent) = split(conductor, Role::Component, Arc::default());
        self.run(Box::new(client), Box::new(agent), Last::Successor).await
    }

    /// Returns a transport to an agent with the chain in front of it. See [`proxied`](crate::proxied).
    pub fn in_front_of(self, agent: impl Transport + Send + 'static) -> impl Transport + Send {
        let (near, client) = duplex_ends();
        driven(near, self.serve(client, agent))
    }

    async fn run(self, client: AnyTransport, agent: AnyTransport, last: Last) -> Result<(), ProxyError> {
        let config = agentwire_peer::Config::from(self.config);
        let (count, limit) = (self.components.len(), config.connection.high_water);
        let backlog = Arc::<Backlog>::default();
        let client_backlog = backlog.clone();
        let mut before: AnyTransport =
            Box::new(read_when(client, move |cx| client_backlog.poll_low(limit, cx)));
        let mut hops = Vec::with_capacity(count + 1);
        for (place, component) in self.components.into_iter().enumerate() {
            let (plain, successor) = split(component, Role::Conductor, backlog.clone());
            let after: AnyTransport = Box::new(plain);
            hops.push((std::mem::replace(&mut before, Box::new(successor)), after, Hop::ToComponent(place)));
        }
        hops.push((before, agent, last.hop(count)));
        let config = &config;
        let deadline = Deadline::new(config, hops.len());
        let relays = hops.into_iter().enumerate().map(|(place, (before, after, hop))| {
            let half_close = if hop == Hop::ToAgent { HalfClose::Yes } else { HalfClose::No };
            run(hop, before, after, config, HopClosing::new(&deadline, place, half_close))
        });
        join_all(relays).await.into_iter().enumerate().try_for_each(|(place, ended)| {
            ended.map_err(|broken| match broken {
                ProxyError::Agent(error) if place < count => ProxyError::Component { place, error },
                ProxyError::Client(error) if place > 0 => ProxyError::Component { place: place - 1, error },
                broken => broken,
            })
        })
    }
}

/// The successor of the last component.
#[derive(Clone, Copy)]
enum Last {
    Agent,
    /// The successor that the outer conductor has.
    Successor,
}

impl Last {
    fn hop(self, components: usize) -> Hop {
        match self {
            Self::Agent => Hop::ToAgent,
            Self::Successor if components == 0 => Hop::Through,
            Self::Successor => Hop::ToSuccessor,
        }
    }
}

/// The proxy of one hop of a conductor: it gives `initialize` the name that the next member expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hop {
    /// To the component with this index.
    ToComponent(usize),
    ToAgent,
    /// To another conductor, which renames it.
    ToSuccessor,
    /// Through a component without components.
    Through,
}

impl Proxy for Hop {
    async fn request(&self, mut request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        if next.direction() == Direction::ToClient || !names::is_initialize(&request.method) {
            return next.run(request).await;
        }
        match self {
            Self::ToComponent(place) => {
                request.method = ByteString::from_static(names::PROXY_INITIALIZE);
                let mut old = request.clone();
                let outcome = next.run(request).await;
                if !is_unknown(&outcome) {
                    return outcome;
                }
                old.method = ByteString::from_static(names::OLD_PROXY_INITIALIZE);
                let outcome = next.run(old).await;
                if is_unknown(&outcome) {
                    return Err(ErrorObject::internal_error(format_args!(
                        "component {place} is not a proxy: it does not know proxy/initialize"
                    )));
                }
                outcome
            }
            Self::ToAgent | Self::ToSuccessor | Self::Through => {
                request.method = ByteString::from_static(names::INITIALIZE);
                next.run(request).await
            }
        }
    }
}

fn is_unknown(outcome: &Result<RawJson, ErrorObject>) -> bool {
    matches!(outcome, Err(error) if error.code == code::METHOD_NOT_FOUND)
}
