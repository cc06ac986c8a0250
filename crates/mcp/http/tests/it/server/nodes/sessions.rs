//! Sessions that continue at other nodes.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use agentwire_store::{BusEvent, BusMessage, NodeListener, SessionId};
use agentwire_transport_http::server::{EndpointConfig, EndpointWarning};
use http::StatusCode;
use serde_json::json;
use tokio::time::timeout;

use super::super::script::{Heard, initialize, notification, request};
use super::super::time::{call, piece};
use super::cluster::{Cluster, id, last_id, rest, with_principals};

const MINUTE: Duration = Duration::from_secs(60);

fn messages_of(heard: Vec<Heard>) -> Vec<String> {
    let message = |heard| if let Heard::Message(method) = heard { Some(method) } else { None };
    heard.into_iter().filter_map(message).collect()
}

#[tokio::test(start_paused = true)]
async fn session_continues_at_any_node_until_it_is_deleted_at_one() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let subscribe = |uri| request(3, "resources/subscribe", json!({"uri": uri}));
    for message in [
        request(1, "logging/setLevel", json!({"level": "error"})),
        request(2, "logging/setLevel", json!({"level": "info"})),
        subscribe("a:1"),
        subscribe("a:2"),
        request(4, "resources/unsubscribe", json!({"uri": "a:1"})),
    ] {
        rest(cluster.post(0, &session, &message).await).await;
    }
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    let again =
        ["initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe", "echo"];
    assert_eq!(messages_of(cluster.heard(1)), again);
    // A change that a client requests at one node reaches the others that have the session.
    cluster.heard(0);
    rest(cluster.post(1, &session, &subscribe("a:3")).await).await;
    cluster.hears(0, &Heard::Message("resources/subscribe".into())).await;
    rest(cluster.post(0, &session, &request(5, "resources/unsubscribe", json!({"uri": "a:3"}))).await).await;
    cluster.hears(1, &Heard::Message("resources/unsubscribe".into())).await;

    assert_eq!(cluster.echo(2, &session).await, StatusCode::OK);
    assert_eq!(cluster.delete(2, &session).await, StatusCode::NO_CONTENT);
    for at in 0..3 {
        cluster.hears(at, &Heard::Ended).await;
        assert_eq!(cluster.echo(at, &session).await, StatusCode::NOT_FOUND, "node {at}");
    }
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn a_node_deletes_a_session_that_it_does_not_have() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    assert_eq!(cluster.delete(1, &session).await, StatusCode::NO_CONTENT);
    cluster.hears(0, &Heard::Ended).await;
    assert_eq!(cluster.echo(0, &session).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.heard(1), []);
}

#[tokio::test(start_paused = true)]
async fn a_delete_is_answered_once_the_other_nodes_have_the_message() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    for client_leaves in [false, true] {
        let session = cluster.open(0).await;
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
        cluster.faults.hold_messages(true);
        let headers = [("mcp-session-id", session.as_str())];
        let mut deleting = Box::pin(call(&mut cluster.replicas[0].endpoint, "DELETE", &headers, ""));
        assert!(timeout(Duration::from_secs(5), &mut deleting).await.is_err(), "the message is not out yet");
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
        cluster.heard(1);
        if client_leaves {
            drop(deleting);
            cluster.faults.hold_messages(false);
        } else {
            cluster.faults.hold_messages(false);
            assert_eq!(deleting.await.status(), StatusCode::NO_CONTENT);
        }
        cluster.hears(1, &Heard::Ended).await;
        assert_eq!(cluster.echo(1, &session).await, StatusCode::NOT_FOUND);
    }
    // If the store refuses messages, the others learn of the end once it accepts them again.
    let session = cluster.open(0).await;
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    cluster.faults.refuse_messages(true);
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    cluster.heard(1);
    cluster.faults.refuse_messages(false);
    cluster.hears(1, &Heard::Ended).await;
    assert_eq!(cluster.echo(1, &session).await, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_only_for_the_principal_that_has_opened_it() {
    let mut cluster = Cluster::start(2, with_principals()).await;
    let ann = ("authorization", "Bearer ann");
    let response = cluster.call(0, "POST", &[ann], &initialize("2025-11-25")).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let bob = [("authorization", "Bearer bob"), ("mcp-session-id", &*session)];
    let echo = request(1, "echo", json!({}));
    for at in [0, 1] {
        assert_eq!(cluster.call(at, "POST", &bob, &echo).await.status(), StatusCode::NOT_FOUND);
        assert_eq!(cluster.call(at, "GET", &bob, "").await.status(), StatusCode::NOT_FOUND);
        assert_eq!(cluster.call(at, "DELETE", &bob, "").await.status(), StatusCode::NOT_FOUND);
        let own = [ann, ("mcp-session-id", &*session)];
        assert_eq!(cluster.call(at, "POST", &own, &echo).await.status(), StatusCode::OK, "node {at}");
        assert_eq!(cluster.call(at, "POST", &bob, &echo).await.status(), StatusCode::NOT_FOUND);
    }
}

/// The store fails over to a replica that has not got the deletion.
#[tokio::test(start_paused = true)]
async fn session_that_a_failover_brings_back_has_ended_at_each_node() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let record = cluster.stores.records.load(id(&session)).await.unwrap().unwrap();
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
    for at in [0, 1] {
        let (records, record) = (&cluster.stores.records, record.clone());
        records.create(id(&session), record, Duration::from_secs(3600)).await.unwrap();
        assert_eq!(cluster.echo(at, &session).await, StatusCode::NOT_FOUND, "node {at}");
        assert_eq!(cluster.stores.records.load(id(&session)).await.unwrap(), None, "it is deleted again");
    }
}

/// The failover loses the deletion and the message of it, while the session is open at another node.
#[tokio::test(start_paused = true)]
async fn session_that_a_failover_brings_back_ends_where_it_is_open() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    let record = cluster.stores.records.load(id(&session)).await.unwrap().unwrap();
    cluster.faults.lose_messages(true);
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
    cluster.faults.lose_messages(false);
    cluster.stores.records.create(id(&session), record, Duration::from_secs(3600)).await.unwrap();
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK, "nothing tells the node so far");
    // The store of records is back later than that of leases.
    cluster.faults.away(true);
    cluster.leases.expire(cluster.replicas[0].node.id());
    tokio::time::sleep(Duration::from_secs(30)).await;
    cluster.faults.away(false);
    cluster.hears(1, &Heard::Ended).await;
    assert_eq!(cluster.echo(1, &session).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.stores.records.load(id(&session)).await.unwrap(), None, "no later node finds it");
}

#[tokio::test(start_paused = true)]
async fn failing_store_is_reported_once_and_new_sessions_get_503() {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let receiver = warnings.clone();
    let warn = move |warning: EndpointWarning| receiver.lock().unwrap().push(warning.to_string());
    let mut cluster = Cluster::start(1, EndpointConfig::new().on_warning(warn)).await;
    cluster.faults.away(true);
    for _ in 0..3 {
        let refused = cluster.call(0, "POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "1");
    }
    let why = "requests get 503, because the shared store fails: the store is unavailable: a test";
    assert_eq!(*warnings.lock().unwrap(), [why]);
}

#[tokio::test(start_paused = true)]
async fn many_requests_at_once_load_a_session_once() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let headers = [("mcp-session-id", session.as_str())];
    let calls: Vec<_> = (0..40)
        .map(|id| {
            let echo = request(id, "echo", json!({"said": id}));
            call(&mut cluster.replicas[1].endpoint, "POST", &headers, &echo)
        })
        .collect();
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer.status(), StatusCode::OK);
    }
    let opened = cluster.heard(1).into_iter().filter(|heard| matches!(heard, Heard::Opened { .. }));
    assert_eq!(opened.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_the_store_open_sessions_continue_and_others_get_503() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    cluster.faults.away(true);
    // More requests than there are numbers for streams.
    for _ in 0..200 {
        assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    }
    let level = request(1, "logging/setLevel", json!({"level": "info"}));
    let answer = rest(cluster.post(0, &session, &level).await).await;
    assert!(
        answer.contains(r#""error":"#) && !answer.contains(r#""result":"#),
        "it would be lost with the node: {answer}"
    );
    for refused in [
        cluster.post(1, &session, &request(1, "echo", json!({}))).await,
        cluster.get(1, &session, None).await,
        cluster.call(1, "DELETE", &[("mcp-session-id", session.as_str())], "").await,
        cluster.call(1, "POST", &[], &initialize("2025-11-25")).await,
    ] {
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "1");
        assert!(!refused.headers().contains_key("mcp-session-id"));
    }
    cluster.faults.away(false);
    tokio::time::sleep(Duration::from_secs(3)).await;
    cluster.heard(1);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    let expected = ["initialize", "notifications/initialized", "echo"];
    assert_eq!(messages_of(cluster.heard(1)), expected);
    let answer = rest(cluster.post(0, &session, &level).await).await;
    assert!(answer.contains(r#""result":"#), "{answer}");
    cluster.hears(1, &Heard::Message("logging/setLevel".to_owned())).await;
}

#[tokio::test(start_paused = true)]
async fn subscriptions_of_a_client_are_limited() {
    let mut cluster = Cluster::start(1, EndpointConfig::new().subscription_limit(2).record_limit(2000)).await;
    let session = cluster.open(0).await;
    let mut statuses = Vec::new();
    for uri in ["a:1", "a:2", "a:2", "a:3"] {
        let subscribe = request(3, "resources/subscribe", json!({"uri": uri}));
        statuses.push(cluster.post(0, &session, &subscribe).await.status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 429]);
    let long = request(3, "logging/setLevel", json!({"level": "x".repeat(2000)}));
    assert_eq!(cluster.post(0, &session, &long).await.status(), StatusCode::TOO_MANY_REQUESTS);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"x": "x".repeat(2000)}});
    let long = cluster.call(0, "POST", &[], &request(0, "initialize", params)).await;
    assert_eq!(long.status(), StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_missed_the_end_of_a_session_learns_of_it() {
    let mut cluster = Cluster::start(1, EndpointConfig::new().idle(10 * MINUTE)).await;
    let session = cluster.open(0).await;
    assert!(cluster.stores.records.delete(id(&session)).await.unwrap());
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(cluster.echo(0, &session).await);
        tokio::time::sleep(MINUTE).await;
    }
    assert_eq!((statuses[0], statuses[3]), (StatusCode::OK, StatusCode::NOT_FOUND));
}

#[derive(Default)]
struct Ends(Mutex<Vec<SessionId>>);

impl NodeListener for Ends {
    fn on_event(&self, event: &BusEvent) {
        if let BusEvent::Message(BusMessage::SessionEnded(session)) = event {
            self.0.lock().unwrap().push(*session);
        }
    }
}

/// All parts of a session in a process end with it, and not with its connection at one node.
#[tokio::test(start_paused = true)]
async fn every_part_of_a_process_learns_of_the_end_of_a_session() {
    let mut cluster = Cluster::start(2, EndpointConfig::new().idle(10 * MINUTE)).await;
    let ends = [0, 1].map(|at| {
        let ends = Arc::new(Ends::default());
        let listener: Weak<dyn NodeListener> = Arc::<Ends>::downgrade(&ends);
        cluster.replicas[at].node.listen(listener);
        ends
    });
    let heard = || [0, 1].map(|at: usize| std::mem::take(&mut *ends[at].0.lock().unwrap()));
    let session = cluster.open(0).await;
    for _ in 0..20 {
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
        tokio::time::sleep(MINUTE).await;
    }
    assert_eq!(heard(), [vec![], vec![]], "one node has dropped its connection");
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
    tokio::time::sleep(MINUTE).await;
    assert_eq!(heard(), [vec![id(&session)], vec![id(&session)]]);

    let session = cluster.open(0).await;
    assert!(cluster.stores.records.delete(id(&session)).await.unwrap());
    for _ in 0..4 {
        cluster.echo(0, &session).await;
        tokio::time::sleep(MINUTE).await;
    }
    assert_eq!(heard()[0], [id(&session)], "it has found out");
}

#[tokio::test(start_paused = true)]
async fn session_that_idles_at_one_node_continues_at_another() {
    let mut cluster = Cluster::start(2, EndpointConfig::new().idle(10 * MINUTE)).await;
    let session = cluster.open(0).await;
    for _ in 0..20 {
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
        tokio::time::sleep(MINUTE).await;
    }
    assert!(cluster.heard(0).contains(&Heard::Ended));
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_refused_session_leaves_no_record_and_a_node_that_shuts_down_ends_none() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let refused = cluster.call(0, "POST", &[], &initialize("refuse")).await;
    assert!(!refused.headers().contains_key("mcp-session-id"));
    let session = cluster.open(0).await;
    let mut listening = cluster.get(0, &session, None).await.into_body();
    let primed = last_id(&piece(&mut listening).await.unwrap());
    let endpoint = cluster.replicas[0].endpoint.clone();
    let shutdown = tokio::spawn(endpoint.shutdown(MINUTE));
    assert_eq!(piece(&mut listening).await.as_deref(), Some("retry: 100\n\n"));
    assert_eq!(piece(&mut listening).await, None);
    drop(listening);
    shutdown.await.unwrap();
    assert_eq!(cluster.echo(0, &session).await, StatusCode::SERVICE_UNAVAILABLE);
    cluster.replicas[0].node.release().await.unwrap();
    let mut moved = cluster.get(1, &session, Some(&primed)).await;
    assert_eq!(moved.status(), StatusCode::OK);
    rest(cluster.post(1, &session, &request(2, "announce", json!({"at": 2}))).await).await;
    let mut text = String::new();
    while !text.contains("changed") {
        text += &piece(moved.body_mut()).await.unwrap();
    }
    let ended = cluster.post(0, &session, &notification("x")).await;
    assert_eq!(ended.status(), StatusCode::SERVICE_UNAVAILABLE, "never 404");
}

#[tokio::test(start_paused = true)]
async fn late_end_does_not_end_the_session_that_was_loaded_since() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    // Its service fails at one node, and the session is loaded there again, more than once.
    for _ in 0..3 {
        let failed = cluster.post(1, &session, &request(1, "panic", json!({}))).await;
        rest(failed).await;
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    }
    let opened = cluster.heard(1).into_iter().filter(|heard| matches!(heard, Heard::Opened { .. }));
    assert_eq!(opened.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn changes_that_the_engine_has_lost_are_stored_again() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let records = cluster.stores.records.clone();
    let before = records.load(id(&session)).await.unwrap().unwrap();
    let subscribe = |uri| request(3, "resources/subscribe", json!({"uri": uri}));
    for uri in ["a:1", "a:2"] {
        rest(cluster.post(0, &session, &subscribe(uri)).await).await;
    }
    records.delete(id(&session)).await.unwrap();
    records.create(id(&session), before.clone(), 60 * MINUTE).await.unwrap();
    // An engine that has failed leaves numbers of streams out.
    records.take_streams(id(&session), 1000).await.unwrap();
    let later = cluster.post(0, &session, &subscribe("a:3")).await;
    assert_eq!(later.status(), StatusCode::OK);
    rest(later).await;
    let after = records.load(id(&session)).await.unwrap().unwrap();
    assert_eq!(after.messages.len(), before.messages.len() + 3);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    let subscribed = messages_of(cluster.heard(1)).into_iter().filter(|m| m == "resources/subscribe");
    assert_eq!(subscribed.count(), 3);
}
