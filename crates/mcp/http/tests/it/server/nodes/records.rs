//! The content of a session's record, and how long it lives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_transport_http::server::EndpointConfig;
use http::StatusCode;
use serde_json::{Value, json};

use super::super::script::{Heard, initialize, notification, request};
use super::cluster::{Cluster, id, messages, rest, with_principals};

const MINUTE: Duration = Duration::from_secs(60);

fn set_level(level: &str) -> String {
    request(1, "logging/setLevel", json!({"level": level}))
}

fn subscribe(uri: &str) -> String {
    request(2, "resources/subscribe", json!({"uri": uri}))
}

impl Cluster {
    /// The params of the messages of a record, without the first.
    async fn recorded(&self, session: &str) -> Vec<Value> {
        let record = self.stores.records.load(id(session)).await.unwrap().unwrap();
        let params = |message: &agentwire_jsonrpc::RawJson| {
            message.member("params").map_or(Value::Null, |params| params.decode().unwrap())
        };
        record.messages.iter().skip(1).map(params).collect()
    }

    async fn has_record(&self, session: &str) -> bool {
        self.stores.records.load(id(session)).await.unwrap().is_some()
    }

    async fn open_as(&mut self, at: usize, token: &str) -> Result<String, StatusCode> {
        let token = format!("Bearer {token}");
        let opened = self.call(at, "POST", &[("authorization", &*token)], &initialize("2025-11-25")).await;
        let session = opened.headers().get("mcp-session-id").ok_or(opened.status())?;
        Ok(session.to_str().unwrap().to_owned())
    }

    async fn post_as(&mut self, at: usize, token: &str, session: &str, body: &str) -> (StatusCode, String) {
        let token = format!("Bearer {token}");
        let headers = [("authorization", &*token), ("mcp-session-id", session)];
        let response = self.call(at, "POST", &headers, body).await;
        (response.status(), rest(response).await)
    }
}

#[tokio::test(start_paused = true)]
async fn refused_change_is_not_in_the_record() {
    let mut cluster = Cluster::start(1, EndpointConfig::new().subscription_limit(2)).await;
    let session = cluster.open(0).await;
    for message in [set_level("info"), set_level("bogus"), subscribe("a:1"), subscribe("a:2")] {
        assert_eq!(cluster.post(0, &session, &message).await.status(), StatusCode::OK);
    }
    rest(cluster.post(0, &session, &request(3, "resources/unsubscribe", json!({"uri": "a:2"}))).await).await;
    for number in 0..3 {
        let text = rest(cluster.post(0, &session, &subscribe(&format!("no:{number}"))).await).await;
        assert_eq!(messages(&text)[0]["error"]["code"], -32602);
    }
    let recorded = [Value::Null, json!({"level": "info"}), json!({"uri": "a:1"})];
    assert_eq!(cluster.recorded(&session).await, recorded);
    rest(cluster.post(0, &session, &subscribe("a:3")).await).await;
    assert_eq!(cluster.recorded(&session).await.last(), Some(&json!({"uri": "a:3"})));
}

#[tokio::test(start_paused = true)]
async fn response_waits_until_the_record_has_the_change() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    cluster.faults.stall(true);
    let mut answers = Vec::new();
    for (number, level) in ["info", "error"].into_iter().enumerate() {
        let message = request(number, "logging/setLevel", json!({ "level": level }));
        answers.push(tokio::spawn(rest(cluster.post(0, &session, &message).await)));
    }
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    tokio::time::sleep(MINUTE / 2).await;
    assert!(answers.iter().all(|answer| !answer.is_finished()));
    cluster.faults.stall(false);
    for (answer, level) in answers.into_iter().zip(["info", "error"]) {
        assert_eq!(messages(&answer.await.unwrap())[0]["result"]["level"], level);
    }
    assert_eq!(cluster.recorded(&session).await, [Value::Null, json!({"level": "error"})]);
}

const INITIALIZED: &str = "notifications/initialized";

/// The client may have notified a node that has died while the store was away.
#[tokio::test(start_paused = true)]
async fn a_request_shows_every_node_that_the_client_is_ready() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.opened(0).await;
    rest(cluster.post(1, &session, &request(1, "ping", json!({}))).await).await;
    let _listening = cluster.get(2, &session, None).await.into_body();
    assert_eq!(cluster.methods(1), ["initialize", "ping"]);
    for _ in 0..2 {
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    }
    assert_eq!(cluster.methods(1), [INITIALIZED, "echo", "echo"]);
    assert_eq!(cluster.methods(2), ["initialize"]);
    // The record has it at the next tick.
    for at in [0, 2] {
        cluster.hears(at, &Heard::Message(INITIALIZED.into())).await;
    }
    assert_eq!(cluster.recorded(&session).await, [Value::Null]);
    // No service receives it twice.
    for at in 0..3 {
        let again = cluster.post(at, &session, &notification(INITIALIZED)).await;
        assert_eq!(again.status(), StatusCode::ACCEPTED);
        assert_eq!(cluster.echo(at, &session).await, StatusCode::OK);
        assert_eq!(cluster.methods(at), ["echo"], "node {at}");
    }
}

/// Each node notifies the others of a change whose outcome it does not know. They only read the record.
#[tokio::test(start_paused = true)]
async fn nodes_do_not_notify_each_other_of_a_change_endlessly() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.opened(0).await;
    rest(cluster.post(1, &session, &request(1, "ping", json!({}))).await).await;
    cluster.faults.unwritable(true);
    for at in [0, 1] {
        assert_eq!(cluster.echo(at, &session).await, StatusCode::OK);
    }
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let updates = cluster.faults.updates();
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert!(cluster.faults.updates() <= updates + 4, "{updates}, then {}", cluster.faults.updates());
    }
    cluster.faults.unwritable(false);
    tokio::time::sleep(5 * MINUTE).await;
    assert_eq!(cluster.recorded(&session).await, [Value::Null]);
}

/// A client may open its GET at one node while it notifies another that it is ready.
#[tokio::test(start_paused = true)]
async fn node_that_loads_a_session_learns_that_its_client_is_ready() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.opened(0).await;
    // Messages between nodes are lost, as those are for a session that is not loaded yet.
    cluster.faults.lose_messages(true);
    let _listening = cluster.get(1, &session, None).await.into_body();
    assert_eq!(cluster.post(0, &session, &notification(INITIALIZED)).await.status(), StatusCode::ACCEPTED);
    cluster.hears(1, &Heard::Message(INITIALIZED.into())).await;
}

#[tokio::test(start_paused = true)]
async fn readiness_of_a_client_is_stored_once_the_store_accepts_it() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    for is_away in [true, false] {
        let session = cluster.opened(0).await;
        let faults = cluster.faults.clone();
        let fail = |fails| if is_away { faults.away(fails) } else { faults.full(fails) };
        fail(true);
        for _ in 0..2 {
            let ready = cluster.post(0, &session, &notification(INITIALIZED)).await;
            assert_eq!(ready.status(), StatusCode::ACCEPTED, "a session that is known goes on");
        }
        assert_eq!(cluster.methods(0), ["initialize", INITIALIZED]);
        let updates = faults.updates();
        tokio::time::sleep(MINUTE).await;
        // A store without room is not asked at each tick.
        assert!(is_away || faults.updates() <= updates + 1, "{} of {updates}", faults.updates());
        fail(false);
        let _listening = cluster.get(1, &session, None).await.into_body();
        if !is_away {
            tokio::time::sleep(5 * MINUTE).await;
        }
        cluster.hears(1, &Heard::Message(INITIALIZED.into())).await;
        cluster.heard(0);
    }
}

#[tokio::test(start_paused = true)]
async fn change_without_room_in_the_store_is_undone() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    cluster.faults.full(true);
    cluster.heard(0);
    let text = rest(cluster.post(0, &session, &subscribe("a:1")).await).await;
    assert_eq!(messages(&text)[0]["error"]["code"], -32603, "{text}");
    cluster.hears(0, &Heard::Message("resources/unsubscribe".into())).await;
    cluster.faults.full(false);
    assert_eq!(cluster.recorded(&session).await, [Value::Null]);
}

/// The memory of records counts for the caller that fills them.
#[tokio::test(start_paused = true)]
async fn a_caller_has_a_share_of_the_memory_for_records() {
    let config = with_principals().subscription_limit(2).record_limit(1000).record_budget(16_000);
    let mut cluster = Cluster::start(1, config).await;
    let mut sessions = Vec::new();
    let refused = loop {
        match cluster.open_as(0, "eve").await {
            Ok(session) => sessions.push(session),
            Err(status) => break status,
        }
    };
    assert_eq!(refused, StatusCode::SERVICE_UNAVAILABLE);
    assert!((5..12).contains(&sessions.len()), "{}", sessions.len());
    let larger = set_level(&"x".repeat(600));
    let (status, _) = cluster.post_as(0, "eve", &sessions[0], &larger).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let session = cluster.open_as(0, "ann").await.unwrap();
    assert_eq!(cluster.post_as(0, "ann", &session, &larger).await.0, StatusCode::OK);
    // What a session that has ended took is free.
    let ended = [("authorization", "Bearer eve"), ("mcp-session-id", &*sessions[1])];
    assert_eq!(cluster.call(0, "DELETE", &ended, "").await.status(), StatusCode::NO_CONTENT);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(cluster.open_as(0, "eve").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn unused_session_leaves_no_record() {
    let mut cluster = Cluster::start(2, with_principals().caller_session_limit(3)).await;
    let used = cluster.open_as(0, "eve").await.unwrap();
    // At another node, and without `initialized`.
    let echo = request(1, "echo", json!({}));
    assert_eq!(cluster.post_as(1, "eve", &used, &echo).await.0, StatusCode::OK);
    let mut sessions = Vec::new();
    for _ in 0..10 {
        sessions.push(cluster.open_as(0, "eve").await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut left = Vec::new();
    for session in &sessions {
        left.push(cluster.has_record(session).await);
    }
    assert_eq!(left, [[false; 7].as_slice(), &[true; 3]].concat(), "those that were replaced");
    tokio::time::sleep(2 * MINUTE).await;
    for session in &sessions {
        assert!(!cluster.has_record(session).await, "those whose time to begin is over");
    }
    assert!(cluster.has_record(&used).await);
    for at in [0, 1] {
        assert_eq!(cluster.post_as(at, "eve", &used, &echo).await.0, StatusCode::OK, "node {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_has_a_short_life_until_its_session_is_used() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    for at in [0, 1] {
        let opened = cluster.call(0, "POST", &[], &initialize("2025-11-25")).await;
        let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        assert_eq!(cluster.faults.time_to_live(id(&session)), Some(Duration::from_secs(70)));
        cluster.post(at, &session, &notification("notifications/initialized")).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(cluster.faults.time_to_live(id(&session)), Some(30 * MINUTE), "node {at}");
    }
}

/// The client may pause for as long as a session may idle.
#[tokio::test(start_paused = true)]
async fn the_use_of_a_session_is_stored_once_the_store_is_back() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    tokio::time::sleep(MINUTE).await;
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    cluster.faults.away(true);
    let before = cluster.faults.touches();
    tokio::time::sleep(7 * MINUTE).await;
    let tried = cluster.faults.touches() - before;
    assert!((1..=3).contains(&tried), "{tried}");
    cluster.faults.away(false);
    let before = cluster.faults.touches();
    tokio::time::sleep(7 * MINUTE).await;
    assert_eq!(cluster.faults.touches(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn slow_store_does_not_get_more_and_more_requests() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.opened(0).await;
    cluster.faults.stall(true);
    let ready = notification(INITIALIZED);
    let taken = tokio::time::timeout(Duration::from_secs(1), cluster.post(0, &session, &ready)).await;
    assert!(taken.is_err(), "it waits for the store");
    tokio::time::sleep(MINUTE).await;
    assert_eq!(cluster.faults.touches(), 1);
    cluster.faults.stall(false);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
}

/// The client has left before a node could notify the others, and repeats its message at another node.
#[tokio::test(start_paused = true)]
async fn repeated_notification_reaches_all_nodes() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.opened(0).await;
    let _listening = cluster.get(1, &session, None).await.into_body();
    tokio::time::sleep(Duration::from_secs(5)).await;
    cluster.faults.lose_messages(true);
    assert_eq!(cluster.post(2, &session, &notification(INITIALIZED)).await.status(), StatusCode::ACCEPTED);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(cluster.methods(1), ["initialize"]);
    cluster.faults.lose_messages(false);
    assert_eq!(cluster.post(0, &session, &notification(INITIALIZED)).await.status(), StatusCode::ACCEPTED);
    cluster.hears(1, &Heard::Message(INITIALIZED.into())).await;
}

#[tokio::test(start_paused = true)]
async fn stolen_id_keeps_no_record_alive_and_is_reported() {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let received = warnings.clone();
    let warn = move |warning: agentwire_transport_http::server::EndpointWarning| {
        received.lock().unwrap().push(warning.to_string());
    };
    let mut cluster = Cluster::start(2, with_principals().on_warning(warn)).await;
    let session = cluster.open_as(0, "ann").await.unwrap();
    let short = cluster.faults.time_to_live(id(&session)).unwrap();
    let echo = request(1, "echo", json!({}));
    for at in [1, 0, 1] {
        assert_eq!(cluster.post_as(at, "bob", &session, &echo).await.0, StatusCode::NOT_FOUND, "node {at}");
    }
    assert_eq!(cluster.faults.time_to_live(id(&session)), Some(short));
    let expected = r#"a request of "bob" named a session of another principal, whose id may be stolen"#;
    assert_eq!(*warnings.lock().unwrap(), [expected], "at most one in a second");
    assert_eq!(cluster.post_as(1, "ann", &session, &echo).await.0, StatusCode::OK);
    assert_eq!(warnings.lock().unwrap().len(), 1);
}
