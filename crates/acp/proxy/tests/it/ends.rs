//! How it ends.

use std::cell::RefCell;
use std::future::pending;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_acp_proxy::{
    Cancelled, Conductor, Config, ErrorObject, Next, Peers, Proxy, ProxyError, RawJson, Request, Transparent,
    proxied, relay, relay_with, serve,
};
use agentwire_transport::{Packet, TransportError, duplex};
use futures::{Sink, SinkExt, Stream, StreamExt, stream};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep, timeout};

use crate::raw::{Raw, play, relayed, wire};

#[test]
fn agent_is_closed_and_read_to_its_end_after_the_client_closes() {
    play(async {
        let (mut client, mut agent, ended) = relayed(Transparent::default());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_slow"}"#).await;
        client.finish().await;
        let id = agent.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_slow"}"#).await;
        let begun = Instant::now();
        agent.expect_end().await;
        assert!(begun.elapsed() < Duration::from_millis(100), "at once: {:?}", begun.elapsed());
        // Longer than anything else here waits: an agent that is asked to end may have to tidy up.
        sleep(Duration::from_secs(5)).await;
        agent.say(r#"{"jsonrpc":"2.0","method":"_last"}"#).await;
        agent.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#)).await;
        drop(agent);
        client.expect(r#"{"jsonrpc":"2.0","method":"_last"}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","id":1,"result":1}"#).await;
        client.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}

#[test]
fn when_the_agent_closes_what_it_owes_is_answered_and_the_client_closed() {
    play(async {
        let (mut client, mut agent, ended) = relayed(Transparent::default());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_never"}"#).await;
        agent.hear().await;
        agent.say(r#"{"jsonrpc":"2.0","method":"_last"}"#).await;
        drop(agent);
        client.expect(r#"{"jsonrpc":"2.0","method":"_last"}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error: the agent closed before it answered"}}"#).await;
        client.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}

/// Passes on after a while, and hands out its ends.
#[derive(Clone, Default)]
struct Slow(Rc<RefCell<Option<Peers>>>, Duration);

impl Proxy for Slow {
    async fn request(&self, request: Request, next: Next) -> Result<RawJson, ErrorObject> {
        *self.0.borrow_mut() = Some(next.peers().clone());
        sleep(self.1).await;
        next.run(request).await
    }
}

#[test]
fn messages_that_a_proxy_holds_have_time_to_pass() {
    play(async {
        let slow = Slow(Rc::default(), Duration::from_millis(900));
        let (mut client, mut agent, ended) = relayed(slow.clone());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_held"}"#).await;
        client.finish().await;
        agent.answer("_held", "1").await;
        agent.expect_end().await;
        drop(agent);
        client.expect(r#"{"jsonrpc":"2.0","id":1,"result":1}"#).await;
        ended.await.unwrap().unwrap();
        // Handles that are left fail, and do not wait.
        let peers = slow.0.take().expect("it had a request");
        assert!(peers.client().notify_now("_late", None).is_err());
        assert!(peers.agent().notify("_late", None).await.is_err());
        assert_eq!(peers.agent().call("_late", None).await.unwrap_err().code, -32603);
    });
}

#[test]
fn a_call_that_waits_fails_when_the_proxy_is_dropped() {
    play(async {
        let slow = Slow::default();
        let (mut client, mut agent, relay) = relayed(slow.clone());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_q"}"#).await;
        agent.hear().await;
        let peers = slow.0.take().expect("it had a request");
        let call = spawn_local(async move { peers.agent().call("_waits", None).await });
        assert_eq!(agent.hear().await["method"], "_waits");
        relay.abort();
        assert_eq!(call.await.unwrap().unwrap_err().code, -32603);
    });
}

#[test]
fn message_that_a_proxy_holds_too_long_is_answered_with_an_error() {
    play(async {
        let (mut client, mut agent, ended) = relayed(Slow(Rc::default(), Duration::from_secs(3600)));
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_held"}"#).await;
        client.finish().await;
        agent.expect_end().await;
        drop(agent);
        assert_eq!(client.hear().await["error"]["code"], -32603);
        client.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}

#[test]
fn transports_that_do_not_close_are_dropped() {
    play(async {
        let begun = Instant::now();
        let (client, mut raw_client) = wire();
        let (agent, raw_agent) = wire();
        let config = Config::new().drain(Duration::MAX);
        let ended = spawn_local(relay_with(Transparent::default(), client, agent, config));
        raw_client.finish().await;
        ended.await.unwrap().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        drop(raw_agent);
    });
}

/// Writes until nothing more is taken, at most so many bytes, and returns how many were.
async fn fill(raw: &mut Raw, most: usize) -> usize {
    let line = format!(r#"{{"jsonrpc":"2.0","method":"_fill","params":["{}"]}}"#, "x".repeat(4096));
    let mut bytes = 0;
    while bytes < most && timeout(Duration::from_secs(10), raw.say(&line)).await.is_ok() {
        bytes += line.len();
    }
    bytes
}

/// One side ends behind a full queue that the other side never reads.
#[test]
fn end_of_a_side_is_found_while_the_other_reads_nothing() {
    for client_ends in [true, false] {
        play(async move {
            let (client, agent, ended) = relayed(Transparent::default());
            let (mut ending, silent) = if client_ends { (client, agent) } else { (agent, client) };
            let written = fill(&mut ending, 512 << 10).await;
            assert!(written > 256 << 10, "more than is queued at once: {written}");
            let begun = Instant::now();
            drop(ending);
            ended.await.unwrap().unwrap();
            // The drain and the close of the configuration, and the time after which the rest is read.
            assert!(begun.elapsed() <= Duration::from_secs(1 + 10 + 5), "{:?}", begun.elapsed());
            drop(silent);
        });
    }
}

#[test]
fn side_that_reads_nothing_of_a_full_queue_has_failed() {
    play(async {
        let (client, mut raw_client) = wire();
        let (agent, raw_agent) = wire();
        let config = Config::new().backlog_limit(256 << 10).stall(Duration::from_secs(20));
        let ended = spawn_local(relay_with(Transparent::default(), client, agent, config));
        let written = fill(&mut raw_client, 64 << 20).await;
        assert!(written <= 1 << 20, "it is bounded: {written}");
        let ended = timeout(Duration::from_secs(20 + 1 + 10), ended).await.expect("it ends").unwrap();
        let Err(ProxyError::Agent(error)) = ended else { panic!("{ended:?}") };
        let why = "it has read nothing for the limit of 20s, while 262144 bytes are queued for it";
        assert_eq!(error.to_string(), why);
        raw_client.expect_end_after_all().await;
        drop(raw_agent);
    });
}

/// An agent that reads again in time gets everything.
#[test]
fn side_that_reads_late_gets_what_was_queued() {
    play(async {
        let (mut client, mut agent, ended) = relayed(Transparent::default());
        let written = fill(&mut client, 300 << 10).await;
        sleep(Duration::from_secs(50)).await;
        client.finish().await;
        let mut read = 0;
        while let Some(line) = agent.line().await {
            read += line.len();
        }
        assert_eq!(read, written);
        drop(agent);
        client.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}

#[test]
fn a_fault_of_the_agent_is_told_at_the_end() {
    let broken = || {
        let fault = TransportError::other("it crashed");
        let (near, _) = duplex(1);
        let (sink, _) = near.split();
        Joined { sink, stream: stream::iter([Err(fault)]) }
    };
    play(async move {
        let (client, mut raw_client) = wire();
        let ended = relay(Transparent::default(), client, broken()).await;
        assert!(
            matches!(&ended, Err(ProxyError::Agent(fault)) if fault.to_string() == "it crashed"),
            "{ended:?}"
        );
        raw_client.expect_end().await;

        let mut chain = proxied(Transparent::default(), proxied(Transparent::default(), broken()));
        let last = chain.next().await;
        assert!(matches!(&last, Some(Err(fault)) if fault.to_string() == "it crashed"), "{last:?}");
        assert!(chain.next().await.is_none());
    });
}

#[test]
fn a_client_that_cannot_be_written_to_is_gone() {
    play(async {
        let (near, _) = duplex(1);
        let (sink, _) = near.split();
        let client = Joined { sink, stream: stream::pending() };
        let (agent, mut raw_agent) = wire();
        let ended = spawn_local(relay(Transparent::default(), client, agent));
        raw_agent.say(r#"{"jsonrpc":"2.0","method":"_hello"}"#).await;
        raw_agent.expect_end().await;
        drop(raw_agent);
        let ended = ended.await.unwrap();
        assert!(matches!(ended, Err(ProxyError::Client(_))), "{ended:?}");
    });
}

#[test]
fn message_for_an_agent_that_cannot_be_written_to_fails_at_once() {
    play(async {
        let (near, _) = duplex(1);
        let (sink, _) = near.split();
        let agent = Joined { sink, stream: stream::pending() };
        let (client, mut raw_client) = wire();
        let ended = spawn_local(relay(Transparent::default(), client, agent));
        let begun = Instant::now();
        // The first finds out. Reading has a time to tell why.
        raw_client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_first"}"#).await;
        sleep(Duration::from_millis(10)).await;
        raw_client.say(r#"{"jsonrpc":"2.0","id":2,"method":"_second"}"#).await;
        let answer = raw_client.hear().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&2.into(), &(-32603).into()));
        assert!(begun.elapsed() < Duration::from_millis(100), "at once: {:?}", begun.elapsed());
        let answer = raw_client.hear().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&1.into(), &(-32603).into()));
        raw_client.expect_end().await;
        let ended = ended.await.unwrap();
        assert!(matches!(ended, Err(ProxyError::Agent(_))), "{ended:?}");
    });
}

/// Never answers, and hands out what completes when it need not.
#[derive(Clone, Default)]
struct Holding(Rc<RefCell<Option<Cancelled>>>);

impl Proxy for Holding {
    async fn request(&self, _: Request, next: Next) -> Result<RawJson, ErrorObject> {
        *self.0.borrow_mut() = Some(next.cancelled());
        pending().await
    }
}

#[test]
fn a_request_counts_as_cancelled_when_its_connection_ends() {
    play(async {
        let holding = Holding::default();
        let (mut client, _agent, relay) = relayed(holding.clone());
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_q"}"#).await;
        sleep(Duration::from_millis(10)).await;
        let mut cancelled = holding.0.take().expect("it had a request");
        assert!(futures::poll!(&mut cancelled).is_pending());
        relay.abort();
        timeout(Duration::from_secs(1), cancelled).await.expect("it completes");
    });
}

#[test]
fn chain_of_sendable_parts_is_sendable() {
    fn is_send<T: Send>(_: &T) {}

    let pair = || duplex(1);
    let ((client, _), (agent, _), (component, _)) = (pair(), pair(), pair());
    is_send(&relay(Transparent::default(), client, proxied(Transparent::default(), agent)));
    let ((client, _), (agent, _)) = (pair(), pair());
    is_send(&Conductor::new().component(component).serve(client, agent));
    is_send(&serve(Transparent::default(), pair().0));
}

#[test]
fn a_chain_is_closed_as_its_agent_is() {
    play(async {
        let (agent, mut raw) = wire();
        let mut chain = proxied(Transparent::default(), proxied(Transparent::default(), agent));
        chain.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"_hello"}"#)).await.unwrap();
        let agent = spawn_local(async move {
            raw.expect(r#"{"jsonrpc":"2.0","method":"_hello"}"#).await;
            raw.expect_end().await;
            // More than fits anywhere, and no side reads.
            for _ in 0..20_000 {
                raw.say(r#"{"jsonrpc":"2.0","method":"_bye"}"#).await;
            }
        });
        chain.close().await.unwrap();
        drop(chain);
        agent.await.unwrap();
    });
}

/// A transport of two parts.
struct Joined<S, R> {
    sink: S,
    stream: R,
}

impl<S: Unpin, R: Stream + Unpin> Stream for Joined<S, R> {
    type Item = R::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<R::Item>> {
        self.stream.poll_next_unpin(cx)
    }
}

impl<S: Sink<Packet, Error = TransportError> + Unpin, R: Unpin> Sink<Packet> for Joined<S, R> {
    type Error = TransportError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.sink.poll_ready_unpin(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        self.sink.start_send_unpin(packet)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.sink.poll_flush_unpin(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.sink.poll_close_unpin(cx)
    }
}
