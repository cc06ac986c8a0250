//! Nodes that share keys and no store: the id of a session contains its sealed state.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_seal::SealingKeys;
use agentwire_store::{Clock, Node, StoreLimits, Stores};
use agentwire_transport_http::server::{EndpointConfig, EndpointWarning, SealedSessions};
use http::StatusCode;
use serde_json::{Value, json};

use super::super::script::{Heard, initialize, notification, request};
use super::super::time::{call, piece};
use super::cluster::{Cluster, id, last_id, messages, rest, with_principals};

const INITIALIZED: &str = "notifications/initialized";

pub(super) fn sealed() -> SealedSessions {
    SealedSessions::new(SealingKeys::new([7; 32]))
}

impl Cluster {
    /// Nodes that share keys alone.
    async fn sealed(nodes: usize) -> Self {
        let config = EndpointConfig::new().sealed_sessions(sealed());
        Self::start_with(vec![config; nodes], |config, _| config).await
    }

    /// Opens a session at a node, without `notifications/initialized`.
    pub(super) async fn opened(&mut self, at: usize) -> String {
        let response = self.call(at, "POST", &[], &initialize("2025-11-25")).await;
        response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
    }

    /// The methods that a node has received.
    pub(super) fn methods(&mut self, at: usize) -> Vec<String> {
        let method = |heard| if let Heard::Message(method) = heard { Some(method) } else { None };
        self.heard(at).into_iter().filter_map(method).collect()
    }
}

fn answer(id: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}}).to_string()
}

#[tokio::test(start_paused = true)]
async fn session_continues_at_any_node_and_after_a_restart() {
    let mut cluster = Cluster::sealed(2).await;
    let session = cluster.open(0).await;
    let level = request(1, "logging/setLevel", json!({"level": "error"}));
    rest(cluster.post(0, &session, &level).await).await;
    for _ in 0..2 {
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    }
    assert_eq!(cluster.methods(1), ["initialize", INITIALIZED, "echo", "echo"]);
    assert_eq!(cluster.methods(0), ["initialize", INITIALIZED, "logging/setLevel"], "nobody tells it");
    let get = cluster.get(1, &session, None).await;
    assert_eq!(get.status(), StatusCode::OK);

    let mut restarted = Cluster::sealed(1).await;
    assert_eq!(restarted.get(0, &session, None).await.status(), StatusCode::OK);
    assert_eq!(restarted.echo(0, &session).await, StatusCode::OK);
    assert_eq!(restarted.methods(0), ["initialize", INITIALIZED, "echo"]);
}

#[tokio::test(start_paused = true)]
async fn each_node_is_notified_once_that_the_client_is_ready() {
    let mut cluster = Cluster::sealed(2).await;
    let session = cluster.opened(0).await;
    for _ in 0..2 {
        let ready = cluster.post(1, &session, &notification(INITIALIZED)).await;
        assert_eq!(ready.status(), StatusCode::ACCEPTED);
    }
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    let ready = cluster.post(0, &session, &notification(INITIALIZED)).await;
    assert_eq!(ready.status(), StatusCode::ACCEPTED);
    for at in [0, 1] {
        assert_eq!(cluster.echo(at, &session).await, StatusCode::OK);
    }
    assert_eq!(cluster.methods(0), ["initialize", INITIALIZED, "echo", "echo"]);
    assert_eq!(cluster.methods(1), ["initialize", INITIALIZED, "echo"]);
}

#[tokio::test(start_paused = true)]
async fn requests_allowed_before_initialized_do_not_make_a_client_ready() {
    let mut cluster = Cluster::sealed(1).await;
    let session = cluster.opened(0).await;
    assert_eq!(cluster.get(0, &session, None).await.status(), StatusCode::OK);
    rest(cluster.post(0, &session, &request(1, "ping", json!({}))).await).await;
    let other = cluster.post(0, &session, &notification("notifications/cancelled")).await;
    assert_eq!(other.status(), StatusCode::ACCEPTED);
    assert_eq!(cluster.methods(0), ["initialize", "ping", "notifications/cancelled"]);
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    assert_eq!(cluster.methods(0), [INITIALIZED, "echo"]);
}

#[tokio::test(start_paused = true)]
async fn batch_notifies_once_that_the_client_is_ready() {
    let mut cluster = Cluster::sealed(1).await;
    let (ready, ping, echo) =
        (notification(INITIALIZED), request(1, "ping", json!({})), request(2, "echo", json!({})));
    for (batches, heard) in [
        (vec![format!("[{ping}]"), format!("[{ping},{echo}]")], vec!["ping", INITIALIZED, "ping", "echo"]),
        (
            vec![format!("[{ready},{echo}]"), format!("[{ready},{echo}]"), format!("[{ready}]")],
            vec![INITIALIZED, "echo", "echo"],
        ),
    ] {
        let response = cluster.call(0, "POST", &[], &initialize("2025-03-26")).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        assert_eq!(cluster.methods(0), ["initialize"]);
        for batch in &batches {
            let response = cluster.post(0, &session, batch).await;
            let expected = if batch.contains(r#""id""#) { StatusCode::OK } else { StatusCode::ACCEPTED };
            assert_eq!(response.status(), expected, "{batch}");
            rest(response).await;
        }
        assert_eq!(cluster.methods(0), heard);
    }
    // One that is refused has no effect.
    let session = cluster.opened(0).await;
    let refused = cluster.post(0, &session, &format!("[{ready},{echo}]")).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(cluster.methods(0), ["initialize"]);
}

/// Behind a balancer all clients are one caller, and all of them come at once after a deploy.
#[tokio::test(start_paused = true)]
async fn all_sessions_of_a_caller_can_be_loaded_at_once() {
    let config = with_principals().sealed_sessions(sealed());
    let mut cluster = Cluster::start_with(vec![config; 2], |config, _| config).await;
    let own = ("authorization", "Bearer balancer");
    let (ready, echo) = (notification(INITIALIZED), request(1, "echo", json!({})));
    let mut sessions = Vec::new();
    for _ in 0..1000 {
        let response = cluster.call(0, "POST", &[own], &initialize("2025-11-25")).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        cluster.call(0, "POST", &[own, ("mcp-session-id", &session)], &ready).await;
        sessions.push(session);
    }
    let began = tokio::time::Instant::now();
    let calls: Vec<_> = sessions
        .iter()
        .map(|session| {
            let headers = [own, ("mcp-session-id", &**session)];
            tokio::spawn(call(&mut cluster.replicas[1].endpoint, "POST", &headers, &echo))
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status(), StatusCode::OK);
    }
    assert_eq!(began.elapsed(), Duration::ZERO, "a place is given as soon as it is free");
}

#[tokio::test(start_paused = true)]
async fn id_that_no_key_has_sealed_is_unknown() {
    let mut cluster = Cluster::sealed(2).await;
    let session = cluster.open(0).await;
    let other = cluster.open(0).await;
    let (digits, seal) = session.split_once('.').unwrap();
    let (other_digits, _) = other.split_once('.').unwrap();
    let last = if seal.ends_with('A') { "Q" } else { "A" };
    let forged = [
        digits.to_owned(),
        format!("{digits}."),
        format!("{digits}.{}", &seal[..seal.len() - 1]),
        format!("{digits}.{}{last}", &seal[..seal.len() - 1]),
        format!("{other_digits}.{seal}"),
        format!("{digits}:{seal}"),
        format!("{digits}.{}", "A".repeat(1000)),
        "0".repeat(32),
        seal.to_owned(),
    ];
    for session in &forged {
        assert_eq!(cluster.echo(1, session).await, StatusCode::NOT_FOUND, "{session}");
        assert_eq!(cluster.get(1, session, None).await.status(), StatusCode::NOT_FOUND, "{session}");
        assert_eq!(cluster.delete(1, session).await, StatusCode::NOT_FOUND, "{session}");
    }
    assert_eq!(cluster.heard(1), []);
    // Where the session is, nothing is opened.
    for session in &forged[..4] {
        assert_eq!(cluster.echo(0, session).await, StatusCode::OK, "{session}");
    }
    // Without keys an id is 32 digits, and with others nothing is opened.
    let other_keys = SealedSessions::new(SealingKeys::new([8; 32]));
    let configs = vec![EndpointConfig::new(), EndpointConfig::new().sealed_sessions(other_keys)];
    let mut others = Cluster::start_with(configs, |config, _| config).await;
    let plain = others.open(0).await;
    assert_eq!(plain.len(), 32);
    for (at, session) in [(0, &session), (1, &session), (0, &format!("{plain}.A"))] {
        assert_eq!(others.echo(at, session).await, StatusCode::NOT_FOUND, "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn forged_seal_disturbs_no_load() {
    let mut cluster = Cluster::sealed(2).await;
    let session = cluster.open(0).await;
    let forged = format!("{}.{}", id(&session[..32]), "A".repeat(100));
    let calls: Vec<_> = (0..40)
        .map(|id| {
            let session = if id % 2 == 0 { &forged } else { &session };
            let (headers, echo) = ([("mcp-session-id", &**session)], request(id, "echo", json!({})));
            call(&mut cluster.replicas[1].endpoint, "POST", &headers, &echo)
        })
        .collect();
    for (id, answer) in futures::future::join_all(calls).await.into_iter().enumerate() {
        // One that comes after the load finds the session.
        let allowed: &[u16] = if id % 2 == 0 { &[404, 200] } else { &[200] };
        assert!(allowed.contains(&answer.status().as_u16()), "{id}: {}", answer.status());
    }
    let opened = cluster.heard(1).into_iter().filter(|heard| matches!(heard, Heard::Opened { .. }));
    assert_eq!(opened.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn session_with_a_long_initialize_stays_at_its_node() {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let received = warnings.clone();
    let config = EndpointConfig::new()
        .sealed_sessions(sealed())
        .on_warning(move |warning| received.lock().unwrap().push(warning));
    let mut cluster = Cluster::start_with(vec![config; 2], |config, _| config).await;
    for (length, size) in [(600, 33..1025), (700, 32..33), (100_000, 32..33)] {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "x": "x".repeat(length)});
        let response = cluster.call(0, "POST", &[], &request(0, "initialize", params)).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        assert!(size.contains(&session.len()), "{length}: {session}");
        assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
        let elsewhere = if session.len() > 32 { StatusCode::OK } else { StatusCode::NOT_FOUND };
        assert_eq!(cluster.echo(1, &session).await, elsewhere);
        assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
        assert_eq!(cluster.echo(0, &session).await, StatusCode::NOT_FOUND);
    }
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "x": "x".repeat(700)}).to_string();
    let expected = EndpointWarning::UnsealedSession { params: params.len(), others: 0 };
    assert_eq!(*warnings.lock().unwrap(), std::slice::from_ref(&expected), "at most one in a second");
    let text = "an initialize has 757 bytes of params, too many for the id of its session, so no other node knows it";
    assert_eq!(expected.to_string(), text);
}

#[tokio::test(start_paused = true)]
async fn nodes_use_different_numbers_for_streams() {
    let mut cluster = Cluster::sealed(2).await;
    let session = cluster.open(0).await;
    let waits = |id| request(id, "wait", json!({}));
    let mut numbers = Vec::new();
    for round in 0..3 {
        for at in [0, 1] {
            let mut body = cluster.post(at, &session, &waits(round * 2 + at)).await.into_body();
            let primed = last_id(&piece(&mut body).await.unwrap());
            drop(body);
            let elsewhere = cluster.get(1 - at, &session, Some(&primed)).await;
            assert_eq!(elsewhere.status(), StatusCode::BAD_REQUEST);
            numbers.push(primed.split_once('-').unwrap().0.to_owned());
            if round == 2 && at == 1 {
                // The script answers the request with the id 5.
                cluster.post(at, &session, &notification("finish")).await;
                let text = rest(cluster.get(at, &session, Some(&primed)).await).await;
                assert_eq!(messages(&text)[0]["result"], "late", "{text}");
            }
        }
    }
    let count = numbers.len();
    numbers.sort();
    numbers.dedup();
    assert_eq!((numbers.len(), count), (6, 6), "{numbers:?}");
}

#[tokio::test(start_paused = true)]
async fn response_for_another_node_resolves_no_request_here() {
    let mut cluster = Cluster::sealed(2).await;
    let session = cluster.open(0).await;
    let (mut bodies, mut asked) = (Vec::new(), Vec::new());
    // Both scripts ask with the same id.
    for at in [0, 1] {
        let mut body = cluster.post(at, &session, &request(1, "ask", json!({}))).await.into_body();
        let mut text = String::new();
        while messages(&text).is_empty() {
            text += &piece(&mut body).await.unwrap();
        }
        bodies.push(body);
        asked.push(messages(&text)[0]["id"].clone());
    }
    assert_ne!(asked[0], asked[1]);
    for at in [0, 1] {
        let wrong = cluster.post(at, &session, &answer(&asked[1 - at])).await;
        assert_eq!(wrong.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(wrong.headers()["retry-after"], "1");
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}});
        let cancelled = cluster.post(at, &session, &cancel.to_string()).await;
        assert_eq!(cancelled.status(), StatusCode::ACCEPTED);
        let progress = json!({"progressToken": asked[1 - at], "progress": 1});
        let progress =
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}).to_string();
        assert_eq!(cluster.post(at, &session, &progress).await.status(), StatusCode::ACCEPTED);
        let heard = cluster.heard(at);
        let is_wrong = |heard: &Heard| {
            matches!(heard, Heard::Answer(_))
                || matches!(heard, Heard::Message(method) if method.starts_with("notifications/") && method != INITIALIZED)
        };
        assert!(!heard.iter().any(is_wrong), "{heard:?}");
    }
    for (at, body) in bodies.iter_mut().enumerate() {
        let right = cluster.post(at, &session, &answer(&asked[at])).await;
        assert_eq!(right.status(), StatusCode::ACCEPTED);
        assert_eq!(messages(&piece(body).await.unwrap())[0]["result"], "asked");
        cluster.hears(at, &Heard::Answer("s-1".into())).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_shuts_down_sends_its_clients_elsewhere() {
    let mut cluster = Cluster::sealed(2).await;
    let session = cluster.open(0).await;
    let mut stream = cluster.get(0, &session, None).await.into_body();
    piece(&mut stream).await.unwrap();
    let shutdown = tokio::spawn(cluster.replicas[0].endpoint.shutdown(Duration::from_secs(5)));
    assert_eq!(piece(&mut stream).await.as_deref(), Some("retry: 100\n\n"));
    assert_eq!(piece(&mut stream).await, None);
    shutdown.await.unwrap();
    assert_eq!(cluster.echo(0, &session).await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(cluster.get(1, &session, None).await.status(), StatusCode::OK);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
}

async fn node() -> Node {
    Node::join(Stores::memory(&StoreLimits::new(), &Clock::system())).await.unwrap()
}

#[tokio::test]
#[should_panic = "an endpoint has a node or sealed sessions, not both"]
async fn an_endpoint_with_a_node_seals_no_sessions() {
    drop(EndpointConfig::new().node(node().await).sealed_sessions(sealed()));
}

#[tokio::test]
#[should_panic = "an endpoint has a node or sealed sessions, not both"]
async fn an_endpoint_that_seals_sessions_has_no_node() {
    drop(EndpointConfig::new().sealed_sessions(sealed()).node(node().await));
}
