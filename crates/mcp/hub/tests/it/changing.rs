//! Servers that are added, removed and reconnected while a hub runs, and handles with a selection of tools.

use std::time::Duration;

use agentwire_mcp_client::schema::SubscriptionFilter;
use agentwire_mcp_hub::{Change, Driver, Hub, HubConfig, HubError, ServerConfig, ServerState};
use futures::StreamExt;
use futures::future::join;

use crate::local_server::LocalServer;
use crate::script::{received, server};

async fn names(hub: &Hub) -> Vec<String> {
    hub.tools().await.into_iter().map(|tool| tool.name).collect()
}

fn states(hub: &Hub) -> Vec<String> {
    hub.status().into_iter().map(|status| format!("{} {}", status.name, status.state)).collect()
}

/// Runs a hub until `main` is done, and closes it.
async fn run(hub: (Hub, Driver), main: impl AsyncFnOnce(&Hub)) {
    let (hub, driver) = hub;
    let main = async {
        main(&hub).await;
        hub.close().await;
    };
    let both = tokio::time::timeout(Duration::from_secs(20), join(driver, main));
    both.await.expect("it ends in time");
}

fn local(name: &str, tools: &[&str]) -> (LocalServer, ServerConfig) {
    let local = LocalServer::default();
    local.set_tools(tools.iter().map(|tool| (*tool, 1)));
    let config = local.config(name);
    (local, config)
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_added_and_removed_takes_no_name_of_another() {
    let (_, first) = local("a", &["x", "b__z"]);
    run(Hub::new([first]), async |hub| {
        assert_eq!(names(hub).await, ["x", "b__z"]);
        // No server gets a name with which another server's tool name begins.
        let (other, config) = local("b", &["x", "y", "z"]);
        assert_eq!(hub.clone().add(config.clone()).unwrap(), "b_2");
        assert_eq!(states(hub), ["a connected", "b_2 connecting"]);
        assert_eq!(names(hub).await, ["x", "b__z", "b_2__x", "y", "z"]);
        assert_eq!(hub.call("y", ()).await.unwrap().text(), "y");

        let tool = hub.tool("y").unwrap();
        hub.remove("b_2").unwrap();
        assert_eq!(states(hub), ["a connected"]);
        assert_eq!(names(hub).await, ["x", "b__z"]);
        let error = hub.call("y", ()).await.unwrap_err();
        assert!(matches!(error, HubError::NoSuchTool { .. }), "{error}");
        let error = hub.call_tool(&tool, ()).await.unwrap_err();
        assert!(matches!(error, HubError::NoSuchServer { .. }), "{error}");
        for error in [hub.remove("b_2"), hub.reconnect("b_2")] {
            assert_eq!(error.unwrap_err().to_string(), "there is no server `b_2`");
        }
        assert!(hub.server("b_2").is_none());
        // A different server with the same name gets another name, and so do its tools. It may be removed before it is started.
        let (_, another) = local("b_2", &["y"]);
        assert_eq!(hub.add(another).unwrap(), "b_2_2");
        assert_eq!(names(hub).await, ["x", "b__z", "b_2_2__y"]);
        hub.remove("b_2_2").unwrap();
        // The same server gets its former name, even if it is added again before its connection has ended.
        for _ in 0..2 {
            assert_eq!(hub.add(config.clone()).unwrap(), "b_2");
            assert_eq!(names(hub).await, ["x", "b__z", "b_2__x", "y", "z"]);
            assert_eq!(hub.call("y", ()).await.unwrap().text(), "y");
            hub.remove("b_2").unwrap();
        }
        drop(other);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_removed_before_it_answers_is_dropped() {
    let (slow, config) = local("slow", &["x"]);
    slow.delay(10_000);
    run(Hub::new([]), async |hub| {
        hub.add(config).unwrap();
        tokio::task::yield_now().await;
        hub.remove("slow").unwrap();
        assert!(names(hub).await.is_empty());
        let (_, other) = local("other", &["x"]);
        hub.add(other).unwrap();
        assert_eq!(names(hub).await, ["x"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_servers_of_a_hub_are_bounded_with_those_that_it_had() {
    let hub = Hub::with_config(HubConfig::new().server_limit(2), []);
    let outside = hub.0.clone();
    run(hub, async |hub| {
        let configs = ["a", "b", "c"].map(|name| local(name, &[]).1);
        let [a, b, c] = configs;
        hub.add(a.clone()).unwrap();
        hub.remove("a").unwrap();
        hub.add(b).unwrap();
        let error = hub.add(c).unwrap_err();
        assert_eq!(error.to_string(), "the hub has had 2 servers, removed ones included, which is the limit");
        assert_eq!(hub.add(a).unwrap(), "a");
    })
    .await;
    assert!(matches!(outside.add(local("d", &[]).1), Err(HubError::Closed)));
    assert!(matches!(outside.reconnect("a"), Err(HubError::Closed)));
    outside.remove("a").unwrap();
    assert_eq!(states(&outside), ["b closed"]);
}

#[tokio::test(start_paused = true)]
async fn reconnect_works_in_any_state() {
    let (server, config) = local("s", &["x"]);
    run(Hub::new([config]), async |hub| {
        assert_eq!(names(hub).await, ["x"]);
        let mut listening =
            hub.listen("s", SubscriptionFilter::default().tools_list_changed(true)).await.unwrap();
        let handle = hub.server("s").unwrap();
        hub.reconnect("s").unwrap();
        assert_eq!(states(hub), ["s connecting"]);
        assert_eq!(names(hub).await, ["x"]);
        assert!(handle.call_tool("x", ()).await.is_err(), "the connection before has ended");
        assert_eq!(hub.call("x", ()).await.unwrap().text(), "x");
        assert_eq!(listening.next().await.unwrap().unwrap(), Change::Missed);
        // Also while it is connecting, and after it has died.
        hub.reconnect("s").unwrap();
        hub.reconnect("s").unwrap();
        assert_eq!(names(hub).await, ["x"]);
        let mut changes = hub.changes();
        while !matches!(hub.status()[0].state, ServerState::Died(_)) {
            server.hang_up();
            changes.next().await.unwrap();
        }
        hub.reconnect("s").unwrap();
        assert_eq!(names(hub).await, ["x"]);
        assert_eq!(states(hub), ["s connected"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn changes_end_when_the_hub_is_closed() {
    let (_, config) = local("s", &["x"]);
    let (hub, driver) = Hub::new([config]);
    let mut changes = hub.changes();
    let following = async {
        let mut count = 0;
        while let Some(()) = changes.next().await {
            count += 1;
        }
        assert!(changes.next().await.is_none(), "the end stays");
        count
    };
    let closing = async {
        hub.ready().await;
        hub.close().await;
    };
    let all =
        tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(following, closing, driver) });
    assert!(all.await.expect("it ends in time").0 > 0);
}

#[tokio::test]
async fn a_process_is_ended_in_good_order_and_started_again() {
    let dying = r#"*'"tools/call"'*) exit 7 ;;"#;
    let config = HubConfig::new().restarts(0);
    run(Hub::with_config(config, [server("s", "die", dying)]), async |hub| {
        hub.ready().await;
        assert!(hub.call("die", ()).await.is_err());
        let mut changes = hub.changes();
        while hub.status()[0].state.is_connected() {
            changes.next().await.unwrap();
        }
        for _ in 0..2 {
            hub.reconnect("s").unwrap();
            assert_eq!(names(hub).await, ["die"]);
        }
        assert_eq!(hub.status()[0].restarts, 0, "only crashes count");
        hub.remove("s").unwrap();
    })
    .await;
    let listed = received().into_iter().filter(|method| method == "tools/list").count();
    assert_eq!(listed, 3);
}

#[tokio::test(start_paused = true)]
async fn a_handle_may_have_some_tools_only() {
    let (one, first) = local("one", &["x", "a"]);
    let (_, second) = local("two", &["x", "b"]);
    run(Hub::new([first, second]), async |hub| {
        hub.ready().await;
        let rows: [(&[&str], &[&str]); 6] = [
            (&["a"], &["a"]),
            (&["one__a", "two__x"], &["a", "two__x"]),
            (&["x"], &[]),
            (&["one__*", "b"], &["one__x", "a", "b"]),
            (&["two__*"], &["two__x", "b"]),
            (&["nothing", "none__*"], &[]),
        ];
        for (selected, expected) in rows {
            assert_eq!(names(&hub.only(selected.iter().copied())).await, expected, "{selected:?}");
        }
        let some = hub.only(["one__*"]);
        assert_eq!(some.call("a", ()).await.unwrap().text(), "a");
        assert_eq!(some.clone().call("one__x", ()).await.unwrap().text(), "x");
        let other = hub.tool("b").unwrap();
        for call in [some.call("b", ()), some.call("two__b", ()), some.call_tool(&other, ())] {
            let error = call.await.unwrap_err();
            assert!(matches!(error, HubError::NotSelected { .. }), "{error}");
            assert!(error.to_string().ends_with("is not among those that may be called here"), "{error}");
        }
        assert!(some.tool("b").is_none());
        let error = some.call("none", ()).await.unwrap_err();
        assert!(matches!(error, HubError::NoSuchTool { .. }), "{error}");
        assert_eq!([some.server("one").is_some(), some.server("two").is_some()], [true, false]);
        assert!(hub.only(["a"]).server("one").is_none(), "its handle would call any tool");
        // A selection of a selection has the tools that both select.
        assert_eq!(names(&some.only(["a", "b"])).await, ["a"]);
        assert!(names(&hub.only(["b"]).only(["one__*", "two__x"])).await.is_empty());
        // A tool that comes later is selected by the same words.
        one.set_tools([("x", 1), ("new", 1)]);
        let mut changes = hub.changes();
        while hub.tool("new").is_none() {
            changes.next().await.unwrap();
        }
        assert_eq!(names(&some).await, ["one__x", "new"]);
    })
    .await;
}
