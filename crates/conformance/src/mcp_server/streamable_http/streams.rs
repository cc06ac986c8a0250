//! Checks of which stream carries a message.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::{QUIET, Session, has_response, is_response, message_of, messages_within, progress_of};
use super::{events_until, unique, unique_tool};
use crate::check::{Check, HTTP, check};
use crate::fault::{Fault, Incoming};
use crate::faults;
use crate::link::http::HttpResponse;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// The token of each call that reports its progress.
const TOKEN: &str = "conformance-progress";

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!("HTP-01", one_path_takes_post_and_get, HTTP, [
        "knows GET only" => faults::answer_status(|request| request.starts_with("POST"), 405),
        "knows POST only" => faults::answer_status(|request| request.starts_with("GET"), 404),
    ]),
    check!("HTP-14", unrelated_messages_are_not_on_the_stream_of_a_request, HTTP, [
        "tells of a change on the stream of a request" => sends_on(|request| request.contains("\"slow\""), tools_changed()),
    ]),
    check!("HTP-18", get_is_a_stream_or_405, HTTP, [
        "answers GET with JSON" => faults::answer_head(|request| request.starts_with("GET"), |head| head.set("content-type", "application/json")),
        "answers GET with status 400" => faults::answer_status(|request| request.starts_with("GET"), 400),
    ]),
    check!("HTP-20", get_streams_carry_nothing_of_a_request, HTTP, [
        "reports the progress of a call on the GET stream" => sends_on(|request| request.starts_with("GET"), progress(1)),
    ]),
    check!("HTP-21", get_streams_carry_no_response, HTTP, [
        "sends a response on the GET stream" => sends_on(|request| request.starts_with("GET"), response("one")),
    ]),
    check!("HTP-22", each_message_is_on_one_stream, HTTP, [
        "sends a response on the GET stream, too" => sends_on(|request| request.starts_with("GET"), response("counted")),
        "sends progress on the GET stream, too" => sends_on(|request| request.starts_with("GET"), progress(1)),
        "tells of an update on every GET stream" => sends_on(|request| request.starts_with("GET"), json!({
            "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "test://watched-resource"}})),
    ]),
    check!("HTP-23", several_streams_are_served_at_once, HTTP, [
        "refuses a second stream" => faults::answer_status(|request| request.contains("\"together-3\""), 409),
    ]),
    check!("HTP-24", event_ids_are_unique_in_a_session, HTTP, [
        "counts events from 1 on each stream" => faults::each_event(|mut event| {
            event.id = event.id.map(|_| "1".to_owned());
            vec![event]
        }),
    ]),
];

/// Sends one more message at the beginning of the streams of some requests.
fn sends_on(accept: impl FnMut(&str) -> bool + Send + 'static, message: Value) -> Box<dyn Fault> {
    faults::in_response_to(accept, move |incoming| match incoming {
        Incoming::Head(head) => vec![Incoming::Head(head), Incoming::Forged(message.clone())],
        other => vec![other],
    })
}

fn tools_changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
}

fn progress(progress: u32) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": TOKEN, "progress": progress}})
}

fn response(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

async fn one_path_takes_post_and_get(server: Server) -> Outcome {
    let mut session = Session::unopened(&server).await?;
    let initialize = session.message("initialize", "initialize", server.initialize(json!({})));
    let posted = session.post(&initialize).send().await?;
    ensure!(posted.status() == 200, "status 200 for the POST of initialize", "status {}", posted.status());
    session.id = posted.header("mcp-session-id").map(str::to_owned);
    session.post(&super::initialized()).send().await?;
    let got = session.get().send().await?.status();
    ensure!(
        got == 200 || got == 405,
        "an event stream or status 405 for GET on the same path",
        "status {got}"
    );
    session.end().await
}

async fn unrelated_messages_are_not_on_the_stream_of_a_request(server: Server) -> Outcome {
    let slow = unique_tool(&server, "slow", &unique("related")?)?;
    let changing = server.tool("changes_tools")?;
    let session = Session::open(&server).await?;
    let other = Session::open(&server).await?;
    let mut get = session.listen().await?;
    let mut post = session.post(&session.call("slow", slow, None)).send().await?;
    if !post.is_stream() {
        return Err(Stop::not_applicable("the server answers with JSON, not with a stream"));
    }
    // Another session changes the list, so that the change belongs to no request of this one.
    other.ask(&other.call("change", changing, None)).await.map_err(Stop::while_preparing)?;
    let wait = session.target.wait();
    let events = events_until(&mut post, wait, |event| has_response(event, "slow")).await?;
    for message in events.iter().filter_map(message_of) {
        let expected = "changes of lists on the GET stream, not on the stream of a call";
        ensure!(message["method"] != "notifications/tools/list_changed", expected, "`{message}`");
    }
    let on_get = messages_within(&mut get, QUIET).await?;
    for message in &on_get {
        ensure!(
            !is_response(message, "slow"),
            "the response on the stream of its request",
            "`{message}` on GET"
        );
    }
    other.end().await?;
    session.end().await
}

async fn get_is_a_stream_or_405(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let response = session.get().send().await?;
    let (status, kind) = (response.status(), response.header("content-type").unwrap_or_default());
    let is_stream = status == 200 && response.is_stream();
    ensure!(
        is_stream || status == 405,
        "text/event-stream or status 405 for GET",
        "status {status} and `{kind}`"
    );
    drop(response);
    session.end().await
}

/// The call of a tool that reports its progress, or of any tool.
async fn reporting_call(server: &Server, session: &Session, id: &str) -> Outcome<Value> {
    if let Ok(tool) = server.tool("progress").or_else(|_| server.tool("echo")) {
        return Ok(session.call(id, tool, Some(TOKEN)));
    }
    Ok(session.simple(id))
}

async fn get_streams_carry_nothing_of_a_request(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut get = session.listen().await?;
    session.ask(&reporting_call(&server, &session, "reporting").await?).await?;
    for message in messages_within(&mut get, QUIET).await? {
        let expected = "progress on the stream of the request that it belongs to";
        ensure!(progress_of(&message, TOKEN).is_none(), expected, "`{message}` on the GET stream");
    }
    session.end().await
}

async fn get_streams_carry_no_response(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut get = session.listen().await?;
    for (id, method) in [("one", "ping"), ("two", "tools/list"), ("three", "conformance/unknown")] {
        session.ask(&session.message(id, method, json!({}))).await?;
    }
    for message in messages_within(&mut get, QUIET).await? {
        let is_response = message.get("method").is_none();
        ensure!(!is_response, "no response on a GET stream that resumes none", "`{message}`");
    }
    session.end().await
}

/// The streams that a server opens for two GETs. It may refuse the second.
async fn two_streams(session: &Session) -> Outcome<Vec<HttpResponse>> {
    let first = session.listen().await?;
    let second = session.get().send().await?;
    Ok([first, second].into_iter().filter(|response| response.status() == 200).collect())
}

async fn each_message_is_on_one_stream(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut streams = two_streams(&session).await?;
    let request = reporting_call(&server, &session, "counted").await?;
    let mut post = session.post(&request).send().await?;
    let mut messages = Vec::new();
    if post.is_stream() {
        let wait = session.target.wait();
        let events = events_until(&mut post, wait, |event| has_response(event, "counted")).await?;
        messages.extend(events.iter().filter_map(message_of));
    } else {
        messages.push(post.json().await?);
    }
    if let (Ok(tool), Ok(role)) = (server.tool("updates"), server.setting.role("updates")) {
        let subscription = json!({"uri": role["uri"]});
        session.ask(&session.message("subscribe", "resources/subscribe", subscription)).await?;
        session.ask(&session.call("update", tool, None)).await?;
    }
    let mut with_update = 0;
    for stream in &mut streams {
        let on_get = messages_within(stream, QUIET).await?;
        let is_update = |message: &Value| message["method"] == "notifications/resources/updated";
        with_update += usize::from(on_get.iter().any(is_update));
        messages.extend(on_get);
    }
    // Other clients may cause further updates meanwhile, so that their number says nothing.
    ensure!(with_update <= 1, "an update on one GET stream", "it is on {with_update} streams");
    let mut copies: BTreeMap<String, usize> = BTreeMap::new();
    for message in &messages {
        let key = match progress_of(message, TOKEN) {
            Some(progress) => format!("the progress {progress}"),
            None if is_response(message, "counted") => "the response".to_owned(),
            None => continue,
        };
        *copies.entry(key).or_default() += 1;
    }
    for (what, copies) in copies {
        ensure!(copies == 1, format!("{what} on exactly one stream"), "{copies} copies");
    }
    session.end().await
}

async fn several_streams_are_served_at_once(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let requests = (0..10).map(|number| {
        let session = session.clone();
        async move {
            let id = format!("together-{number}");
            let mut response = session.post(&session.simple(&id)).send().await?;
            ensure!(
                response.status() == 200,
                "ten requests at once are served",
                "status {}",
                response.status()
            );
            response.response(&json!(id)).await
        }
    });
    try_join_all(requests).await?;
    session.end().await
}

async fn event_ids_are_unique_in_a_session(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut events = Vec::new();
    let mut get = session.get().send().await?;
    for id in ["one", "two", "three", "four"] {
        let mut post = session.post(&reporting_call(&server, &session, id).await?).send().await?;
        let wait = session.target.wait();
        events.extend(events_until(&mut post, wait, |event| has_response(event, id)).await?);
    }
    if get.is_stream() {
        events.extend(events_until(&mut get, QUIET, |_| false).await?);
    }
    let mut ids: Vec<String> = events.into_iter().filter_map(|event| event.id).collect();
    if ids.is_empty() {
        return Err(Stop::not_applicable("the server gives its events no ids"));
    }
    ids.sort_unstable();
    let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
    ensure!(
        twice.is_none(),
        "each event id once in a session",
        "`{}` twice",
        twice.map_or("", |pair| &pair[0])
    );
    session.end().await
}
