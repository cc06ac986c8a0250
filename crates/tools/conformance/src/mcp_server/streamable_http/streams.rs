//! Checks of which stream carries a message.

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::{QUIET, Session, events_until, message_of, messages_within, progress_of, read_to_response};
use super::{unique, unique_tool};
use crate::check::{Check, HTTP, check};
use crate::link::http::HttpResponse;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// The token of each call that reports its progress.
pub(crate) const TOKEN: &str = "conformance-progress";

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(one_path_takes_post_and_get, HTTP),
    check!(unrelated_messages_are_not_on_the_stream_of_a_request, HTTP),
    check!(get_is_a_stream_or_405, HTTP),
    check!(get_streams_carry_nothing_of_a_request, HTTP),
    check!(get_streams_carry_no_response, HTTP),
    check!(each_message_is_on_one_stream, HTTP),
    check!(several_streams_are_served_at_once, HTTP),
    check!(event_ids_are_unique_in_a_session, HTTP),
];

async fn one_path_takes_post_and_get(server: Server) -> Outcome {
    let mut session = Session::unopened(&server).await?;
    let initialize = session.message("initialize", "initialize", server.initialize(json!({})));
    let posted = session.post(&initialize).send().await.map_err(Stop::while_preparing)?;
    let status = posted.status();
    ensure!(!matches!(status, 404 | 405), "a path that takes POST", "status {status} for a POST");
    if status != 200 {
        return Err(Stop::inconclusive(format!("initialize gets status {status}")));
    }
    session.id = posted.header("mcp-session-id").map(str::to_owned);
    session.post(&super::initialized()).send().await.map_err(Stop::while_preparing)?;
    let got = session.get().send().await.map_err(Stop::while_preparing)?.status();
    ensure!(
        got != 404,
        "the path of POST takes GET, or answers it with status 405",
        "status {got} for a GET"
    );
    session.end().await
}

async fn unrelated_messages_are_not_on_the_stream_of_a_request(server: Server) -> Outcome {
    let slow = unique_tool(&server, "slow", &unique("related")?)?;
    let changing = server.tool("changes_tools")?;
    let session = Session::open(&server).await?;
    let other = Session::open(&server).await?;
    let _get = session.listen().await?;
    let mut post = session.stream(&session.call("slow", slow, None)).await?;
    // Another session changes the list, so that the change belongs to no request of this one.
    other.ask(&other.call("change", changing, None)).await.map_err(Stop::while_preparing)?;
    let wait = session.target.wait();
    let (events, _) = read_to_response(&mut post, wait, "slow").await?;
    for message in events.iter().filter_map(message_of) {
        let expected = "no change of a list on the stream of a call, which it does not relate to";
        ensure!(message["method"] != "notifications/tools/list_changed", expected, "`{message}`");
    }
    other.end().await?;
    session.end().await
}

async fn get_is_a_stream_or_405(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let response = session.get().send().await.map_err(Stop::while_preparing)?;
    let (status, kind) = (response.status(), response.header("content-type").unwrap_or_default());
    if status == 404 {
        return Err(Stop::inconclusive(
            "the path of POST does not take GET, which another requirement judges",
        ));
    }
    let is_stream = status == 200 && response.is_stream();
    ensure!(
        is_stream || status == 405,
        "text/event-stream or status 405 for GET",
        "status {status} and `{kind}`"
    );
    drop(response);
    session.end().await
}

/// The call of a tool that reports its progress, or another simple request.
fn reporting_call(server: &Server, session: &Session, id: &str) -> Value {
    match server.tool("progress").or_else(|_| server.tool("echo")) {
        Ok(tool) => session.call(id, tool, Some(TOKEN)),
        Err(_) => session.simple(id),
    }
}

/// The messages of the answer to a request, be it a stream or JSON.
async fn messages_to_response(session: &Session, post: &mut HttpResponse, id: &str) -> Outcome<Vec<Value>> {
    if !post.is_stream() {
        return Ok(vec![post.json().await.map_err(Stop::while_preparing)?]);
    }
    let (events, _) = read_to_response(post, session.target.wait(), id).await?;
    Ok(events.iter().filter_map(message_of).collect())
}

/// The progress that messages report.
fn reports(messages: &[Value]) -> Vec<f64> {
    messages.iter().filter_map(|message| progress_of(message, TOKEN)).collect()
}

async fn get_streams_carry_nothing_of_a_request(server: Server) -> Outcome {
    let tool = server.tool("progress")?;
    let session = Session::open(&server).await?;
    let mut get = session.listen().await?;
    let request = session.post(&session.call("reporting", tool, Some(TOKEN)));
    let mut post = request.send().await.map_err(Stop::while_preparing)?;
    let on_post = reports(&messages_to_response(&session, &mut post, "reporting").await?);
    let on_get = reports(&messages_within(&mut get, QUIET).await?);
    if on_get.iter().any(|progress| on_post.contains(progress)) {
        return Err(Stop::inconclusive("the progress is on two streams, which another requirement judges"));
    }
    let expected = "no progress of a running request on the GET stream";
    ensure!(on_get.is_empty(), expected, "the progress {on_get:?}");
    session.end().await
}

async fn get_streams_carry_no_response(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut get = session.listen().await?;
    let mut asked = Ok(());
    for (id, method) in [("one", "ping"), ("two", "tools/list"), ("three", "conformance/unknown")] {
        asked = asked.and(session.ask(&session.message(id, method, json!({}))).await.map(drop));
    }
    for message in messages_within(&mut get, QUIET).await? {
        let is_response = message.get("method").is_none();
        ensure!(!is_response, "no response on a GET stream that resumes none", "`{message}`");
    }
    asked.map_err(Stop::while_preparing)?;
    session.end().await
}

/// The streams that a server opens for two GETs. It may refuse the second.
async fn two_streams(session: &Session) -> Outcome<Vec<HttpResponse>> {
    let first = session.listen().await?;
    let second = session.get().send().await.map_err(Stop::while_preparing)?;
    Ok([first, second].into_iter().filter(|response| response.status() == 200).collect())
}

async fn each_message_is_on_one_stream(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut streams = two_streams(&session).await?;
    let request = session.post(&reporting_call(&server, &session, "counted"));
    let mut post = request.send().await.map_err(Stop::while_preparing)?;
    let mut on_streams = vec![reports(&messages_to_response(&session, &mut post, "counted").await?)];
    for stream in &mut streams {
        on_streams.push(reports(&messages_within(stream, QUIET).await?));
    }
    for (at, reported) in on_streams.iter().enumerate() {
        let twice = on_streams[..at].iter().flatten().find(|progress| reported.contains(progress));
        let seen = twice.map(|progress| format!("the progress {progress} is on two"));
        ensure!(twice.is_none(), "each message on only one stream", "{}", seen.unwrap_or_default());
    }
    drop(streams);
    if let (Ok(tool), Ok(role)) = (server.tool("updates"), server.setting.role("updates")) {
        let subscribe = session.message("subscribe", "resources/subscribe", json!({"uri": role["uri"]}));
        session.ask(&subscribe).await.map_err(Stop::while_preparing)?;
        // Other clients may cause a second update at the same time, but hardly twice.
        let is_on_both =
            update_is_on_both(&session, &tool).await? && update_is_on_both(&session, &tool).await?;
        ensure!(!is_on_both, "each message on only one stream", "an update is on two GET streams");
    }
    session.end().await
}

/// Whether an update arrives on two GET streams.
async fn update_is_on_both(session: &Session, tool: &Value) -> Outcome<bool> {
    let mut streams = two_streams(session).await?;
    session.ask(&session.call("update", tool.clone(), None)).await.map_err(Stop::while_preparing)?;
    let mut count = 0;
    for stream in &mut streams {
        let messages = messages_within(stream, QUIET).await?;
        let is_update = |message: &Value| message["method"] == "notifications/resources/updated";
        count += usize::from(messages.iter().any(is_update));
    }
    Ok(count == 2)
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
    let mut get = session.get().send().await.map_err(Stop::while_preparing)?;
    for id in ["one", "two", "three", "four"] {
        let request = session.post(&reporting_call(&server, &session, id));
        let mut post = request.send().await.map_err(Stop::while_preparing)?;
        if post.is_stream() {
            events.extend(read_to_response(&mut post, session.target.wait(), id).await?.0);
        }
    }
    if get.is_stream() {
        events.extend(events_until(&mut get, QUIET, |_| false).await?);
    }
    // An empty id is none: it takes back the last one.
    let ids = events.into_iter().filter_map(|event| event.id).filter(|id| !id.is_empty());
    let mut ids: Vec<String> = ids.collect();
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
