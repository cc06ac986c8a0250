//! The principals and the ends of sessions with sealed ids.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use agentwire_seal::SealingKeys;
use agentwire_store::{Clock, MemoryOnceStore, OnceStore, StoreError, StoreLimits};
use agentwire_transport_http::server::{Body, EndpointConfig, SealedSessions};
use futures::future::{BoxFuture, FutureExt};
use http::{Response, StatusCode};
use serde_json::json;
use tokio::sync::Semaphore;

use super::super::script::{Heard, initialize, notification, request};
use super::super::time::{call, piece};
use super::cluster::{Cluster, last_id, messages, rest, with_principals};
use super::sealed::sealed;

const MINUTE: Duration = Duration::from_secs(60);

/// Starts nodes with these settings, which share nothing else.
async fn cluster(settings: Vec<SealedSessions>) -> Cluster {
    let config = |sealed| EndpointConfig::new().idle(10 * MINUTE).sealed_sessions(sealed);
    Cluster::start_with(settings.into_iter().map(config).collect(), |config, _| config).await
}

/// The settings of nodes that share a store of names.
fn sharing(once: &Arc<Once>, nodes: usize) -> Vec<SealedSessions> {
    // A clone would share what one node remembers.
    (0..nodes).map(|_| sealed().ended_sessions(once.clone())).collect()
}

/// A store of names that can be away, and slow to look one up.
#[derive(Debug, Default)]
struct Once {
    names: Arc<MemoryOnceStore>,
    away: AtomicBool,
    slow: Arc<Slow>,
}

/// How many look-ups come before one that waits, and what it and those after it wait for.
#[derive(Debug)]
struct Slow {
    before: AtomicUsize,
    go: Semaphore,
}

impl Default for Slow {
    fn default() -> Self {
        Self { before: AtomicUsize::new(usize::MAX), go: Semaphore::new(0) }
    }
}

impl Once {
    fn answer<T: Send + 'static>(
        &self,
        answer: impl FnOnce() -> BoxFuture<'static, Result<T, StoreError>>,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        match self.away.load(Ordering::SeqCst) {
            true => std::future::ready(Err(StoreError::away("as a test wants it"))).boxed(),
            false => answer(),
        }
    }
}

impl OnceStore for Once {
    fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        remember: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.answer(|| self.names.insert(name, owner, remember))
    }

    fn contains(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (slow, answer) = (self.slow.clone(), self.answer(|| self.names.contains(name)));
        let waits = slow.before.load(Ordering::SeqCst) == 0;
        if !waits {
            slow.before.fetch_sub(1, Ordering::SeqCst);
            return answer;
        }
        // What is there in the end.
        let (names, name) = (self.names.clone(), name.to_owned());
        async move {
            drop((answer, slow.go.acquire().await));
            names.contains(&name).await
        }
        .boxed()
    }

    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        self.answer(|| self.names.remove(name))
    }
}

#[tokio::test(start_paused = true)]
async fn a_sealed_session_is_only_for_the_principal_that_has_opened_it() {
    let warned = Arc::new(AtomicU64::new(0));
    let counted = warned.clone();
    let config = with_principals()
        .on_warning(move |_| _ = counted.fetch_add(1, Ordering::SeqCst))
        .sealed_sessions(sealed());
    let mut cluster = Cluster::start_with(vec![config; 2], |config, _| config).await;
    let ann = ("authorization", "Bearer ann");
    let response = cluster.call(0, "POST", &[ann], &initialize("2025-11-25")).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let bob = [("authorization", "Bearer bob"), ("mcp-session-id", &*session)];
    let own = [ann, ("mcp-session-id", &*session)];
    let echo = request(1, "echo", json!({}));
    assert_eq!(cluster.call(1, "POST", &bob, &echo).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(warned.load(Ordering::SeqCst), 1);
    for at in [1, 0] {
        assert_eq!(cluster.call(at, "POST", &bob, &echo).await.status(), StatusCode::NOT_FOUND);
        assert_eq!(cluster.call(at, "GET", &bob, "").await.status(), StatusCode::NOT_FOUND);
        assert_eq!(cluster.call(at, "DELETE", &bob, "").await.status(), StatusCode::NOT_FOUND);
        assert_eq!(cluster.call(at, "POST", &own, &echo).await.status(), StatusCode::OK, "node {at}");
        assert_eq!(cluster.call(at, "POST", &bob, &echo).await.status(), StatusCode::NOT_FOUND);
    }
    assert_eq!(cluster.call(1, "DELETE", &own, "").await.status(), StatusCode::NO_CONTENT);
}

#[tokio::test(start_paused = true)]
async fn the_idle_time_of_a_node_ends_no_session() {
    let mut cluster = cluster(vec![sealed()]).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(1, "count", json!({"n": 1}))).await.into_body();
    let before = last_id(&piece(&mut body).await.unwrap());
    drop(body);
    tokio::time::sleep(11 * MINUTE).await;
    cluster.hears(0, &Heard::Ended).await;
    assert_eq!(cluster.replicas[0].endpoint.counts().sessions, 0);
    // The state of its streams is gone, and their numbers are not used again.
    assert_eq!(cluster.get(0, &session, Some(&before)).await.status(), StatusCode::BAD_REQUEST);
    let again = rest(cluster.post(0, &session, &request(2, "echo", json!({}))).await).await;
    let number = |id: &str| id.split_once('-').unwrap().0.to_owned();
    assert_ne!(number(&last_id(&again)), number(&before));
    // One that its client has not used ends sooner, and goes on as well.
    let unused = cluster.opened(0).await;
    tokio::time::sleep(2 * MINUTE).await;
    cluster.hears(0, &Heard::Ended).await;
    assert_eq!(cluster.echo(0, &unused).await, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_at_every_node_when_it_expires() {
    let now = Arc::new(AtomicU64::new(1_800_000_000));
    let clock = now.clone();
    let settings = sealed()
        .lifetime(60 * MINUTE)
        .clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst)));
    let mut cluster = cluster(vec![settings; 3]).await;
    let session = cluster.open(0).await;
    let mut waiting = cluster.post(1, &session, &request(5, "wait", json!({}))).await.into_body();
    piece(&mut waiting).await.unwrap();
    let mut listening = cluster.get(0, &session, None).await.into_body();
    piece(&mut listening).await.unwrap();
    now.fetch_add(3599, Ordering::SeqCst);
    for at in [0, 1] {
        assert_eq!(cluster.echo(at, &session).await, StatusCode::OK, "node {at}");
    }
    now.fetch_add(1, Ordering::SeqCst);
    cluster.hears(0, &Heard::Ended).await;
    assert_eq!(cluster.echo(0, &session).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.echo(2, &session).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.delete(2, &session).await, StatusCode::NOT_FOUND);
    // A client that waits for an answer gets it.
    cluster.post(1, &session, &notification("finish")).await;
    assert_eq!(messages(&piece(&mut waiting).await.unwrap())[0]["result"], "late");
    cluster.hears(1, &Heard::Ended).await;
    assert_eq!(cluster.echo(1, &session).await, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn deleted_session_stays_deleted_at_nodes_that_know_it() {
    let mut cluster = cluster(vec![sealed(), sealed()]).await;
    let session = cluster.open(0).await;
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
    cluster.hears(0, &Heard::Ended).await;
    assert_eq!(cluster.echo(0, &session).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.get(0, &session, None).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK, "nobody has told it");
    // One that a node does not have.
    let session = cluster.open(0).await;
    cluster.heard(1);
    assert_eq!(cluster.delete(1, &session).await, StatusCode::NO_CONTENT);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.heard(1), []);
}

#[tokio::test(start_paused = true)]
async fn nodes_share_the_ends_of_sessions_through_a_store() {
    let once = Arc::new(Once::default());
    let mut cluster = cluster(sharing(&once, 3)).await;
    let session = cluster.open(0).await;
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    once.away.store(true, Ordering::SeqCst);
    assert_eq!(cluster.echo(2, &session).await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(cluster.delete(1, &session).await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::NOT_FOUND, "it has ended here");
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK, "it goes on");
    once.away.store(false, Ordering::SeqCst);
    assert_eq!(cluster.delete(1, &session).await, StatusCode::NO_CONTENT);
    for at in [1, 2] {
        assert_eq!(cluster.echo(at, &session).await, StatusCode::NOT_FOUND, "node {at}");
    }
    // The node that has it ends it within a tenth of the idle time.
    let deadline = tokio::time::Instant::now() + 2 * MINUTE;
    while cluster.echo(0, &session).await == StatusCode::OK {
        assert!(tokio::time::Instant::now() < deadline, "it goes on");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(cluster.echo(0, &session).await, StatusCode::NOT_FOUND);
}

/// The store that nodes share fails over, and has lost that a session has ended.
#[tokio::test(start_paused = true)]
async fn node_writes_a_lost_end_to_the_store_again() {
    let once = Arc::new(Once::default());
    let mut cluster = cluster(sharing(&once, 2)).await;
    let session = cluster.open(0).await;
    assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
    // The first node has ended it itself, the second has found that out.
    for at in [0, 1] {
        let name = format!("session-ended:{}", &session[..32]);
        once.remove(&name).await.unwrap();
        assert_eq!(cluster.echo(at, &session).await, StatusCode::NOT_FOUND, "node {at}");
        assert!(once.contains(&name).await.unwrap(), "the store has it again from node {at}");
        assert_eq!(cluster.echo(1, &session).await, StatusCode::NOT_FOUND);
    }
}

#[tokio::test(start_paused = true)]
async fn a_delete_beyond_the_room_for_names_ends_the_session_here() {
    let names = MemoryOnceStore::new(&StoreLimits::new().names(600), &Clock::system());
    let mut cluster = cluster(vec![sealed().ended_sessions(Arc::new(names))]).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let session = cluster.open(0).await;
        let status = cluster.delete(0, &session).await.as_u16();
        cluster.hears(0, &Heard::Ended).await;
        assert_eq!(cluster.replicas[0].endpoint.counts().sessions, 0);
        statuses.push((status, cluster.echo(0, &session).await.as_u16()));
        // The store does not remember that it has ended, but the node does.
        cluster.delete(0, &session).await;
        assert_eq!(cluster.replicas[0].endpoint.counts().sessions, 0);
    }
    assert_eq!((statuses[0], statuses[7]), ((204, 404), (503, 404)), "{statuses:?}");
}

/// A session that is deleted during its load is unknown to all requests that wait for it.
#[tokio::test(start_paused = true)]
async fn a_session_is_found_once_it_is_known_that_it_has_not_ended() {
    // In the first round the DELETE comes before the first look, in the second between both.
    for (before, deletes_first) in [(0, true), (1, false)] {
        let once = Arc::new(Once::default());
        let mut cluster = cluster(sharing(&once, 2)).await;
        let session = cluster.open(0).await;
        once.slow.before.store(before, Ordering::SeqCst);
        let calls: Vec<_> = (0..3).map(|id| tokio::spawn(echo(&mut cluster, &session, id))).collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let found = usize::from(!deletes_first);
        assert_eq!(cluster.replicas[1].endpoint.counts().sessions, found, "it is looked up");
        assert_eq!(cluster.delete(0, &session).await, StatusCode::NO_CONTENT);
        once.slow.go.add_permits(1000);
        for call in calls {
            let response = call.await.unwrap();
            if deletes_first {
                assert_eq!(response.status(), StatusCode::NOT_FOUND);
            }
        }
        assert_eq!(cluster.replicas[1].endpoint.counts().sessions, 0);
    }
}

fn echo(cluster: &mut Cluster, session: &str, id: i64) -> impl Future<Output = Response<Body>> + use<> {
    let echo = request(id, "echo", json!({}));
    call(&mut cluster.replicas[1].endpoint, "POST", &[("mcp-session-id", session)], &echo)
}

#[tokio::test(start_paused = true)]
async fn silent_store_of_ended_sessions_delays_requests_for_a_limited_time() {
    for before in [0, 1] {
        let once = Arc::new(Once::default());
        let mut cluster = cluster(sharing(&once, 2)).await;
        let session = cluster.open(0).await;
        once.slow.before.store(before, Ordering::SeqCst);
        let began = tokio::time::Instant::now();
        assert_eq!(cluster.echo(1, &session).await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(began.elapsed().as_secs(), 60);
        assert_eq!(cluster.replicas[1].endpoint.counts().sessions, 0);
        once.slow.go.add_permits(1000);
        assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    }
}

/// Where a node alone remembers what has ended, a client cannot do anything about its room.
#[tokio::test(start_paused = true)]
async fn a_delete_that_a_node_has_no_room_for_succeeds() {
    const SESSIONS: usize = 2_000;
    let mut cluster =
        Cluster::start_with(vec![with_principals().sealed_sessions(sealed())], |config, _| config).await;
    // A long name takes the caller's share of the room soon.
    let bearer = format!("Bearer {}", "x".repeat(4000));
    let own = ("authorization", &*bearer);
    let mut remembered = 0;
    for number in 0..SESSIONS {
        let response = cluster.call(0, "POST", &[own], &initialize("2025-11-25")).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let headers = [own, ("mcp-session-id", &*session)];
        assert_eq!(
            cluster.call(0, "DELETE", &headers, "").await.status(),
            StatusCode::NO_CONTENT,
            "{number}"
        );
        assert_eq!(cluster.replicas[0].endpoint.counts().sessions, 0);
        let again = cluster.call(0, "DELETE", &headers, "").await.status();
        if again == StatusCode::NO_CONTENT {
            remembered = number;
            break;
        }
        assert_eq!(again, StatusCode::NOT_FOUND);
    }
    assert!((900..1100).contains(&remembered), "{remembered} have room");
}

#[tokio::test(start_paused = true)]
async fn an_id_is_opened_while_its_key_is_one_of_two() {
    let keys = SealingKeys::new([1; 32]);
    let mut cluster = cluster(vec![SealedSessions::new(keys.clone()); 3]).await;
    let first = cluster.open(0).await;
    keys.rotate([2; 32]);
    let second = cluster.open(0).await;
    for session in [&first, &second] {
        assert_eq!(cluster.echo(1, session).await, StatusCode::OK);
    }
    keys.rotate([3; 32]);
    assert_eq!(cluster.echo(2, &first).await, StatusCode::NOT_FOUND);
    assert_eq!(cluster.echo(2, &second).await, StatusCode::OK);
    assert_eq!(cluster.echo(1, &first).await, StatusCode::OK, "a session that is here goes on");
}
