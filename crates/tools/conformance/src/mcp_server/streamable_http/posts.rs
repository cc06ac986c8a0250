//! Checks of what a server answers to a POST.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::resumption::{last_id, resumed};
use super::{Ending, Session, has_response, initialized, read_to_response, unique, unique_tool};
use crate::check::{Check, HTTP, check};
use crate::link::http::HttpResponse;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(accepted_notifications_get_202, HTTP),
    check!(unacceptable_notifications_are_refused, HTTP),
    check!(requests_get_json_or_a_stream, HTTP),
    check!(streams_contain_the_response, HTTP),
    check!(streams_stay_open_until_the_response, HTTP),
    check!(streams_end_after_the_response, HTTP),
    check!(responses_are_taken, HTTP),
];

async fn accepted_notifications_get_202(server: Server) -> Outcome {
    let mut session = Session::unopened(&server).await?;
    session.initialize(&server, session.revision).await.map_err(Stop::while_preparing)?;
    let notification = initialized();
    let mut response = session.post(&notification).send().await?;
    let status = response.status();
    if !(200..300).contains(&status) {
        return Err(Stop::inconclusive(format!(
            "the server does not accept `{notification}`: status {status}"
        )));
    }
    ensure!(status == 202, format!("status 202 for `{notification}`"), "status {status}");
    let body = response.bytes().await?;
    ensure!(body.is_empty(), "an empty body with status 202", "`{}`", String::from_utf8_lossy(&body));
    session.end().await
}

async fn unacceptable_notifications_are_refused(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let malformed = json!({"jsonrpc": "2.0", "method": 7});
    let mut response = session.post(&malformed).send().await.map_err(Stop::while_preparing)?;
    let status = response.status();
    if status < 400 {
        // A server that ignores what it does not understand accepts it. An error shows that it does not.
        let body = response.bytes().await.map_err(Stop::while_preparing)?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let expected = format!("a status of 4xx or 5xx for `{malformed}`, which the server does not accept");
        ensure!(message.get("error").is_none(), expected, "status {status} with `{message}`");
        return Err(Stop::not_applicable(format!("the server accepts `{malformed}`: status {status}")));
    }
    session.end().await
}

async fn requests_get_json_or_a_stream(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let request = session.post(&session.simple("labelled"));
    let mut response = request.send().await.map_err(Stop::while_preparing)?;
    let status = response.status();
    if !(200..300).contains(&status) {
        return Err(Stop::inconclusive(format!("the server refuses a simple request: status {status}")));
    }
    let kind = response.header("content-type").unwrap_or_default().to_owned();
    let is_known = kind.starts_with("application/json") || kind.starts_with("text/event-stream");
    ensure!(is_known, "the type application/json or text/event-stream", "`{kind}`");
    if response.is_stream() {
        let is_empty = matches!(response.event_or_silence(session.target.wait()).await?, Some(None));
        ensure!(!is_empty, format!("an event stream, as `{kind}` says"), "a body without an event");
    } else {
        let message = response.json().await?;
        ensure!(message.is_object(), format!("one JSON object, as `{kind}` says"), "`{message}`");
    }
    session.end().await
}

async fn streams_contain_the_response(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let methods = [("one", "ping"), ("two", "tools/list"), ("three", "conformance/unknown")];
    let mut requests = methods.map(|(id, method)| (id, session.message(id, method, json!({})))).to_vec();
    requests.extend(
        server.tool("outlasts_its_stream").ok().map(|tool| ("four", session.call("four", tool, None))),
    );
    let mut streams = 0;
    for (id, request) in requests {
        let mut response = session.post(&request).send().await.map_err(Stop::while_preparing)?;
        if response.is_stream() {
            streams += 1;
            contains_response(&session, &mut response, id).await?;
        }
    }
    if streams == 0 {
        return Err(Stop::not_applicable("the server answers with JSON, not with streams"));
    }
    session.end().await
}

/// Fails if a stream ends without the response, and cannot be resumed to fetch it.
async fn contains_response(session: &Session, stream: &mut HttpResponse, id: &str) -> Outcome {
    let (events, mut ending) = read_to_response(stream, session.target.wait(), id).await?;
    if let (Ending::Closed, Some(last)) = (ending, last_id(&events)) {
        ending = match resumed(session, &last, id).await {
            Ok((_, ending)) => ending,
            Err(Stop::NotApplicable(_)) => Ending::Closed,
            Err(stop) => return Err(stop),
        };
    }
    match ending {
        Ending::Response => Ok(()),
        Ending::Silence => Err(Stop::inconclusive("a stream stays open without the response")),
        Ending::Closed if events.is_empty() => Err(Stop::inconclusive("a stream has no event at all")),
        Ending::Closed => {
            let expected = format!("the response with the id `{id}` on the stream that answers its request");
            Err(Stop::failed(expected, format!("{} events without it", events.len())))
        }
    }
}

async fn streams_stay_open_until_the_response(server: Server) -> Outcome {
    let tool = unique_tool(&server, "slow", &unique("open")?)?;
    let session = Session::open(&server).await?;
    let wait = session.target.wait();
    // A server that closes each of its streams too early breaks another requirement.
    let mut stream = session.stream(&session.simple("quick")).await?;
    let (_, quick) = read_to_response(&mut stream, wait, "quick").await?;
    let mut stream = session.stream(&session.call("slow", tool, None)).await?;
    let (_, slow) = read_to_response(&mut stream, wait, "slow").await?;
    if quick != Ending::Response || slow == Ending::Silence {
        return Err(Stop::inconclusive("a stream has no response"));
    }
    ensure!(slow == Ending::Response, "a stream that is open until the response", "it ended before");
    session.end().await
}

async fn streams_end_after_the_response(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut stream = session.stream(&session.simple("last")).await?;
    let wait = session.target.wait();
    if read_to_response(&mut stream, wait, "last").await?.1 != Ending::Response {
        return Err(Stop::inconclusive("the stream has no response"));
    }
    let until = Instant::now() + wait;
    loop {
        match stream.event_or_silence(until.saturating_duration_since(Instant::now())).await? {
            Some(Some(_)) => {}
            Some(None) => return session.end().await,
            None => {
                let seen = format!("it was still open {} ms later", wait.as_millis());
                return Err(Stop::failed("the end of the stream after the response", seen));
            }
        }
    }
}

async fn responses_are_taken(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    takes(&session, &json!({"jsonrpc": "2.0", "id": "conformance-unknown", "result": {}})).await?;
    let roles = ["sampling", "roots", "elicitation"];
    if let Some(tool) = roles.iter().find_map(|role| server.tool(role).ok()) {
        answer_what_is_asked(&session, tool).await?;
    }
    session.end().await
}

/// Fails unless the POST of a response gets status 202 without a body, or an error status.
async fn takes(session: &Session, response: &Value) -> Outcome {
    let mut answer = session.post(response).send().await?;
    let status = answer.status();
    let expected = "status 202, or 4xx or 5xx, for the POST of a response";
    ensure!(status == 202 || status >= 400, expected, "status {status}");
    if status == 202 {
        let body = answer.bytes().await?;
        ensure!(body.is_empty(), "an empty body with status 202", "{} bytes", body.len());
    }
    Ok(())
}

/// Calls a tool that sends requests to the client, and answers each in a POST of its own.
async fn answer_what_is_asked(session: &Session, tool: Value) -> Outcome {
    let mut stream = match session.stream(&session.call("asking", tool, None)).await {
        Err(Stop::NotApplicable(_)) => return Ok(()),
        stream => stream?,
    };
    while let Some(Some(event)) = stream.event_or_silence(session.target.wait()).await? {
        if has_response(&event, "asking") {
            break;
        }
        let message: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if message.get("id").is_none() {
            continue;
        }
        let mut answer = json!({"jsonrpc": "2.0", "id": message["id"]});
        match crate::mcp_server::answers::answer(&message) {
            Some(Ok(result)) => answer["result"] = result,
            Some(Err(error)) => answer["error"] = error,
            None => {}
        }
        takes(session, &answer).await?;
    }
    Ok(())
}
