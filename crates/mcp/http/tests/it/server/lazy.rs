//! Clients that do not read one of their streams, on a clock of the test's own.

use std::time::Duration;

use agentwire_transport::Packet;
use agentwire_transport_http::server::{Body, Endpoint, EndpointConfig};
use futures::{FutureExt, SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::script::{notification, request};
use super::time::{call, open, piece};
use crate::connections::{Connection, endpoint};

const HIGH_WATER: usize = 1000;

/// A session of which one stream is not read.
struct Lazy {
    endpoint: Endpoint,
    session: String,
    connection: Connection,
    unread: Body,
}

impl Lazy {
    async fn new(config: EndpointConfig) -> Self {
        let (mut endpoint, mut connections) = endpoint(config.high_water(HIGH_WATER));
        let (session, connection) = open(&mut endpoint, &mut connections).await;
        tokio::spawn(async move { connections.next().await.is_none() });
        let unread = Body::empty();
        let mut lazy = Self { endpoint, session, connection, unread };
        lazy.unread = lazy.ask(1, "flood").await;
        lazy
    }

    async fn send(&mut self, method: &str, last: Option<&str>, body: &str) -> Body {
        let mut headers = vec![("mcp-session-id", self.session.as_str())];
        headers.extend(last.map(|last| ("last-event-id", last)));
        let response = call(&mut self.endpoint, method, &headers, body).await;
        assert_eq!(response.status(), 200);
        response.into_body()
    }

    /// Sends a request, which the connection receives. Returns the response, of which the first event has been read.
    async fn ask(&mut self, id: u64, method: &str) -> Body {
        let mut body = self.send("POST", None, &request(id, method, json!({}))).await;
        assert!(piece(&mut body).await.unwrap().contains("id: "));
        self.connection.next().await.unwrap().unwrap();
        body
    }

    /// A notification of this length in the course of a request.
    fn note(&self, id: u64, length: usize) -> Packet {
        match Packet::from_json(&notification(&"n".repeat(length))) {
            Packet::Frame { frame, .. } => {
                Packet::Frame { frame, in_reply_to: Some(id.into()), source: None }
            }
            other => panic!("{other:?}"),
        }
    }

    /// Sends notifications in the course of the first request until no more is taken. Returns how many bytes were.
    fn flood(&mut self, length: usize) -> usize {
        let mut said = 0;
        loop {
            let note = self.note(1, length);
            if self.connection.feed(note).now_or_never().is_none() {
                return said;
            }
            said += length;
            assert!(said < 100 << 20, "there is no end to it");
        }
    }

    /// Answers a request, at once if it can be. Returns how long that took.
    async fn answer(&mut self, id: u64, result: Value) -> Duration {
        let start = Instant::now();
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
        start.elapsed()
    }
}

async fn rest(body: &mut Body) -> String {
    let mut text = String::new();
    while let Some(more) = piece(body).await {
        text += &more;
    }
    text
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_read_holds_up_no_other() {
    let mut lazy = Lazy::new(EndpointConfig::new()).await;
    let said = lazy.flood(100);
    assert!((500..1300).contains(&said), "who is alone waits for its own reader: {said}");
    let mut listening = lazy.send("GET", None, "").await;
    for id in 2..10 {
        let mut body = lazy.ask(id, "echo").await;
        assert_eq!(lazy.answer(id, json!("echoed")).await, Duration::ZERO);
        assert!(rest(&mut body).await.contains("echoed"));
    }
    // Also what belongs to no request, while one is unanswered.
    let _waiting = lazy.ask(10, "wait").await;
    lazy.connection.send(Packet::from_json(&notification("changed"))).now_or_never().unwrap().unwrap();
    assert!(piece(&mut listening).await.unwrap().contains("changed"));
    // Nothing that was said on the other is lost.
    let mut read = std::mem::replace(&mut lazy.unread, Body::empty());
    assert_eq!(lazy.answer(1, json!("flooded")).await, Duration::ZERO);
    let text = rest(&mut read).await;
    assert_eq!((text.matches("nnn\"").count(), text.matches("flooded").count()), (said / 100, 1));
}

/// An answer is the last message of its stream, so no sender waits until it is read.
#[tokio::test(start_paused = true)]
async fn a_long_answer_that_is_not_read_holds_up_nothing() {
    let mut lazy = Lazy::new(EndpointConfig::new()).await;
    for id in [1, 2, 3] {
        lazy.answer(id, json!("x".repeat(5 << 20))).await;
        lazy.connection.send(Packet::from_json(&notification("changed"))).now_or_never().unwrap().unwrap();
        let unread = lazy.ask(id + 1, "long").await;
        // Both stay as they are, unread and open.
        std::mem::forget(unread);
    }
}

#[tokio::test(start_paused = true)]
async fn queue_of_an_unread_stream_is_bounded_and_the_stream_is_cut() {
    let mut lazy = Lazy::new(EndpointConfig::new().session_high_water(50_000)).await;
    let mut body = lazy.ask(2, "echo").await;
    let said = lazy.flood(100);
    assert!((50_000 - 20_000..60_000).contains(&said), "{said}");
    let took = lazy.answer(2, json!("echoed")).await;
    assert!((Duration::from_secs(1)..Duration::from_secs(5)).contains(&took), "{took:?}");
    assert!(rest(&mut body).await.contains("echoed"));
    let mut unread = std::mem::replace(&mut lazy.unread, Body::empty());
    let cut = std::future::poll_fn(|cx| http_body::Body::poll_frame(std::pin::Pin::new(&mut unread), cx));
    let why = cut.await.unwrap().unwrap_err().to_string();
    assert!(why.contains("2s"), "{why}");
    // A client that comes back finds all of it.
    drop(unread);
    lazy.answer(1, json!("flooded")).await;
    let text = rest(&mut lazy.send("GET", Some("2-0"), "").await).await;
    assert_eq!((text.matches("nnn\"").count(), text.matches("flooded").count()), (said / 100, 1));
}

#[tokio::test(start_paused = true)]
async fn a_long_message_counts_as_one_that_fills_a_stream() {
    let mut lazy = Lazy::new(EndpointConfig::new().session_high_water(10 * HIGH_WATER)).await;
    let _other = lazy.ask(2, "wait").await;
    let said = lazy.flood(100_000);
    assert_eq!(said, 11 * 100_000, "one that makes it full, and ten beyond");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_is_not_cut() {
    let mut lazy = Lazy::new(EndpointConfig::new().session_high_water(5000)).await;
    let mut body = lazy.ask(2, "wait").await;
    let mut unread = std::mem::replace(&mut lazy.unread, Body::empty());
    let reading = async {
        let mut text = String::new();
        while !text.contains("flooded") {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            text += &piece(&mut unread).await.expect("it is not cut");
        }
        text.matches("nnn\"").count()
    };
    let saying = async {
        for _ in 0..1000 {
            let note = lazy.note(1, 100);
            lazy.connection.send(note).await.unwrap();
        }
        lazy.answer(1, json!("flooded")).await;
        lazy.answer(2, json!("waited")).await;
    };
    let (read, ()) = futures::join!(reading, saying);
    assert_eq!(read, 1000);
    assert!(rest(&mut body).await.contains("waited"));
}

/// No other request waits for it, so it has the time that it always had.
#[tokio::test(start_paused = true)]
async fn stream_that_holds_up_no_other_is_not_cut_early() {
    let mut lazy = Lazy::new(EndpointConfig::new().session_high_water(5000)).await;
    lazy.flood(100);
    tokio::time::sleep(Duration::from_secs(25)).await;
    assert!(piece(&mut lazy.unread).await.unwrap().contains("nnn"));
    lazy.flood(100);
    let took = lazy.answer(1, json!("flooded")).await;
    assert!((Duration::from_secs(29)..Duration::from_secs(35)).contains(&took), "{took:?}");
}

/// The proxy between takes bytes while it has room, and more only when its client has read them.
#[tokio::test(start_paused = true)]
async fn a_client_with_little_bandwidth_is_not_cut() {
    const A_SECOND: f64 = 65_536.0;
    let mut lazy = Lazy::new(EndpointConfig::new()).await;
    let mut body = lazy.ask(2, "wait").await;
    let mut unread = std::mem::replace(&mut lazy.unread, Body::empty());
    let reading = async {
        let mut text = String::new();
        while !text.contains("flooded") {
            let more = piece(&mut unread).await.expect("it is not cut");
            tokio::time::sleep(Duration::from_secs_f64(more.len() as f64 / A_SECOND)).await;
            text += &more;
        }
        text.matches("nnn\"").count()
    };
    let saying = async {
        for _ in 0..3000 {
            let note = lazy.note(1, 1000);
            lazy.connection.send(note).await.unwrap();
        }
        lazy.answer(1, json!("flooded")).await;
        lazy.answer(2, json!("waited")).await;
    };
    let (read, ()) = futures::join!(reading, saying);
    assert_eq!(read, 3000);
    assert!(rest(&mut body).await.contains("waited"));
}

/// The connection that was lost may not have been missed yet, and be full.
#[tokio::test(start_paused = true)]
async fn resuming_a_full_stream_makes_room() {
    let mut lazy = Lazy::new(EndpointConfig::new()).await;
    let said = lazy.flood(100);
    let note = lazy.note(1, 100);
    let Lazy { mut endpoint, session, mut connection, unread } = lazy;
    let mut sending = tokio::spawn(async move { connection.send(note).await.map(|()| connection) });
    tokio::task::yield_now().await;
    assert!((&mut sending).now_or_never().is_none(), "there is no room");
    let headers = [("mcp-session-id", session.as_str()), ("last-event-id", "2-0")];
    let mut resumed = call(&mut endpoint, "GET", &headers, "").await.into_body();
    let sent = tokio::time::timeout(Duration::from_secs(5), sending).await;
    let mut connection = sent.expect("there is room").unwrap().unwrap();
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": "flooded"});
    connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
    let text = rest(&mut resumed).await;
    assert_eq!((text.matches("nnn\"").count(), text.matches("flooded").count()), (said / 100 + 1, 1));
    drop(unread);
}
