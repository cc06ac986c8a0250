//! Subscriptions to servers that are killed, in either era.

use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::CallError;
use agentwire_mcp_client::schema::SubscriptionFilter;
use agentwire_mcp_hub::{Change, Hub, HubConfig, HubError, ServerChanges, ServerConfig, ServerState};
use futures::StreamExt;

use crate::script::{check_received, received, server};

/// Reports a change of a resource when `touch` is called, and is killed by `die`.
const TOOLS: &str = r#"
    *'"name":"die"'*) kill -KILL $$ ;;
    *'"name":"touch"'*) tell; text ok ;;"#;

/// Without sessions. `$to` is what the user's subscription is called.
const MODERN: &str = r#"
    *'"server/discover"'*)
        tell() { say resources/updated "{\"uri\":\"file:///a\",\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$to}}"; }
        text() { answer '{"resultType":"complete","content":[]}'; }
        answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"ttlMs":0,"cacheScope":"private"}' ;;
    *'"tools/list"'*) answer '{"resultType":"complete","tools":[{"name":"touch","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}' ;;
    *'"toolsListChanged"'*) say subscriptions/acknowledged "{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$id}}" ;;"#;

/// Its response to a user's subscription.
const AGREES: &str = r#"to=$id
    say subscriptions/acknowledged "{\"notifications\":{\"resourceSubscriptions\":[\"file:///a\"]},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$id}}""#;

/// With sessions: its notifications do not name the subscription.
const LEGACY: &str = r#"
    *'"server/discover"'*) refuse -32601 ;;
    *'"initialize"'*)
        tell() { say resources/updated '{"uri":"file:///other"}'; say resources/updated '{"uri":"file:///a"}'; }
        answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true}},"serverInfo":{"name":"script","version":"1"}}' ;;
    *'"resources/subscribe"'*) answer '{}' ;;"#;

/// Listens to a server that may be started again so often, and runs a test with it.
async fn with(server: ServerConfig, restarts: u32, test: impl AsyncFnOnce(&Hub, ServerChanges)) {
    let config = HubConfig::new().restarts(restarts).restart_pause(Duration::from_millis(1));
    let (hub, driver) = Hub::with_config(config, [server]);
    let main = async {
        let listening = hub.watch("s", "file:///a").await.unwrap();
        assert_eq!(listening.acknowledged(), to_a());
        test(&hub, listening).await;
        hub.close().await;
    };
    let both = async { tokio::join!(driver, main) };
    tokio::time::timeout(Duration::from_secs(20), both).await.expect("it ends in time");
    check_received();
}

fn to_a() -> SubscriptionFilter {
    SubscriptionFilter::default().resource_subscriptions(["file:///a"])
}

/// A server without sessions that does this about a user's subscription.
fn modern(does: &str) -> String {
    format!("{MODERN} *'\"subscriptions/listen\"'*) {does} ;; {TOOLS}")
}

async fn next(listening: &mut ServerChanges) -> Change {
    listening.next().await.expect("it goes on").expect("nothing is wrong")
}

fn is_a(change: &Change) -> bool {
    matches!(change, Change::Resource { uri, .. } if uri == "file:///a")
}

/// How many servers this test has started.
fn processes() -> usize {
    received().iter().filter(|received| *received == "server/discover").count()
}

fn count(method: &str) -> usize {
    received().iter().filter(|received| *received == method).count()
}

#[tokio::test]
async fn listener_of_a_killed_server_goes_on_listening() {
    let rows =
        [(modern(AGREES), "subscriptions/listen", 2), (format!("{LEGACY}{TOOLS}"), "resources/subscribe", 1)];
    for (cases, method, a_process) in rows {
        let before = count(method);
        with(server("s", "touch die", &cases), 2, async |hub, mut listening| {
            for is_last in [false, false, true] {
                hub.call("touch", ()).await.unwrap();
                let change = next(&mut listening).await;
                assert!(is_a(&change), "{change:?}");
                assert!(hub.call("die", ()).await.is_err());
                if !is_last {
                    assert_eq!(next(&mut listening).await, Change::Missed);
                }
            }
            let error = listening.next().await.expect("it says why it ends").unwrap_err();
            let died = matches!(&error, HubError::Unavailable { state: ServerState::Died(_), .. });
            let error = WithCauses::new(&error).to_string();
            assert!(died && error.contains("SIGKILL"), "{error}");
            assert!(listening.next().await.is_none());
        })
        .await;
        assert_eq!(count(method) - before, 3 * a_process, "{:?}", received());
    }
}

/// Also of one that is killed by being asked.
#[tokio::test]
async fn failed_resubscription_ends_listening_with_an_error() {
    for now in ["refuse -32603", "kill -KILL $$"] {
        // Each process writes the received messages into a file.
        let first = processes() + 1;
        let cases =
            modern(&format!("if [ $(ls \"$RECEIVED\" | wc -l) -gt {first} ]; then {now}; else {AGREES}; fi"));
        with(server("s", "", &cases), 2, async |hub, mut listening| {
            assert!(hub.call("die", ()).await.is_err());
            let error = listening.next().await.expect("it says why it ends").unwrap_err();
            match error {
                HubError::Call { source: CallError::Refused { .. }, .. } if now.starts_with("refuse") => {}
                HubError::Unavailable { state: ServerState::Died(_), .. } if now.starts_with("kill") => {}
                other => panic!("{other}"),
            }
            assert!(listening.next().await.is_none());
        })
        .await;
    }
}

#[tokio::test]
async fn listening_ends_with_the_hub_and_begins_with_a_server_that_can_be_listened_to() {
    let cases = format!("{LEGACY}{TOOLS}");
    with(server("s", "touch die", &cases), 0, async |hub, mut listening| {
        let error = hub.listen("other", to_a()).await.unwrap_err();
        assert!(matches!(error, HubError::NoSuchServer { .. }), "{error}");
        let ((), ended) = tokio::join!(hub.close(), listening.next());
        assert!(ended.is_none(), "{ended:?}");
        assert!(listening.next().await.is_none(), "the end stays");
        let error = hub.listen("s", to_a()).await.unwrap_err();
        assert!(matches!(error, HubError::Unavailable { state: ServerState::Closed, .. }), "{error}");
    })
    .await;
}
