//! Hubs of servers on the network.

use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_hub::{HttpKind, Hub, HubConfig, ServerConfig, connect};

use crate::script::server;
use crate::web::Answer::{Refuses, Silence, Status};
use crate::web::{Part, Web};

const LEGACY: Part = Part::legacy(Refuses(200, -32601, &[]));

/// Only reached by a test that would never end.
const LIMIT: Duration = Duration::from_secs(20);

async fn within<R>(work: impl Future<Output = R>) -> R {
    tokio::time::timeout(LIMIT, work).await.expect("it ends in time")
}

async fn names(hub: &Hub) -> Vec<String> {
    hub.tools().await.into_iter().map(|tool| tool.name).collect()
}

fn state(hub: &Hub, place: usize) -> String {
    hub.status()[place].state.to_string()
}

#[tokio::test]
async fn all_kinds_of_servers_are_one_set_of_tools() {
    let modern = Web::playing(Part::MODERN).await;
    let legacy = Web::playing(LEGACY).await;
    let old = Web::playing(Part::old(Status(405))).await;
    let servers = [
        server("process", "first", ""),
        ServerConfig::new("modern", modern.target()),
        ServerConfig::new("legacy", legacy.target().kind(HttpKind::Streamable)),
        ServerConfig::new("old", old.target().kind(HttpKind::Sse)),
    ];
    within(connect(servers, async |hub| {
        assert_eq!(names(&hub).await, ["first", "modern__ping", "legacy__ping", "old__ping"]);
        for tool in ["modern__ping", "legacy__ping", "old__ping"] {
            assert_eq!(hub.call(tool, ()).await.unwrap().text(), "pong", "{tool}");
        }
    }))
    .await;
    assert_eq!(old.tried(), ["GET"], "who says that it is HTTP+SSE is believed");
}

#[tokio::test]
async fn each_server_has_a_time_of_its_own_to_connect() {
    let silent = Web::playing(Part::old(Silence)).await;
    let good = Web::playing(LEGACY).await;
    let mut servers = vec![ServerConfig::new("good", good.target())];
    servers.extend((0..5).map(|number| ServerConfig::new(format!("silent-{number}"), silent.target())));
    let limit = Duration::from_secs(4);
    let (hub, driver) = Hub::with_config(HubConfig::new().connect_limit(limit), servers);
    let main = async {
        let begun = std::time::Instant::now();
        assert_eq!(names(&hub).await, ["ping"]);
        assert!(begun.elapsed() < limit * 3, "they wait beside each other: {:?}", begun.elapsed());
        for place in 1..=5 {
            assert_eq!(state(&hub, place), "failed: it did not tell its tools within 4s");
        }
        hub.close().await;
    };
    within(async { tokio::join!(driver, main) }).await;
}

/// A server that answers 404 to a session has not run the call.
#[tokio::test]
async fn calls_in_a_forgotten_session_are_sent_again_in_a_new_one() {
    let web = Web::playing(LEGACY).await;
    within(connect([ServerConfig::new("s", web.target())], async |hub| {
        hub.ready().await;
        for _ in 0..3 {
            assert_eq!(hub.call("ping", ()).await.unwrap().text(), "pong");
            web.play(LEGACY);
            web.restart();
            // Also those beside the first one.
            let calls = (0..8).map(|_| hub.call("ping", ()).into_future());
            for outcome in futures::future::join_all(calls).await {
                assert_eq!(outcome.unwrap().text(), "pong");
            }
            assert_eq!(web.tried(), ["initialize"], "how it is spoken to is known");
            assert_eq!(state(&hub, 0), "connected");
        }
    }))
    .await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_opened_again() {
    let web = Web::playing(Part::old(Status(405))).await;
    within(connect([ServerConfig::new("s", web.target().kind(HttpKind::Sse))], async |hub| {
        let mut changes = hub.changes();
        for streams in 1..=3 {
            hub.ready().await;
            assert_eq!(hub.call("ping", ()).await.unwrap().text(), "pong");
            web.cut();
            while web.tried().len() == streams {
                changes.next().await.unwrap();
            }
        }
        assert_eq!(web.tried(), ["GET"; 4]);
    }))
    .await;
}

#[tokio::test]
async fn a_server_that_ends_every_session_at_once_is_left_alone() {
    let web = Web::playing(Part { session_lasts: 0, ..LEGACY }).await;
    within(connect([ServerConfig::new("s", web.target())], async |hub| {
        let mut changes = hub.changes();
        hub.ready().await;
        // It is sent a second time, but not a third.
        let error = hub.call("ping", ()).await.unwrap_err();
        let error = WithCauses::new(&error).to_string();
        assert!(error.contains("the server has ended the session"), "{error}");
        while hub.status()[0].state.reason().is_none() {
            changes.next().await.unwrap();
        }
        assert!(state(&hub, 0).contains("died: "), "{}", state(&hub, 0));
        assert_eq!(web.tried(), ["server/discover", "initialize", "initialize"]);
    }))
    .await;
}
