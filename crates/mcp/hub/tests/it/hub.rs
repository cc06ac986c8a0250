use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::schema::{SubscriptionFilter, TaskSupport};
use agentwire_mcp_hub::{
    BoxError, Change, CustomTarget, Driver, Hub, HubConfig, HubError, ServerConfig, ServerState, Target,
    connect,
};
use agentwire_mcp_server::{Context, NoArguments, Server, ServerTool, ToolError};
use agentwire_transport::{Duplex, duplex};
use futures::StreamExt;
use futures::channel::mpsc;
use serde_json::json;

use crate::script::{check_received, received, server, shell};

/// Real processes take real time; only a test that would never end reaches this.
const LIMIT: Duration = Duration::from_secs(20);

async fn within<R>(work: impl Future<Output = R>) -> R {
    let result = tokio::time::timeout(LIMIT, work).await.expect("it ends in time");
    check_received();
    result
}

fn states(hub: &Hub) -> Vec<String> {
    hub.status().into_iter().map(|status| format!("{} {}", status.name, status.state)).collect()
}

async fn names(hub: &Hub) -> Vec<String> {
    hub.tools().await.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn tools_of_all_servers_are_one_list_and_each_is_called_where_it_is() {
    let servers = [server("one", "shared first", ""), server("two", "shared second", "")];
    within(connect(servers, async |hub| {
        assert_eq!(names(&hub).await, ["one__shared", "first", "two__shared", "second"]);
        assert_eq!(states(&hub), ["one connected", "two connected"]);
        for (name, server) in
            [("first", "one"), ("one__first", "one"), ("second", "two"), ("two__shared", "two")]
        {
            let result = hub.call(name, json!({ "x": 1 })).await.unwrap();
            assert_eq!(result.text(), format!("done by {server}"), "{name}");
        }
        let error = hub.call("shared", ()).await.unwrap_err();
        assert!(matches!(error, HubError::NoSuchTool { .. }), "two have it: {error}");
        for (mistaken, text) in [
            ("frist", "there is no tool `frist`; did you mean `first`?"),
            ("multiply", "there is no tool `multiply`"),
        ] {
            assert_eq!(hub.call(mistaken, ()).await.unwrap_err().to_string(), text);
        }
        assert_eq!(
            hub.remove("tow").unwrap_err().to_string(),
            "there is no server `tow`; did you mean `two`?"
        );
        assert_eq!(hub.server("two").unwrap().info().name, "script");
    }))
    .await;
}

#[tokio::test]
async fn a_server_that_fails_costs_only_itself() {
    let servers = [
        ServerConfig::new("missing", Target::parse("/no/such/program --x").unwrap()),
        shell("broken", "echo oh no >&2; exit 3"),
        ServerConfig::new("remote", Target::parse("http://127.0.0.1:1/mcp").unwrap()),
        shell("silent", "while read line; do :; done"),
        server("good", "works", ""),
    ];
    let config = HubConfig::new().connect_limit(Duration::from_secs(5));
    let (hub, driver) = Hub::with_config(config, servers);
    let main = async {
        assert_eq!(names(&hub).await, ["works"]);
        assert_eq!(hub.call("works", ()).await.unwrap().text(), "done by good");
        let states = states(&hub);
        assert!(states[0].starts_with("missing failed: ") && states[0].contains("/no/such/program"));
        assert!(states[1].starts_with("broken failed: ") && states[1].contains("exited with status 3"));
        assert!(states[1].contains("oh no"), "its stderr: {states:?}");
        assert!(states[2].contains("no HTTP response"), "{states:?}");
        assert_eq!(states[3], "silent failed: it did not tell its tools within 5s");
        assert_eq!(states[4], "good connected");
        hub.close().await;
        assert!(matches!(hub.status()[4].state, ServerState::Closed));
        assert!(hub.status()[1].state.reason().is_some(), "why it failed is still known");
    };
    within(async { tokio::join!(driver, main) }).await;
}

#[tokio::test]
async fn unavailable_server_has_the_reason_as_its_source() {
    let config = HubConfig::new().restarts(0);
    let (hub, driver) = Hub::with_config(config, [shell("broken", "echo no key >&2; exit 3")]);
    let main = async {
        hub.ready().await;
        let error = hub.watch("broken", "a:///").await.unwrap_err();
        assert_eq!(error.to_string(), "the server `broken` cannot be called: failed");
        let state = hub.status()[0].state.to_string();
        let error = BoxError::from(error);
        assert_eq!(error.to_string(), format!("the server `broken` cannot be called: {state}"));
        assert_eq!(error.exited().expect("how it ended").stderr, "no key");
        let texts: Vec<_> = error.chain().map(ToString::to_string).collect();
        for (place, text) in texts.iter().enumerate() {
            let has_no_cause = texts[place + 1..].iter().all(|cause| !text.contains(cause));
            assert!(has_no_cause, "each cause once: {texts:#?}");
        }
        hub.close().await;
    };
    within(async { tokio::join!(driver, main) }).await;
}

#[tokio::test]
async fn tool_of_a_failed_server_is_unavailable() {
    let servers = [shell("broken", "exit 3"), server("good", "works", "")];
    let (hub, driver) = Hub::with_config(HubConfig::new().restarts(0), servers);
    let main = async {
        hub.ready().await;
        let refused = |hub: &Hub, name: &str| hub.resolve(name).unwrap_err().to_string();
        let unavailable = "the server `broken` cannot be called: failed";
        assert_eq!(refused(&hub, "broken__search"), unavailable);
        assert_eq!(hub.call("broken__search", ()).await.unwrap_err().to_string(), unavailable);
        assert_eq!(refused(&hub, "good__search"), "there is no tool `good__search`");
        assert_eq!(refused(&hub, "other__search"), "there is no tool `other__search`");
        assert_eq!(refused(&hub.only(["broken__*"]), "broken__search"), unavailable);
        assert_eq!(refused(&hub.only(["broken__search"]), "broken__search"), unavailable);
        let error = refused(&hub.only(["good__*"]).only(["broken__*"]), "broken__search");
        assert_eq!(error, "there is no tool `broken__search`");
        hub.close().await;
    };
    within(async { tokio::join!(driver, main) }).await;
}

#[tokio::test]
async fn a_server_that_dies_is_reported_and_the_session_goes_on() {
    let dying = "*'\"tools/call\"'*) echo last words >&2; exit 7 ;;";
    let servers = [server("mortal", "die shared", dying), server("good", "live shared", "")];
    let (hub, driver) = Hub::with_config(HubConfig::new().restarts(0), servers);
    let main = async {
        let before = names(&hub).await;
        assert_eq!(before, ["die", "mortal__shared", "live", "good__shared"]);
        let mut changes = hub.changes();
        changes.next().await.unwrap();
        let error = hub.call("die", ()).await.unwrap_err();
        let error = WithCauses::new(&error).to_string();
        assert!(error.contains("last words"), "{error}");
        while hub.status()[0].state.is_connected() {
            changes.next().await.unwrap();
        }
        let status = &hub.status()[0];
        assert!(matches!(status.state, ServerState::Died(_)), "{}", status.state);
        assert!(status.state.to_string().contains("exited with status 7"), "{}", status.state);
        assert_eq!(names(&hub).await, ["live", "good__shared"], "names do not come to mean something else");
        let error = hub.call("die", ()).await.unwrap_err();
        assert!(
            matches!(error, HubError::Unavailable { .. }) && error.unavailable_reason().is_some(),
            "{error}"
        );
        assert_eq!(hub.call("live", ()).await.unwrap().text(), "done by good");
        hub.close().await;
    };
    within(async { tokio::join!(driver, main) }).await;
}

#[tokio::test]
async fn a_process_that_crashes_is_started_again_so_often_and_listened_to_anew() {
    let cases = r#"
        *'"server/discover"'*) answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}' ;;
        *'"subscriptions/listen"'*) say subscriptions/acknowledged "{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":$id}}" ;;
        *'"tools/list"'*) answer '{"resultType":"complete","tools":[{"name":"die","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}' ;;
        *'"tools/call"'*) echo last words >&2; exit 7 ;;"#;
    let config = HubConfig::new().restarts(2).restart_pause(Duration::from_millis(1));
    let (hub, driver) = Hub::with_config(config.clone(), [server("s", "", cases)]);
    let main = async {
        let mut changes = hub.changes();
        for restarts in 0..=2 {
            while !(hub.status()[0].state.is_connected() && hub.status()[0].restarts == restarts) {
                changes.next().await.unwrap();
            }
            assert_eq!(names(&hub).await, ["die"]);
            let error = hub.call("die", ()).await.unwrap_err();
            let error = WithCauses::new(&error).to_string();
            assert!(error.contains("last words"), "{error}");
        }
        while !matches!(hub.status()[0].state, ServerState::Died(_)) {
            changes.next().await.unwrap();
        }
        hub.close().await;
    };
    within(async { tokio::join!(driver, main) }).await;
    let listens = received().into_iter().filter(|method| method == "subscriptions/listen").count();
    assert_eq!(listens, 3, "{:?}", received());
    assert_eq!(config.restart_count(), 2);
}

#[tokio::test]
async fn tools_do_not_wait_for_a_restarting_process() {
    let dying = "*'\"tools/call\"'*) echo last words >&2; exit 7 ;;";
    // Far longer than this test may take.
    let config = HubConfig::new().restart_pause(Duration::from_secs(3600));
    let (hub, driver) =
        Hub::with_config(config, [server("mortal", "die", dying), server("good", "live", "")]);
    let main = async {
        assert_eq!(names(&hub).await, ["die", "live"]);
        assert!(hub.call("die", ()).await.is_err());
        let mut changes = hub.changes();
        while !matches!(hub.status()[0].state, ServerState::Restarting(_)) {
            changes.next().await.unwrap();
        }
        assert_eq!(names(&hub).await, ["live"]);
        let error = hub.call("die", ()).await.unwrap_err();
        assert!(
            error.to_string().contains("is started again") && error.unavailable_reason().is_some(),
            "{error}"
        );
        hub.close().await;
        assert!(matches!(hub.status()[0].state, ServerState::Closed));
    };
    within(async { tokio::join!(driver, main) }).await;
}

#[tokio::test]
async fn a_server_that_changes_its_tools_is_asked_again() {
    let cases = r#"
        *'"tools/call"'*) text ok; more=new; say tools/list_changed '{}' ;;
        *'"tools/list"'*) tools old $more ;;"#;
    within(connect([server("s", "", cases)], async |hub| {
        assert_eq!(names(&hub).await, ["old"]);
        let mut changes = hub.changes();
        changes.next().await.unwrap();
        hub.call("old", ()).await.unwrap();
        while names(&hub).await.len() < 2 {
            changes.next().await.unwrap();
        }
        assert_eq!(names(&hub).await, ["old", "new"]);
    }))
    .await;
}

#[tokio::test]
async fn progress_and_logs_come_through_and_dropping_a_call_cancels_it() {
    let cases = r#"
        *'"slow"'*) slow=$id
            say message '{"level":"info","data":"working"}'
            say progress "{\"progressToken\":$id,\"progress\":1}" ;;
        *'notifications/cancelled'*) say message "{\"level\":\"info\",\"data\":\"cancelled $slow\"}" ;;"#;
    let logs = Arc::new(Mutex::new(Vec::new()));
    let received = logs.clone();
    let (cancelled, was_cancelled) = futures::channel::oneshot::channel();
    let cancelled = Mutex::new(Some(cancelled));
    let config = HubConfig::new().on_log(move |server, message| {
        let line = format!("{server}: {}", message.data);
        if line.contains("cancelled") {
            cancelled.lock().unwrap().take().unwrap().send(()).unwrap();
        }
        received.lock().unwrap().push(line);
    });
    let (hub, driver) = Hub::with_config(config, [server("s", "slow", cases)]);
    let main = async {
        hub.ready().await;
        let (progress, mut reported) = futures::channel::mpsc::unbounded();
        let call =
            hub.call("slow", ()).on_progress(move |report| progress.unbounded_send(report.progress).unwrap());
        let call = call.into_future();
        tokio::select! {
            result = call => panic!("it answered: {result:?}"),
            progress = futures::StreamExt::next(&mut reported) => assert_eq!(progress, Some(1.0)),
        }
        was_cancelled.await.unwrap();
        let id = 4; // after server/discover, initialize and tools/list
        assert_eq!(*logs.lock().unwrap(), ["s: \"working\"".to_owned(), format!("s: \"cancelled {id}\"")]);
        hub.close().await;
    };
    within(async { tokio::join!(driver, main) }).await;
}

#[tokio::test]
async fn the_end_of_the_last_handle_or_of_the_driver_is_the_end_of_the_servers() {
    let (hub, driver) = Hub::new([server("s", "x", "")]);
    within(async { tokio::join!(driver, async move { assert_eq!(names(&hub).await, ["x"]) }) }).await;

    let (hub, driver) = Hub::new([server("s", "x", "")]);
    drop(driver);
    assert_eq!(states(&hub), ["s closed"]);
    assert!(within(hub.tools()).await.is_empty());
    within(hub.close()).await;
}

#[tokio::test]
async fn a_hub_without_servers_works_and_can_be_spawned() {
    let (hub, driver) = Hub::new([]);
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let main = async {
        assert!(hub.tools().await.is_empty());
        hub.close().await;
    };
    within(async { tokio::join!(is_send(driver), main) }).await;
}

/// One in this process, reached through memory: no thread, no process, and the clock may stand still.
#[tokio::test(start_paused = true)]
async fn custom_target_reaches_a_server_in_this_process() {
    let ping = async |_: NoArguments, _: Context| -> Result<&'static str, ToolError> { Ok("pong") };
    let server = Server::new("within", "1").tool("ping", "Answers", ping);
    let (visitors, mut visited) = futures::channel::mpsc::unbounded();
    let target = CustomTarget::new("within", move || {
        let (near, far) = duplex(8);
        visitors.unbounded_send(far)?;
        Ok(near)
    });
    let broken =
        CustomTarget::new("broken", || -> Result<agentwire_transport::Duplex, _> { Err("no way".into()) });
    let servers = [ServerConfig::new("a", target), ServerConfig::new("b", broken)];
    let (hub, driver) = Hub::new(servers);
    let main = async {
        assert!(hub.call("ping", ()).await.is_err(), "nothing is known before");
        assert_eq!(names(&hub).await, ["ping"]);
        assert_eq!(hub.call("ping", ()).await.unwrap().text(), "pong");
        assert_eq!(states(&hub), ["a connected", "b failed: no way"]);
        assert_eq!(hub.tool("a__ping"), hub.tool("ping"));
        assert_eq!(hub.tool("ping").unwrap().server, "a");
        assert_eq!(hub.tool("pang"), None);
        hub.close().await;
    };
    let serve = async { server.serve(visited.next().await.unwrap()).await.unwrap() };
    tokio::join!(driver, main, serve);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_server_makes_a_task_of_is_waited_for() {
    let work = async |_: NoArguments, _: Context| -> Result<&'static str, ToolError> {
        tokio::time::sleep(Duration::from_secs(30)).await;
        Ok("done")
    };
    let tool = ServerTool::new("work", "Takes its time", work).task(TaskSupport::Optional);
    let tasks = agentwire_mcp_server::Tasks::new(|work| drop(tokio::spawn(work)));
    let server = Server::new("within", "1").with_tool(tool).tasks(tasks);
    for is_on in [true, false] {
        let config = match is_on {
            true => HubConfig::new(),
            false => HubConfig::new().tasks(None),
        };
        let (hub, driver, mut visited) = reaching(config);
        let main = async {
            hub.ready().await;
            let (stands, stood) = std::sync::mpsc::channel();
            let call =
                hub.call("work", ()).on_task(move |state| stands.send(state.status.to_string()).unwrap());
            assert_eq!(call.await.unwrap().text(), "done");
            let stood: Vec<_> = stood.iter().collect();
            assert_eq!(stood, if is_on { vec!["working", "completed"] } else { vec![] });
            hub.close().await;
        };
        let serve = async { server.serve(visited.next().await.unwrap()).await.unwrap() };
        tokio::join!(driver, main, serve);
    }
}

/// As a stream of HTTP may break off while the server is there.
#[tokio::test(start_paused = true)]
async fn a_subscription_that_the_server_ends_is_opened_again() {
    let text = async |_: String, _: Context| "text";
    let server = Server::new("within", "1").resource("file:///a", "a", text).resource_updates();
    let (hub, driver, mut visited) = reaching(HubConfig::new());
    let main = async {
        let filter = SubscriptionFilter::default().resource_subscriptions(["file:///a"]);
        let mut listening = hub.listen("a", filter).await.unwrap();
        for _ in 0..2 {
            server.resource_updated("file:///a");
            let change = listening.next().await.unwrap().unwrap();
            assert!(matches!(change, Change::Resource { uri, .. } if uri == "file:///a"));
            server.close_subscriptions();
            assert_eq!(listening.next().await.unwrap().unwrap(), Change::Missed);
        }
        hub.close().await;
    };
    let serve = async { server.serve(visited.next().await.unwrap()).await.unwrap() };
    tokio::join!(driver, main, serve);
}

/// A hub of one server in this process, and who visits that.
fn reaching(config: HubConfig) -> (Hub, Driver, mpsc::UnboundedReceiver<Duplex>) {
    let (visitors, visited) = mpsc::unbounded();
    let target = CustomTarget::new("within", move || {
        let (near, far) = duplex(8);
        visitors.unbounded_send(far)?;
        Ok(near)
    });
    let (hub, driver) = Hub::with_config(config, [ServerConfig::new("a", target)]);
    (hub, driver, visited)
}
