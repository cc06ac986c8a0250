//! Chains of proxies of all kinds.

use agentwire_acp_proxy::{
    Conductor, Direction, ErrorObject, Next, Notification, Peers, Proxy, RawJson, Request, Transparent,
    Transport, proxied, serve,
};
use agentwire_transport::duplex;
use tokio::task::spawn_local;

/// A proxy in the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    /// One of this program.
    Here,
    /// One of this program, all of whose hooks are its own and do nothing.
    Watching,
    /// A component, with a conductor for itself.
    Component,
    /// Two components and their conductor.
    Components,
}

pub(crate) type AnyTransport = Box<dyn Transport + Send>;

fn component(capacity: usize) -> impl Transport + Send + 'static {
    let (near, far) = duplex(capacity);
    spawn_local(serve(Transparent::default(), far));
    near
}

pub(crate) fn chain(links: &[Link], capacity: usize, agent: AnyTransport) -> AnyTransport {
    links.iter().rev().fold(agent, |agent, link| match link {
        Link::Here => Box::new(proxied(Transparent::default(), agent)),
        Link::Watching => Box::new(proxied(Watch, agent)),
        Link::Component => Box::new(Conductor::new().component(component(capacity)).in_front_of(agent)),
        Link::Components => {
            let conductor = Conductor::new().component(component(capacity)).component(component(capacity));
            Box::new(conductor.in_front_of(agent))
        }
    })
}

struct Watch;

impl Proxy for Watch {
    async fn request(&self, request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        let outcome = next.run(request).await;
        // An outcome that is inspected here keeps its place.
        assert!(outcome.as_ref().err().is_none_or(|error| error.code != -32603), "{outcome:?}");
        outcome
    }

    fn notification(&self, note: Notification, _: Direction, _: &Peers) -> Option<Notification> {
        Some(note)
    }
}
