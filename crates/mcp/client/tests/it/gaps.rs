//! Gaps in the changes of a session, and servers that report changes only while calls run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::schema::SubscriptionFilter;
use agentwire_mcp_client::{BoxError, CallError, Change, Client, Era, RemoteServer};
use agentwire_transport::TransportError;
use agentwire_transport_http::client::{Body, BoxError as HttpBoxError, Config, Http, HttpClient};
use bytes::Bytes;
use futures::future::{self, BoxFuture};
use futures::{FutureExt, StreamExt, stream};
use http::{Method, Request, Response};
use serde_json::{Value, json};

use crate::mock::{MODERN, Mock, NEWEST, description, with_mock};
use crate::tasks;

const CHANGED: &str = "notifications/tools/list_changed";

fn to_tools() -> SubscriptionFilter {
    SubscriptionFilter::default().tools_list_changed(true)
}

async fn with_session<R>(
    client: Client,
    script: impl AsyncFnOnce(Mock),
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> R {
    let script = async |mut mock: Mock| {
        let changing = json!({ "listChanged": true });
        mock.greet_with(NEWEST, json!({ "tools": changing, "resources": { "subscribe": true } })).await;
        script(mock).await;
    };
    with_mock(client.era(Era::Legacy), script, main).await.0.unwrap()
}

/// A hook is called for lists that the server offers to report.
#[tokio::test(start_paused = true)]
async fn gaps_are_missed_once_and_call_the_hooks() {
    let called = Arc::<Mutex<Vec<&str>>>::default();
    let (tools, prompts) = (called.clone(), called.clone());
    let client = Client::default()
        .on_tools_changed(move || tools.lock().unwrap().push("tools"))
        .on_prompts_changed(move || prompts.lock().unwrap().push("prompts"));
    let script = async |mut mock: Mock| {
        let call = mock.expect("resources/subscribe").await;
        mock.answer(&call, json!({})).await;
        mock.notify("notifications/resources/updated", json!({ "uri": "file:///a" })).await;
        mock.gap(None).await;
        mock.gap(None).await;
        mock.expect_end().await;
    };
    let (seen, has_ended) = with_session(client, script, async |server| {
        let filter = SubscriptionFilter::default().resource_subscriptions(["file:///a"]);
        Ok(until_quiet(server.changes(filter).await?).await)
    })
    .await;
    assert!(matches!(&seen[..], [Change::Missed, Change::Resource { .. }]) && !has_ended, "{seen:?}");
    assert_eq!(*called.lock().unwrap(), ["tools"]);
}

/// A server without a stream for its changes may still report them while a call runs.
#[tokio::test(start_paused = true)]
async fn changes_go_on_after_the_end_of_reports_which_is_reported_once() {
    let (warnings, client) = warned(Client::default());
    let script = async |mut mock: Mock| {
        mock.gap(Some("HTTP status 405")).await;
        let call = mock.expect("tools/call").await;
        mock.notify(CHANGED, json!({})).await;
        mock.answer(&call, json!({ "content": [] })).await;
        mock.expect_end().await;
    };
    with_session(client, script, async |server| {
        let mut early = server.changes(to_tools()).await?;
        assert_eq!(early.next().await, Some(Change::Unreported));
        let late = server.changes(to_tools()).await?;
        server.call_tool("x", ()).await?;
        for (changes, expected) in
            [(early, &[Change::Tools][..]), (late, &[Change::Unreported, Change::Tools])]
        {
            assert_eq!(until_quiet(changes).await, (expected.to_vec(), false));
        }
        Ok(())
    })
    .await;
    let expected = "the server reports changes only while calls run, if at all: HTTP status 405";
    assert_eq!(*warnings.lock().unwrap(), [expected]);
}

/// Many servers have no stream. A client that wants no changes is not warned of that.
#[tokio::test(start_paused = true)]
async fn end_of_reports_is_a_warning_for_clients_with_hooks_alone() {
    let hooks: [fn(Client) -> Client; 4] = [
        |client| client,
        // The server offers to report no changes of prompts.
        |client| client.on_prompts_changed(|| ()),
        |client| client.on_tools_changed(|| panic!("they have not changed")),
        |client| client.on_resource_updated(|uri| panic!("{uri} has not changed")),
    ];
    for (hook, is_warned) in hooks.into_iter().zip([false, false, true, true]) {
        let (warnings, client) = warned(Client::default());
        let client = hook(client);
        let script = async |mut mock: Mock| {
            mock.gap(Some("HTTP status 405")).await;
            let ping = mock.expect("ping").await;
            mock.answer(&ping, json!({})).await;
            mock.expect_end().await;
        };
        with_session(client, script, async |server| Ok(server.ping().await?)).await;
        let warnings = warnings.lock().unwrap();
        assert_eq!(warnings.len(), usize::from(is_warned), "{warnings:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn end_of_a_session_ends_its_changes() {
    let script = async |mut mock: Mock| mock.notify(CHANGED, json!({})).await;
    let seen = with_session(Client::default(), script, async |server| {
        Ok(until_quiet(server.changes(to_tools()).await?).await)
    });
    assert_eq!(seen.await, (vec![Change::Tools], true));
}

#[tokio::test(start_paused = true)]
async fn tools_that_may_have_changed_are_looked_up_again() {
    let script = async |mut mock: Mock| {
        mock.list().await;
        let ping = mock.expect("ping").await;
        mock.gap(None).await;
        mock.answer(&ping, json!({})).await;
        mock.list().await;
        mock.expect_end().await;
    };
    let (result, ()) = tasks::with_tasks(tasks::client(), tasks::all(), script, async |server| {
        for has_gap in [false, false, true] {
            if has_gap {
                server.ping().await?;
            }
            let started = server.call_tool("says not", ()).start().await;
            assert!(matches!(started, Err(CallError::NotAllowed { .. })), "{has_gap}: {started:?}");
        }
        Ok(())
    })
    .await;
    result.unwrap();
}

/// The warnings of a client, with their causes.
fn warned(client: Client) -> (Arc<Mutex<Vec<String>>>, Client) {
    let warnings = Arc::<Mutex<Vec<String>>>::default();
    let heard = warnings.clone();
    let hook = move |warning| heard.lock().unwrap().push(WithCauses::new(&warning).to_string());
    (warnings, client.on_warning(hook))
}

/// The changes until there are none for a while, and whether the stream has ended.
async fn until_quiet(mut changes: agentwire_mcp_client::Changes) -> (Vec<Change>, bool) {
    let mut seen = Vec::new();
    loop {
        match tokio::time::timeout(Duration::from_secs(60), changes.next()).await {
            Ok(Some(change)) => seen.push(change),
            ended => return (seen, ended.is_ok()),
        }
    }
}

impl Mock {
    /// Reports a gap, as a transport does.
    async fn gap(&mut self, end: Option<&'static str>) {
        let end = end.map(|why| Arc::new(TransportError::other(why)));
        self.packet(agentwire_transport::Packet::Gap { end }).await;
    }
}

/// A server over HTTP that is a script.
struct Script {
    session: Option<&'static str>,
    gets: Mutex<VecDeque<Get>>,
}

/// The response to a GET.
#[derive(Clone, Copy)]
enum Get {
    Status(u16),
    /// A stream of these events that breaks off.
    Cut(&'static str),
    /// A stream of these events that stays open.
    Open(&'static str),
}

const TOOLS: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
const WITH_ID: &str = "id: 1\ndata:\n\n";
const NOTHING: &str = ": hi\n\n";

fn events(text: impl Into<Bytes>, is_open: bool) -> Response<Body> {
    let text = stream::iter([Ok(text.into())]);
    let body = if is_open { text.chain(stream::pending()).boxed() } else { text.boxed() };
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

fn status(status: u16) -> Response<Body> {
    Response::builder().status(status).body(stream::empty().boxed()).unwrap()
}

impl Script {
    fn post(&self, body: &Bytes) -> Response<Body> {
        let message: Value = serde_json::from_slice(body).unwrap();
        let changing = json!({ "tools": { "listChanged": true } });
        let result = match message["method"].as_str().unwrap() {
            "server/discover" => description(),
            "initialize" => json!({
                "protocolVersion": NEWEST, "capabilities": changing, "serverInfo": { "name": "mock", "version": "1" },
            }),
            "subscriptions/listen" => {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
                let params = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
                let method = "notifications/subscriptions/acknowledged";
                let note = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                return events(format!("data: {note}\n\n"), false);
            }
            _ => return status(202),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
        let answer = stream::iter([Ok(answer.into())]).boxed();
        let mut response = Response::builder().header("content-type", "application/json");
        if let Some(id) = self.session {
            response = response.header("mcp-session-id", id);
        }
        response.body(answer).unwrap()
    }
}

impl HttpClient for Script {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, HttpBoxError>> {
        let response = match *request.method() {
            Method::POST => self.post(request.body()),
            Method::GET => match self.gets.lock().unwrap().pop_front().expect("no more GETs") {
                Get::Status(code) => status(code),
                Get::Cut(text) => events(text, false),
                Get::Open(text) => events(text, true),
            },
            _ => status(405),
        };
        future::ok(response).boxed()
    }
}

/// The changes at a client of the script, and whether their stream has ended.
async fn over_http(era: Era, session: Option<&'static str>, gets: &[Get]) -> (Vec<Change>, bool) {
    let script = Script { session, gets: Mutex::new(gets.iter().copied().collect()) };
    let http: Http = Config::new("http://localhost/mcp").unwrap().open_with(script);
    let connected = Client::default().era(era).connect(http, async |server: RemoteServer| {
        assert_eq!(server.revision().to_string(), if era == Era::Modern { MODERN } else { NEWEST });
        Ok(until_quiet(server.changes(to_tools()).await?).await)
    });
    connected.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn stream_of_changes_over_http_reports_each_gap_and_end() {
    use Change::{Missed, Tools, Unreported};
    use Get::{Cut, Open, Status};
    let session = Some("s-1");
    for (session, gets, expected, ends) in [
        // A stream without event ids cannot be resumed; one with ids is, and nothing is missed.
        (session, &[Cut(NOTHING), Open(TOOLS)][..], &[Missed, Tools][..], false),
        (session, &[Cut(WITH_ID), Open(TOOLS)], &[Tools], false),
        // The server has forgotten the stream.
        (session, &[Cut(WITH_ID), Status(400), Open(TOOLS)], &[Missed, Tools], false),
        (None, &[Cut(WITH_ID), Status(404), Open(TOOLS)], &[Missed, Tools], false),
        // The server has forgotten the session.
        (session, &[Cut(WITH_ID), Status(404)], &[], true),
        // It opens late.
        (session, &[Status(503), Open(TOOLS)], &[Missed, Tools], false),
        // There is no such stream from the beginning, or from now on.
        (session, &[Status(405)], &[Unreported], false),
        (session, &[Status(401)], &[Unreported], false),
        (session, &[Status(403)], &[Unreported], false),
        (session, &[Cut(TOOLS), Status(405)], &[Tools, Missed, Unreported], false),
        (session, &[Cut(WITH_ID), Status(401)], &[Missed, Unreported], false),
    ] {
        let seen = over_http(Era::Legacy, session, gets).await;
        assert_eq!(seen, (expected.to_vec(), ends), "{} GETs", gets.len());
    }
}

#[tokio::test(start_paused = true)]
async fn break_of_a_modern_subscription_ends_its_changes() {
    assert_eq!(over_http(Era::Modern, None, &[]).await, (Vec::new(), true));
}
