//! One hostile client and some polite ones: what is for all is shared out.

use std::sync::Arc;
use std::time::Duration;

use agentwire_store::{
    Durable, Event, EventId, EventStore, MemoryEventStore, Replay, SessionId, StoreError, StoreLimits,
    StreamRun,
};
use agentwire_transport::Packet;
use agentwire_transport_http::server::{AnswerForm, Body, Endpoint, EndpointConfig, RemoteAddr};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tokio::sync::Semaphore;
use tower_service::Service;

use super::crowd_clock::{Client, Crowd};
use super::modern::{VERSION, modern};
use crate::connections::{Connection, Inline};

const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test(start_paused = true)]
async fn unused_sessions_lock_no_other_client_out() {
    let mut crowd = Crowd::start(EndpointConfig::new());
    let hostile = crowd.client(1);
    for _ in 0..10_000 {
        hostile.initialize().await;
    }
    // Another client, and one with the same address.
    for address in [2, 1] {
        let polite = crowd.client(address).open().await;
        assert_eq!(polite.echo(1).await, StatusCode::OK);
    }
    assert!(crowd.sessions() <= 1001, "{}", crowd.sessions());
    // What is not used ends soon, what is used does not.
    let polite = crowd.client(3).open().await;
    tokio::time::sleep(Duration::from_secs(70)).await;
    assert!(crowd.sessions() <= 3, "{}", crowd.sessions());
    assert_eq!(polite.echo(1).await, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn one_client_uses_no_more_than_its_share_of_sessions() {
    let mut crowd = Crowd::start(EndpointConfig::new().session_limit(100));
    let hostile = crowd.client(1);
    let mut taken = Vec::new();
    for _ in 0..200 {
        if let Ok(session) = hostile.clone().try_open().await {
            taken.push(session);
        }
    }
    assert_eq!(taken.len(), 75);
    let polite: Vec<_> = futures::future::join_all((2..27).map(|address| crowd.client(address).open())).await;
    for client in &polite {
        assert_eq!(client.echo(1).await, StatusCode::OK);
    }
    assert_eq!(crowd.client(90).try_open().await.err(), Some(StatusCode::SERVICE_UNAVAILABLE));
    // Each session that ends makes room again.
    taken.pop().unwrap().delete().await;
    assert!(crowd.client(90).try_open().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_principal_has_a_share_wherever_it_calls_from() {
    let mut crowd = Crowd::start(EndpointConfig::new().caller_session_limit(3));
    let mut kept = Vec::new();
    for address in 1..=3 {
        kept.push(crowd.client(address).named("mallory").open().await);
    }
    let fourth = crowd.client(4).named("mallory").try_open().await;
    assert_eq!(fourth.err(), Some(StatusCode::SERVICE_UNAVAILABLE));
    for name in ["alice", "bob", "carol", "dave"] {
        kept.push(crowd.client(1).named(name).open().await);
    }
    assert_eq!(kept.len(), 7);
}

#[tokio::test(start_paused = true)]
async fn bodies_that_do_not_end_leave_room_for_others() {
    let mut crowd = Crowd::start(EndpointConfig::new());
    let (hostile, polite) = (crowd.client(1), crowd.client(2).open().await);
    let mut waiting = Vec::new();
    for _ in 0..200 {
        waiting.extend(hostile.begin_body(None, (4 << 20) - 1).await);
    }
    assert!((1..=4).contains(&waiting.len()), "{}", waiting.len());
    assert_eq!(polite.echo(1).await, StatusCode::OK);
    let other = crowd.client(3).open().await;
    assert_eq!(other.echo(1).await, StatusCode::OK);
    // In a session there is more room, and it is the client's own.
    let hostile = hostile.open().await;
    for _ in 0..200 {
        waiting.extend(hostile.begin_body(hostile.session(), (4 << 20) - 1).await);
    }
    assert!((3..=4).contains(&waiting.len()), "{}", waiting.len());
    assert_eq!(polite.echo(2).await, StatusCode::OK);
    assert_eq!(other.echo(2).await, StatusCode::OK);
    // With the time for a body it is over.
    tokio::time::sleep(Duration::from_secs(31)).await;
    for response in waiting {
        assert_eq!(response.await.unwrap().status(), StatusCode::REQUEST_TIMEOUT);
    }
    assert!(hostile.begin_body(None, (4 << 20) - 1).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_not_answered_count_until_they_are() {
    let config = EndpointConfig::new().body_limit(1 << 20).caller_request_budget(3 << 20).stream_limit(1000);
    let mut crowd = Crowd::start(config);
    let (hostile, polite) = (crowd.client(1).open().await, crowd.client(2).open().await);
    let padding = "x".repeat(1 << 19);
    let mut unanswered = Vec::new();
    let mut refused = 0;
    for id in 1..=20 {
        match hostile.ask(id, "wait", json!({ "padding": padding })).await {
            response if response.status() == StatusCode::OK => unanswered.push((id, response)),
            response => {
                assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
                refused += 1;
            }
        }
    }
    assert_eq!((unanswered.len(), refused), (5, 15));
    assert_eq!(polite.echo(1).await, StatusCode::OK);
    // A client that leaves has not been answered. One whose request is cancelled will not be.
    let (id, response) = unanswered.pop().unwrap();
    drop(response);
    assert_eq!(hostile.echo_padded(90, &padding).await, StatusCode::SERVICE_UNAVAILABLE);
    hostile.cancel(id).await;
    assert_eq!(hostile.echo_padded(91, &padding).await, StatusCode::OK);
}

/// The rest of a body, and whether it came to its end.
async fn rest(response: http::Response<Body>) -> (String, bool) {
    let (mut text, mut body) = (String::new(), response.into_body());
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => text += std::str::from_utf8(&frame.into_data().unwrap()).unwrap(),
            Err(_) => return (text, false),
        }
    }
    (text, true)
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_not_read_count_until_they_are() {
    let config =
        || EndpointConfig::new().body_limit(1 << 19).caller_request_budget(3 << 20).stream_limit(1000);
    // Also as one JSON text, and without the events that are remembered.
    for config in [config(), config().legacy_answer(AnswerForm::Json), config().event_store(None)] {
        let mut crowd = Crowd::start(config);
        let (hostile, polite) = (crowd.client(1).open().await, crowd.client(2).open().await);
        let large = |id| hostile.ask(id, "large", json!({ "n": 1_000_000 }));
        let mut unread = Vec::new();
        for id in 1..=4 {
            unread.push(large(id).await);
        }
        let refused = large(5).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(polite.echo(1).await, StatusCode::OK);
        // What is given up makes room, and so does what is read, once the last of it has been written.
        drop(unread.pop());
        drop(unread.pop());
        let (text, ended) = rest(unread.pop().unwrap()).await;
        assert!(ended && text.len() > 1_000_000);
        for id in 10..20 {
            assert!(rest(large(id).await).await.0.contains("yyy"));
        }
    }
}

/// Twenty requests are taken before the first is answered, and so are their answers made, as far as there is room.
#[tokio::test(start_paused = true)]
async fn an_answer_for_which_there_is_no_room_is_an_error() {
    let go = Arc::new(Semaphore::new(0));
    let going = go.clone();
    let config = EndpointConfig::new().body_limit(1 << 19).caller_request_budget(3 << 20);
    let endpoint = Endpoint::serving(
        config,
        Inline(move |mut connection: Connection| {
            let going = going.clone();
            async move {
                let Some(Ok(Packet::Frame { .. })) = connection.next().await else { return };
                going.acquire().await.unwrap().forget();
                let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": "y".repeat(1_000_000) });
                let _ = connection.send(Packet::from_json(&answer.to_string())).await;
            }
        }),
    );
    let call = |address: u8| {
        let request =
            Request::post("/").header("host", "localhost").header("content-type", "application/json");
        let request = request.header(VERSION.0, VERSION.1).header("mcp-method", "x");
        let mut request = request.body(Full::new(Bytes::from(modern(1, "x", json!({}))))).unwrap();
        request.extensions_mut().insert(RemoteAddr::new(([127, 0, 0, address], 50_000).into()));
        let mut endpoint = endpoint.clone();
        async move { endpoint.call(request).await.unwrap() }
    };
    let mut waiting: Vec<_> = (0..20).map(|_| Box::pin(call(1))).collect();
    for waiting in &mut waiting {
        assert!(waiting.now_or_never().is_none());
    }
    go.add_permits(21);
    let answers = futures::future::join_all(waiting).await;
    // No client has read until here.
    let (mut large, mut refused) = (0, 0);
    for answer in answers {
        let (text, ended) = rest(answer).await;
        assert!(ended);
        large += usize::from(text.len() > 1_000_000);
        refused += usize::from(text.contains("no room") && text.contains("3145728"));
    }
    assert!((3..=4).contains(&large) && large + refused == 20, "{large} and {refused}");
    assert!(rest(call(2).await).await.0.len() > 1_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_fills_the_event_store_makes_no_other_lose_events() {
    let store = Arc::new(MemoryEventStore::new(&StoreLimits::new().session_events(1 << 20).events(2 << 20)));
    let mut crowd = Crowd::start(EndpointConfig::new().event_store(Some(store)));
    let mut hostile = Vec::new();
    for _ in 0..17 {
        hostile.push(crowd.client(1).open().await);
    }
    for session in &hostile {
        for id in 1..300 {
            assert_eq!(session.echo_padded(id, &"x".repeat(1000)).await, StatusCode::OK);
        }
    }
    let polite = crowd.client(2).open().await;
    let lost = polite.lose_answer(1, "what was said").await;
    for session in &hostile {
        session.echo_padded(1, &"x".repeat(1000)).await;
    }
    assert!(polite.resume(&lost).await.contains("what was said"));
}

/// A day has 86,400 ticks, and what is kept must not depend on how many have passed.
#[tokio::test(start_paused = true)]
async fn sessions_are_idle_by_the_clock_for_days() {
    sessions_are_idle_by_the_clock(2).await;
}

mod long {
    use super::*;

    #[tokio::test(start_paused = true)]
    #[ignore = "takes minutes: cargo xtask ci long"]
    async fn sessions_are_idle_by_the_clock_for_months() {
        sessions_are_idle_by_the_clock(60).await;
    }

    #[tokio::test(start_paused = true)]
    #[ignore = "takes minutes: cargo xtask ci long"]
    async fn polite_clients_are_served_beside_a_hostile_one_for_hours() {
        polite_clients_are_served(240).await;
    }
}

async fn sessions_are_idle_by_the_clock(days: u64) {
    let mut crowd =
        Crowd::start(EndpointConfig::new().idle(DAY).keep_alive(DAY / 2).stall(DAY).slow_reader_timeout(DAY));
    let daily = crowd.client(1).open().await;
    let listening = crowd.client(2).open().await;
    let stream = listening.listen().await;
    let silent = crowd.client(3).open().await;
    for day in 1..=days {
        tokio::time::sleep(DAY - Duration::from_secs(3600)).await;
        assert_eq!(daily.echo(day).await, StatusCode::OK, "day {day}");
        crowd.client(4).initialize().await;
    }
    assert_eq!(silent.echo(1).await, StatusCode::NOT_FOUND);
    assert_eq!(listening.echo(1).await, StatusCode::OK);
    drop(stream);
    tokio::time::sleep(DAY + Duration::from_secs(60)).await;
    assert_eq!(daily.echo(99).await, StatusCode::NOT_FOUND);
    assert_eq!(crowd.sessions(), 0);
}

#[tokio::test(start_paused = true)]
async fn polite_clients_are_served_beside_a_hostile_one() {
    polite_clients_are_served(15).await;
}

/// One client does all that it may, for so long; the others are answered all the while.
async fn polite_clients_are_served(minutes: u64) {
    let mut crowd = Crowd::start(EndpointConfig::new());
    let polite: Vec<Client> =
        futures::future::join_all((10..20).map(|address| crowd.client(address).open())).await;
    let hostile = crowd.client(1).open().await;
    let mut held = Vec::new();
    for minute in 1..=minutes {
        for _ in 0..100 {
            crowd.client(1).initialize().await;
            held.extend(hostile.begin_body(None, 3 << 20).await);
        }
        for id in 0..50 {
            hostile.echo_padded(minute * 1000 + id, &"x".repeat(10_000)).await;
        }
        for client in &polite {
            assert_eq!(client.echo(minute).await, StatusCode::OK, "minute {minute}");
        }
        let late = crowd.client(2).open().await;
        assert_eq!(late.echo(1).await, StatusCode::OK, "minute {minute}");
        late.delete().await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        held.retain(|response| !response.is_finished());
    }
}

/// A store that fails at everything.
#[derive(Debug)]
struct Panics;

impl EventStore for Panics {
    fn open(&self, _: SessionId, _: Option<&str>) {
        panic!("open");
    }

    fn begin(&self, _: SessionId, _: u64, _: StreamRun) -> Durable {
        panic!("begin");
    }

    fn append(&self, _: SessionId, _: Event, _: bool) -> Durable {
        panic!("append");
    }

    fn end(&self, _: SessionId, _: u64) -> Durable {
        panic!("end");
    }

    fn replay(&self, _: SessionId, _: EventId, _: usize) -> BoxFuture<'static, Result<Replay, StoreError>> {
        Box::pin(async { panic!("replay") })
    }

    fn take_over(
        &self,
        _: SessionId,
        _: u64,
        _: Option<Bytes>,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        panic!("take_over")
    }

    fn forget(&self, _: SessionId) {
        panic!("forget");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_store_that_panics_ends_nothing_else() {
    let mut crowd = Crowd::start(EndpointConfig::new().event_store(Some(Arc::new(Panics))));
    let client = crowd.client(1).open().await;
    assert_eq!(client.echo(1).await, StatusCode::OK);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(client.echo(2).await, StatusCode::OK);
    assert_eq!(client.try_resume("1-0").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    client.delete().await;
    assert_eq!(crowd.client(2).open().await.echo(1).await, StatusCode::OK);
}
