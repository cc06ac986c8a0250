//! A slow reader makes others wait, and no side hold more.

use std::time::Duration;

use agentwire_acp_proxy::{Conductor, Transparent, relay, serve};
use agentwire_jsonrpc::{Frame, Message, Notification, RawJson};
use agentwire_transport::{Packet, TransportError, duplex};
use futures::{Sink, SinkExt, Stream, StreamExt, join};
use tokio::task::spawn_local;
use tokio::time::timeout;

use crate::chains::{AnyTransport, Link, chain};
use crate::raw::{play, relayed};

const CHAINS: [&[Link]; 6] = [
    &[],
    &[Link::Here],
    &[Link::Watching, Link::Here, Link::Here],
    &[Link::Component],
    &[Link::Components],
    &[Link::Components, Link::Here, Link::Component],
];

/// How long a message is, about.
const MESSAGE: usize = 1 << 10;

fn message(number: usize) -> Packet {
    let params = format!(r#"{{"number":{number},"fill":"{}"}}"#, "x".repeat(MESSAGE));
    Message::from(Notification::new("flood", RawJson::parse(params.into()).ok())).into()
}

fn number(packet: &Packet) -> usize {
    let Packet::Frame { frame: Frame::Single(Message::Notification(note)), .. } = packet else {
        panic!("{packet:?}")
    };
    let params = note.params.as_ref().expect("params").as_str();
    let digits = params.trim_start_matches(r#"{"number":"#).split(',').next().expect("a number");
    digits.parse().expect("a number")
}

/// Sends as much as is taken while the other end does not read. Returns how many messages.
async fn fill(
    sink: &mut (impl Sink<Packet, Error = TransportError> + Unpin),
    from: usize,
    most: usize,
) -> usize {
    let mut count = 0;
    while count < most {
        match timeout(Duration::from_secs(1), sink.feed(message(from + count))).await {
            Ok(sent) => sent.expect("it is open"),
            Err(_) => break,
        }
        count += 1;
    }
    let _full = timeout(Duration::from_secs(1), sink.flush()).await;
    count
}

async fn drain(
    stream: &mut (impl Stream<Item = Result<Packet, TransportError>> + Unpin),
    from: usize,
    count: usize,
) {
    for expected in from..from + count {
        let packet = timeout(Duration::from_secs(60), stream.next()).await.expect("it comes");
        assert_eq!(number(&packet.expect("no end").expect("no fault")), expected);
    }
}

/// The two sides of a relay between a test's two transports.
fn ends(links: &[Link]) -> (AnyTransport, AnyTransport) {
    let (near, agent) = duplex(0);
    let (client, far) = duplex(0);
    let chain = chain(links, 0, Box::new(near));
    spawn_local(async move { relay(Transparent::default(), far, chain).await });
    (Box::new(client), Box::new(agent))
}

#[test]
fn a_client_that_does_not_read_makes_the_agent_wait() {
    for links in CHAINS {
        play(async move {
            let (client, agent) = ends(links);
            let (mut to_agent, mut from_agent) = client.split();
            let (mut to_client, mut from_client) = agent.split();
            let taken = fill(&mut to_client, 0, 20_000).await;
            // 64 KiB for each place where something waits, of which a component has two, and some packets each.
            let places = 2 + 8 * links.len();
            assert!(taken * MESSAGE <= places * (96 << 10), "{links:?} took {taken} messages");
            // The other way is open, but for what shares a transport with it.
            if links.iter().all(|link| matches!(link, Link::Here | Link::Watching)) {
                join!(fill(&mut to_agent, 0, 1_000), drain(&mut from_client, 0, 1_000));
            }
            let (flushed, ()) = join!(to_client.flush(), drain(&mut from_agent, 0, taken));
            flushed.expect("it is open");
            join!(fill(&mut to_agent, 0, 100), drain(&mut from_client, 0, 100));
        });
    }
}

#[test]
fn agent_that_does_not_read_delays_the_client_and_is_still_read() {
    for links in CHAINS {
        play(async move {
            let (client, agent) = ends(links);
            let (mut to_agent, mut from_agent) = client.split();
            let (mut to_client, mut from_client) = agent.split();
            let taken = fill(&mut to_agent, 0, 20_000).await;
            let places = 2 + 8 * links.len();
            assert!(taken * MESSAGE <= places * (96 << 10), "{links:?} took {taken} messages");
            join!(fill(&mut to_client, 0, 1_000), drain(&mut from_agent, 0, 1_000));
            let (flushed, ()) = join!(to_agent.flush(), drain(&mut from_client, 0, taken));
            flushed.expect("it is open");
        });
    }
}

/// A chain that runs by itself, not only while it is read.
#[test]
fn conductor_and_component_keep_their_limits() {
    play(async {
        let (component, end) = duplex(0);
        spawn_local(serve(Transparent::default(), end));
        let ((_client, far), (near, mut agent)) = (duplex(0), duplex(0));
        spawn_local(Conductor::new().component(component).serve(far, near));
        let taken = fill(&mut agent, 0, 20_000).await;
        assert!(taken * MESSAGE <= 10 * (96 << 10), "to the client: {taken} messages");

        // A component whose conductor reads nothing takes what is for the agent, and not without end.
        let (mut conductor, end) = duplex(0);
        spawn_local(serve(Transparent::default(), end));
        let taken = fill(&mut conductor, 0, 20_000).await;
        assert!(taken * MESSAGE <= (1 << 20) + 2 * (96 << 10), "to the agent: {taken} messages");
    });
}

#[test]
fn two_peers_that_flood_each_other_and_read_get_every_message() {
    const MANY: usize = 1_500;
    for links in CHAINS {
        play(async move {
            let (client, agent) = ends(links);
            let (mut to_agent, mut from_agent) = client.split();
            let (mut to_client, mut from_client) = agent.split();
            // First no side reads, so that everything is full.
            let (said, heard) = join!(fill(&mut to_agent, 0, MANY), fill(&mut to_client, 0, MANY));
            join!(
                fill(&mut to_agent, said, MANY - said),
                fill(&mut to_client, heard, MANY - heard),
                drain(&mut from_agent, 0, MANY),
                drain(&mut from_client, 0, MANY),
            );
        });
    }
}

#[test]
fn one_task_may_read_and_another_write() {
    for links in CHAINS {
        play(async move {
            let (near, agent) = duplex(0);
            let (mut to_agent, mut from_agent) = chain(links, 0, Box::new(near)).split();
            let (mut to_client, mut from_client) = agent.split();
            let writing = spawn_local(async move { fill(&mut to_agent, 0, 1_000).await });
            let reading = spawn_local(async move { drain(&mut from_agent, 0, 1_000).await });
            join!(fill(&mut to_client, 0, 1_000), drain(&mut from_client, 0, 1_000));
            assert_eq!(writing.await.expect("no panic"), 1_000, "{links:?}");
            reading.await.expect("no panic");
        });
    }
}

#[test]
fn requests_over_the_limit_are_refused() {
    play(async {
        let (mut client, agent, _) = relayed(Transparent::default());
        for id in 0..1024 {
            client.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_q"}}"#)).await;
            if id % 64 == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        client.say(r#"{"jsonrpc":"2.0","id":"over","method":"_q"}"#).await;
        let refused = client.hear().await;
        assert_eq!(
            (refused["id"].as_str(), refused["error"]["data"]["limit"].as_u64()),
            (Some("over"), Some(1024))
        );
        drop(agent);
    });
}
