//! However long a chain is, closing it takes one deadline.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_acp_proxy::{Conductor, Config, ProxyError, Transparent, Transport, proxied, relay, serve};
use agentwire_transport::{Packet, TransportError, duplex};
use futures::{Sink, Stream};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{Instant, timeout};

use crate::chains::AnyTransport;
use crate::raw::{Raw, play, wire};

const HOPS: [usize; 3] = [1, 3, 6];

/// The times that a chain has to drain and to close.
fn deadline() -> Duration {
    let config = agentwire_peer::Config::from(Config::new());
    config.drain + config.close
}

/// The kind of a test's chain.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Proxies of this program.
    Here,
    /// Components of one conductor.
    Components,
    /// Components of one conductor, in front of which stands a proxy of this program.
    InFrontOf,
}

fn conductor(hops: usize) -> Conductor {
    (0..hops).fold(Conductor::new(), |conductor, _| {
        let (near, far) = duplex(4);
        spawn_local(serve(Transparent::default(), far));
        conductor.component(near)
    })
}

/// A chain between a client and an agent that the test plays.
fn chain(kind: Kind, hops: usize) -> (Raw, Raw, JoinHandle<Result<(), ProxyError>>) {
    let (client, raw_client) = wire();
    let (agent, raw_agent) = wire();
    let ended = match kind {
        Kind::Here => {
            let agent: AnyTransport = Box::new(agent);
            let inner = (1..hops).fold(agent, |agent, _| Box::new(proxied(Transparent::default(), agent)));
            spawn_local(relay(Transparent::default(), client, inner))
        }
        Kind::Components => spawn_local(conductor(hops).serve(client, agent)),
        Kind::InFrontOf => {
            spawn_local(relay(Transparent::default(), client, conductor(hops).in_front_of(agent)))
        }
    };
    (raw_client, raw_agent, ended)
}

/// How long a chain takes to end, from now on.
async fn time_to_end(ended: JoinHandle<Result<(), ProxyError>>) -> Duration {
    let begun = Instant::now();
    let ended = timeout(Duration::from_secs(600), ended).await.expect("it ends");
    ended.expect("no panic").expect("no error");
    begun.elapsed()
}

#[test]
fn a_chain_whose_client_stops_reading_is_closed_within_one_deadline() {
    for kind in [Kind::Here, Kind::Components, Kind::InFrontOf] {
        for hops in HOPS {
            play(async move {
                let (mut client, mut agent, ended) = chain(kind, hops);
                let update =
                    format!(r#"{{"jsonrpc":"2.0","method":"_update","params":["{}"]}}"#, "x".repeat(4096));
                while timeout(Duration::from_secs(1), agent.say(&update)).await.is_ok() {}
                client.finish().await;
                let begun = Instant::now();
                let told = spawn_local(async move {
                    agent.expect_end_after_all().await;
                    (agent, begun.elapsed())
                });
                let took = time_to_end(ended).await;
                assert!(took <= deadline() + Duration::from_millis(10), "{hops} {kind:?}: {took:?}");
                // The agent has time to go.
                let (agent, told) = told.await.expect("no panic");
                assert!(told <= deadline() * 2 / 3, "{hops} {kind:?}: the agent was closed after {told:?}");
                drop((client, agent));
            });
        }
    }
}

#[test]
fn a_chain_whose_components_do_not_end_is_closed_within_one_deadline() {
    for hops in HOPS {
        for client_begins in [true, false] {
            play(async move {
                let (client, mut raw_client) = wire();
                let (agent, mut raw_agent) = wire();
                let mut components = Vec::new();
                let conductor = (0..hops).fold(Conductor::new(), |conductor, _| {
                    let (transport, raw) = wire();
                    components.push(raw);
                    conductor.component(Stubborn(transport))
                });
                let ended = spawn_local(conductor.serve(client, agent));
                if client_begins {
                    raw_client.finish().await;
                } else {
                    raw_agent.finish().await;
                }
                let took = time_to_end(ended).await;
                assert!(took <= deadline() + Duration::from_millis(10), "{hops}: {took:?}");
                // Both ends were closed properly.
                raw_client.expect_end().await;
                raw_agent.expect_end().await;
            });
        }
    }
}

/// A transport that does not close.
struct Stubborn<T>(T);

impl<T: Transport> Stream for Stubborn<T> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(cx)
    }
}

impl<T: Transport> Sink<Packet> for Stubborn<T> {
    type Error = TransportError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.0).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        Pin::new(&mut self.0).start_send(packet)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Pending
    }
}
