//! Subscriptions to changes at a modern server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_client::schema::SubscriptionFilter;
use agentwire_mcp_client::{BoxError, CallError, Change, Client, Era, RemoteServer, Warning};
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::mock::{Mock, with_mock, with_modern, with_server};

/// The name under which `_meta` has the subscription.
const ID: &str = "io.modelcontextprotocol/subscriptionId";

impl Mock {
    /// Takes a request to listen and agrees to that much of it.
    async fn agree(&mut self, filter: Value) -> Value {
        let listen = self.expect("subscriptions/listen").await;
        self.say(&listen, "notifications/subscriptions/acknowledged", json!({ "notifications": filter }))
            .await;
        listen
    }

    /// Sends a notification on a subscription.
    async fn say(&mut self, listen: &Value, method: &str, mut params: Value) {
        params["_meta"] = json!({ ID: listen["id"] });
        self.notify(method, params).await;
    }

    async fn end(&mut self, listen: &Value) {
        self.answer(listen, json!({ "resultType": "complete", "_meta": { ID: listen["id"] } })).await;
    }
}

/// The record of the received messages.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn push(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn warnings(&self, client: Client) -> Client {
        let heard = self.clone();
        client.on_warning(move |warning| heard.push(format!("{warning:?}")))
    }

    fn tools(&self, client: Client) -> Client {
        let heard = self.clone();
        client.on_tools_changed(move || heard.push("tools"))
    }

    fn updates(&self, client: Client) -> Client {
        let heard = self.clone();
        client.on_resource_updated(move |uri| heard.push(uri))
    }
}

async fn wait(server: RemoteServer) -> Result<(), BoxError> {
    server.closed().await;
    Ok(())
}

fn to_tools() -> SubscriptionFilter {
    SubscriptionFilter::default().tools_list_changed(true)
}

fn to(uri: &str) -> SubscriptionFilter {
    SubscriptionFilter::default().resource_subscriptions(vec![uri.to_owned()])
}

#[tokio::test(start_paused = true)]
async fn sub_04_05_and_08_subscriptions_are_independent_and_end_when_they_are_dropped() {
    let heard = Heard::default();
    let update = |uri: &str| json!({ "uri": uri });
    let script = async |mut mock: Mock| {
        let one = mock.expect("subscriptions/listen").await;
        let two = mock.expect("subscriptions/listen").await;
        assert_eq!(one["params"]["notifications"], json!({ "resourceSubscriptions": ["one:"] }));
        let agreed = json!({ "notifications": { "resourceSubscriptions": ["two:"] } });
        mock.say(&two, "notifications/subscriptions/acknowledged", agreed).await;
        // The first is not agreed to yet.
        mock.say(&two, "notifications/resources/updated", update("two: first")).await;
        mock.say(&one, "notifications/subscriptions/acknowledged", json!({ "notifications": {} })).await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], one["id"]);
        mock.say(&one, "notifications/resources/updated", update("one: late")).await;
        mock.say(&two, "notifications/resources/updated", update("two: second")).await;
        mock.end(&two).await;
        mock.expect_end().await;
    };
    let all = heard.clone();
    let client = heard.updates(Client::default()).on_notification(move |said| all.push(&*said.method));
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        let (ones, twos) = (heard.clone(), heard.clone());
        let (one, two) = tokio::join!(
            server.listen_with(to("one:"), move |_| ones.push("on the first")),
            server.listen_with(to("two:"), move |said| twos.push(format!("on the second: {}", said.method))),
        );
        let (one, two) = (one?, two?);
        assert_eq!(*one.acknowledged(), SubscriptionFilter::default());
        assert_eq!(*two.acknowledged(), to("two:"));
        drop(one);
        two.ended().await?;
        Ok(())
    })
    .await;
    result.unwrap();
    let method = "notifications/resources/updated";
    let second = format!("on the second: {method}");
    assert_eq!(heard.take(), [&*second, method, "two: first", &*second, method, "two: second"]);
}

#[tokio::test(start_paused = true)]
async fn can_11_and_sub_07_a_server_ends_a_subscription_in_two_ways_and_a_drop_is_neither() {
    for by_cancel in [true, false] {
        let script = async |mut mock: Mock| {
            let listen = mock.agree(json!({ "toolsListChanged": true })).await;
            if by_cancel {
                mock.notify("notifications/cancelled", json!({ "requestId": listen["id"] })).await;
                // Only that one is the server's to cancel.
                let call = mock.expect("tools/call").await;
                mock.notify("notifications/cancelled", json!({ "requestId": call["id"] })).await;
                mock.answer(&call, json!({ "resultType": "complete", "content": [] })).await;
            } else {
                mock.end(&listen).await;
                mock.expect("tools/call").await;
            }
        };
        let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
            server.listen(to_tools()).await?.ended().await?;
            assert_eq!(server.call_tool("x", ()).await.is_ok(), by_cancel);
            Ok(())
        })
        .await;
        result.unwrap();
    }
    let script = async |mut mock: Mock| {
        mock.agree(json!({})).await;
    };
    let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
        Ok(server.listen(to_tools()).await?.ended().await)
    })
    .await;
    assert!(matches!(result.unwrap(), Err(CallError::Closed(_))));
}

#[tokio::test(start_paused = true)]
async fn late_acknowledgement_is_given_up() {
    let script = async |mut mock: Mock| {
        let silent = mock.expect("subscriptions/listen").await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], silent["id"]);
        let refused = mock.expect("subscriptions/listen").await;
        mock.refuse(&refused, json!({ "code": -32603, "message": "no" })).await;
        let ended = mock.expect("subscriptions/listen").await;
        mock.end(&ended).await;
        mock.expect_end().await;
    };
    let client = Client::default().timeout(Duration::from_secs(3));
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        let started = Instant::now();
        let error = server.listen(to_tools()).await.unwrap_err();
        assert!(matches!(error, CallError::Unusable { .. }), "{error}");
        assert_eq!(started.elapsed().as_secs(), 3);
        assert!(server.listen(to_tools()).await.unwrap_err().refusal().is_some());
        assert!(matches!(server.listen(to_tools()).await, Err(CallError::Unusable { .. })));
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_has_no_subscriptions_and_tells_unasked() {
    let heard = Heard::default();
    let script = async |mut mock: Mock| {
        // A name that has a meaning only in a session.
        mock.notify("notifications/tools/list_changed", json!({ "_meta": { ID: 77 } })).await;
        let ping = mock.expect("ping").await;
        mock.answer(&ping, json!({})).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(heard.tools(Client::default()), script, async |server: RemoteServer| {
        assert!(matches!(server.listen(to_tools()).await, Err(CallError::NotAllowed { .. })));
        Ok(server.ping().await?)
    })
    .await;
    result.unwrap();
    assert_eq!(heard.take(), ["tools"]);
}

#[tokio::test(start_paused = true)]
async fn client_with_a_function_for_changes_listens_to_the_offered_ones() {
    let heard = Heard::default();
    // Its prompts may change, but it does not tell; for its resources the client has nothing.
    let mut description = crate::mock::description();
    description["capabilities"]["prompts"] = json!({});
    let script = async |mut mock: Mock| {
        let request = mock.expect("server/discover").await;
        mock.answer(&request, description).await;
        let listen = mock.agree(json!({ "toolsListChanged": true })).await;
        assert_eq!(listen["params"]["notifications"], json!({ "toolsListChanged": true }));
        assert!(listen["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string());
        mock.say(&listen, "notifications/tools/list_changed", json!({})).await;
        // One that forgets to say on which.
        mock.notify("notifications/tools/list_changed", json!({})).await;
        mock.notify("notifications/tools/list_changed", json!({ "_meta": { ID: "1" } })).await;
    };
    let client = heard.warnings(heard.tools(Client::default())).on_prompts_changed(|| {});
    let client = client.era(agentwire_mcp_client::Era::Modern);
    with_mock(client, script, wait).await.0.unwrap();
    assert_eq!(heard.take(), ["tools", "tools"], "and nothing to warn of");
}

#[tokio::test(start_paused = true)]
async fn server_that_never_acknowledges_gets_five_subscriptions() {
    let heard = Heard::default();
    let script = async |mut mock: Mock| {
        for round in 0..5 {
            let listen = mock.expect("subscriptions/listen").await;
            if round == 2 {
                mock.end(&listen).await;
            } else {
                let cancelled = mock.expect("notifications/cancelled").await;
                assert_eq!(cancelled["params"]["requestId"], listen["id"]);
            }
        }
        mock.expect_end().await;
    };
    let client = heard.warnings(heard.tools(Client::default())).timeout(Duration::from_secs(3));
    let (result, ()) = with_modern(client, script, async |_: RemoteServer| {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(())
    })
    .await;
    result.unwrap();
    let heard = heard.take();
    assert!(matches!(&heard[..], [warning] if warning.starts_with("ChangesNotReported")), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_main_is_the_end_of_listening() {
    let script = async |mut mock: Mock| {
        let listen = mock.agree(json!({ "toolsListChanged": true })).await;
        let call = mock.expect("tools/call").await;
        mock.answer(&call, json!({ "resultType": "complete", "content": [] })).await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], listen["id"]);
        mock.expect_end().await;
    };
    let client = Heard::default().tools(Client::default());
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(server.call_tool("x", ()).await?)
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn sub_07_client_resubscribes_after_a_pause_and_reports_the_gap() {
    let heard = Heard::default();
    let script = async |mut mock: Mock| {
        let mut pauses = Vec::new();
        let mut ended = Instant::now();
        for round in 0..9 {
            let listen = mock.agree(json!({ "toolsListChanged": true })).await;
            pauses.push(ended.elapsed().as_secs());
            tokio::time::sleep(Duration::from_millis(1)).await;
            if round == 7 {
                // This one lasts, so that the next may follow soon.
                tokio::time::sleep(Duration::from_secs(61)).await;
            }
            match round % 3 {
                0 => mock.end(&listen).await,
                1 => mock.notify("notifications/cancelled", json!({ "requestId": listen["id"] })).await,
                // It ends in an error: what carried it failed, for all that the client knows.
                _ => {
                    mock.answer(&listen, json!({ "resultType": "input_required", "requestState": "x" })).await
                }
            }
            ended = Instant::now();
        }
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 32, 60, 1]);
    };
    let client = heard.warnings(heard.tools(Client::default()));
    with_modern(client, script, wait).await.0.unwrap();
    assert_eq!(heard.take(), vec!["tools"; 8], "all but the first, before which nothing was missed");
}

#[tokio::test(start_paused = true)]
async fn refused_subscription_is_warned_of_and_not_repeated() {
    let heard = Heard::default();
    let script = async |mut mock: Mock| {
        let listen = mock.expect("subscriptions/listen").await;
        mock.refuse(&listen, json!({ "code": -32601, "message": "what?" })).await;
        let call = mock.expect("tools/call").await;
        mock.answer(&call, json!({ "resultType": "complete", "content": [] })).await;
        mock.expect_end().await;
    };
    let client = heard.warnings(heard.tools(Client::default()));
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(server.call_tool("x", ()).await?)
    })
    .await;
    result.unwrap();
    let warnings = heard.take();
    assert!(warnings.len() == 1 && warnings[0].starts_with("ChangesNotReported"), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn sub_08_partial_subscription_warns_and_empty_one_is_cancelled() {
    for (agreed, kept) in [(json!({}), false), (json!({ "promptsListChanged": true }), true)] {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let heard = warnings.clone();
        let client =
            Heard::default().tools(Client::default()).on_prompts_changed(|| {}).on_warning(move |warning| {
                let Warning::ChangesPartlyReported { acknowledged, .. } = warning else {
                    panic!("{warning}")
                };
                heard.lock().unwrap().push(acknowledged);
            });
        let script = async |mut mock: Mock| {
            mock.agree(agreed.clone()).await;
            let first = mock.next().await.unwrap();
            assert_eq!(first["method"] == "notifications/cancelled", !kept, "{first}");
            if !kept {
                mock.expect("tools/call").await;
            }
        };
        let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            Ok(server.call_tool("x", ()).await)
        })
        .await;
        assert!(result.unwrap().is_err());
        let warnings = warnings.lock().unwrap();
        assert_eq!(warnings.len(), 1);
        assert_eq!(serde_json::to_value(&warnings[0]).unwrap(), agreed);
    }
}

#[tokio::test(start_paused = true)]
async fn it_listens_within_the_future_that_drives_too() {
    let heard = Heard::default();
    let (near, far) = agentwire_transport::duplex(1);
    let client = heard.tools(Client::default()).era(agentwire_mcp_client::Era::Auto);
    let (connecting, driver) = client.start(near);
    let script = async {
        let mut mock = Mock::new(far);
        mock.describe().await;
        let listen = mock.agree(json!({ "toolsListChanged": true })).await;
        mock.say(&listen, "notifications/tools/list_changed", json!({})).await;
        mock.end(&listen).await;
    };
    let main = async {
        let server = connecting.await.unwrap();
        server.closed().await
    };
    let (_, driven, ()) = tokio::join!(main, driver, script);
    driven.unwrap();
    assert_eq!(heard.take(), ["tools"]);
}

#[test]
fn futures_can_be_spawned() {
    fn is_send<T: Send>(_: &T) {}
    let (near, _far) = agentwire_transport::duplex(1);
    let client = Heard::default().tools(Client::default()).era(agentwire_mcp_client::Era::Auto);
    is_send(&client.connect(near, async |server| {
        let subscription = server.listen(SubscriptionFilter::default()).await?;
        server.call_tool("x", ()).await?;
        Ok(subscription.ended().await?)
    }));
}

/// Notifies of a resource, then of more resources than are queued, and last of the tools.
async fn tell_of_much(mock: &mut Mock, meta: Value) {
    for number in (0..1).chain(0..2000) {
        let mut params = json!({ "uri": format!("file:///a/{number}") });
        params["_meta"] = meta.clone();
        mock.notify("notifications/resources/updated", params).await;
    }
    mock.notify("notifications/tools/list_changed", json!({ "_meta": meta })).await;
}

fn to_tools_and(uri: &str) -> SubscriptionFilter {
    to(uri).tools_list_changed(true)
}

/// The first change, and those that are queued once all have arrived.
async fn changes(server: RemoteServer) -> Result<Vec<Change>, BoxError> {
    let mut changes = server.changes(to_tools_and("file:///a")).await?;
    assert_eq!(*changes.acknowledged(), to_tools_and("file:///a"));
    let first = changes.next().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // One wait in 128 is pending for one poll.
    let queued = std::iter::from_fn(|| (0..2).find_map(|_| changes.next().now_or_never().flatten()));
    Ok(first.into_iter().chain(queued).collect())
}

#[tokio::test(start_paused = true)]
async fn changes_end_once_and_for_all() {
    let script = async |mut mock: Mock| {
        let listen = mock.agree(json!({ "toolsListChanged": true })).await;
        mock.end(&listen).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
        let mut changes = server.changes(to_tools()).await?;
        assert_eq!([changes.next().await, changes.next().await], [None, None]);
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn changes_are_a_bounded_stream_in_every_revision() {
    let session = async |mut mock: Mock| {
        let info = json!({ "tools": { "listChanged": true }, "resources": { "subscribe": true } });
        mock.greet_with("2025-11-25", info).await;
        let subscribe = mock.expect("resources/subscribe").await;
        assert_eq!(subscribe["params"]["uri"], "file:///a");
        mock.answer(&subscribe, json!({})).await;
        mock.notify("notifications/resources/updated", json!({ "uri": "file:///other" })).await;
        tell_of_much(&mut mock, json!({})).await;
        mock.expect_end().await;
    };
    let modern = async |mut mock: Mock| {
        mock.describe().await;
        let listen =
            mock.agree(json!({ "toolsListChanged": true, "resourceSubscriptions": ["file:///a"] })).await;
        tell_of_much(&mut mock, json!({ ID: listen["id"] })).await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], listen["id"]);
        mock.expect_end().await;
    };
    let client = Client::default();
    let told = [
        with_mock(client.clone().era(Era::Legacy), session, changes).await.0.unwrap(),
        with_mock(client.era(Era::Modern), modern, changes).await.0.unwrap(),
    ];
    for changes in told {
        let is = |change: Option<&Change>, number| matches!(change, Some(Change::Resource { uri, .. }) if *uri == format!("file:///a/{number}"));
        assert!(is(changes.first(), 0), "{:?}", changes.first());
        assert_eq!(changes[1], Change::Missed, "after that, more than the limit came");
        assert_eq!(changes.last(), Some(&Change::Tools));
        assert!(changes.len() <= 1026 && is(changes.get(changes.len() - 2), 1999), "{}", changes.len());
    }
}

#[tokio::test(start_paused = true)]
async fn resource_is_watched_in_both_eras() {
    for is_modern in [false, true] {
        let heard = Heard::default();
        let client = heard.updates(Client::default());
        let script = async |mut mock: Mock| {
            let method = if is_modern { "subscriptions/listen" } else { "resources/subscribe" };
            let request = mock.expect(method).await;
            if is_modern {
                let agreed = json!({ "notifications": { "resourceSubscriptions": ["a:"] } });
                mock.say(&request, "notifications/subscriptions/acknowledged", agreed).await;
                mock.say(&request, "notifications/resources/updated", json!({ "uri": "a:" })).await;
            } else {
                mock.answer(&request, json!({})).await;
                mock.notify("notifications/resources/updated", json!({ "uri": "a:" })).await;
            }
        };
        let main = async |server: RemoteServer| {
            let subscription = server.watch("a:").await?;
            assert_eq!(*subscription.acknowledged(), to("a:"));
            assert!(subscription.ended().await.is_err(), "the connection ended");
            Ok(())
        };
        let (result, ()) = match is_modern {
            true => with_modern(client, script, main).await,
            false => with_server(client, script, main).await,
        };
        result.unwrap();
        assert_eq!(heard.take(), ["a:"], "{is_modern}");
    }
}
