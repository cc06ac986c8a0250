//! Checks of what a server answers to a POST.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Session, has_response, initialized, unique, unique_tool};
use crate::check::{Check, HTTP, check};
use crate::fault::Incoming;
use crate::faults;
use crate::link::http::HttpResponse;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// How long a stream may stay open after its last message.
const CLOSING_TIME: Duration = Duration::from_secs(3);

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!("HTP-04", accept_is_respected, HTTP, [
        "streams to a client that takes JSON only" => faults::answer_head(
            |request| request.contains("accept: application/json\n"),
            |head| { head.status = 200; head.set("content-type", "text/event-stream"); }),
        "sends JSON to a client that takes streams only" => faults::answer_head(
            |request| request.contains("accept: text/event-stream\n"),
            |head| { head.status = 200; head.set("content-type", "application/json"); }),
    ]),
    check!("HTP-05", content_type_is_checked, HTTP, [
        "reads JSON that is sent as text" => faults::answer_status(|request| request.contains("content-type: text/plain"), 200),
        "refuses a charset" => faults::answer_status(|request| request.contains("charset=utf-8"), 415),
    ]),
    check!("HTP-06", accepted_notifications_get_202, HTTP, [
        "answers notifications with status 200" => faults::answer_status(is_notification, 200),
        "answers notifications with a body" => faults::in_response_to(is_notification, |incoming| match incoming {
            Incoming::Body { exchange, .. } => vec![Incoming::Body { exchange, bytes: b"{}".to_vec() }],
            other => vec![other],
        }),
    ]),
    check!("HTP-07", unacceptable_notifications_are_refused, HTTP, [
        "takes a malformed notification" => faults::answer_status(|request| request.contains("\"method\":7"), 202),
    ]),
    check!("HTP-09", requests_get_json_or_a_stream, HTTP, [
        "calls its answer text" => faults::answer_head(is_labelled, |head| head.set("content-type", "text/plain")),
        "calls a stream JSON, and JSON a stream" => faults::answer_head(is_labelled, |head| {
            let is_stream = head.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
            head.set("content-type", if is_stream { "application/json" } else { "text/event-stream" });
        }),
    ]),
    check!("HTP-11", streams_contain_the_response, HTTP, [
        "ends a stream without the response" => faults::loses_response_to("tools/list"),
    ]),
    check!("HTP-12", streams_stay_open_until_the_response, HTTP, [
        "ends the stream of a slow call early" => faults::in_response_to(|request| request.contains("\"slow\""), |incoming| match incoming {
            Incoming::Event { exchange, event } if event.data.contains("\"result\"") => vec![Incoming::StreamEnd { exchange }],
            other => vec![other],
        }),
    ]),
    check!("HTP-13", streams_end_after_the_response, HTTP, [
        "leaves streams open" => faults::never_closes(),
    ]),
    check!("HTP-57", responses_are_taken, HTTP, [
        "answers responses with status 200" => faults::answer_status(|request| request.contains("\"id\":\"conformance-unknown\""), 200),
        "breaks at a response that it does not wait for" => faults::answer_status(|request| request.contains("\"id\":\"conformance-unknown\""), 500),
        "refuses the response that it waits for" => faults::answer_status(
            |request| request.starts_with("POST") && !request.contains("\"method\"") && !request.contains("conformance-unknown"), 400),
    ]),
];

fn is_notification(request: &str) -> bool {
    request.contains("\"method\":\"notifications/")
}

fn is_labelled(request: &str) -> bool {
    request.contains("\"labelled\"")
}

fn content_type(response: &HttpResponse) -> &str {
    response.header("content-type").unwrap_or_default()
}

async fn accept_is_respected(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let (json, stream) = ("application/json", "text/event-stream");
    let cases = [
        (Some("application/json"), vec![json]),
        (Some("text/event-stream"), vec![stream]),
        (Some("application/json, text/event-stream;q=0"), vec![json]),
        (Some("application/*"), vec![json]),
        (Some("*/*"), vec![json, stream]),
        (None, vec![json, stream]),
    ];
    for (accept, allowed) in cases {
        let request = session.post(&session.simple("accepted")).without("accept");
        let request = accept.into_iter().fold(request, |request, accept| request.header("accept", accept));
        let response = request.send().await?;
        let (status, kind) = (response.status(), content_type(&response));
        let shown = accept.map_or("no Accept header".to_owned(), |accept| format!("`Accept: {accept}`"));
        let expected = format!("{} or status 406 for {shown}", allowed.join(" or "));
        let fits = (200..300).contains(&status) && allowed.iter().any(|allowed| kind.starts_with(allowed));
        ensure!(fits || (400..500).contains(&status), expected, "status {status} and `{kind}`");
    }
    session.end().await
}

async fn content_type_is_checked(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let response = session.post(&session.simple("typed")).header("content-type", kind).send().await?;
        let status = response.status();
        ensure!(
            status == 415 || status == 400,
            format!("status 415 for a body of {kind}"),
            "status {status}"
        );
    }
    let kind = "application/json; charset=utf-8";
    let response = session.post(&session.simple("charset")).header("content-type", kind).send().await?;
    ensure!(
        response.status() == 200,
        format!("status 200 for a body of {kind}"),
        "status {}",
        response.status()
    );
    session.end().await
}

async fn accepted_notifications_get_202(server: Server) -> Outcome {
    let mut session = Session::unopened(&server).await?;
    let notification = if session.revision.has_sessions() {
        session.initialize(&server, session.revision).await.map_err(Stop::while_preparing)?;
        initialized()
    } else {
        let params = json!({"requestId": "conformance-unknown"});
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    };
    let mut response = session.post(&notification).send().await?;
    let status = response.status();
    if status >= 400 && !session.revision.has_sessions() {
        return Err(Stop::not_applicable(format!("the server takes no notification: status {status}")));
    }
    ensure!(status == 202, format!("status 202 for `{notification}`"), "status {status}");
    let body = response.bytes().await?;
    ensure!(body.is_empty(), "an empty body with status 202", "`{}`", String::from_utf8_lossy(&body));
    session.end().await
}

async fn unacceptable_notifications_are_refused(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let malformed = json!({"jsonrpc": "2.0", "method": 7});
    let response = session.post(&malformed).send().await?;
    let status = response.status();
    ensure!(status >= 400, format!("a status of 4xx or 5xx for `{malformed}`"), "status {status}");
    session.end().await
}

async fn requests_get_json_or_a_stream(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let request = session.simple("labelled");
    let mut response = session.post(&request).send().await?;
    ensure!(response.status() == 200, "status 200 for a request", "status {}", response.status());
    let kind = content_type(&response).to_owned();
    let is_known = kind.starts_with("application/json") || kind.starts_with("text/event-stream");
    ensure!(is_known, "the type application/json or text/event-stream", "`{kind}`");
    let message = response.response(&json!("labelled")).await?;
    ensure!(message.is_object(), format!("one JSON object, as `{kind}` says"), "`{message}`");
    session.end().await
}

async fn streams_contain_the_response(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut streams = 0;
    for (id, method) in [("one", "ping"), ("two", "tools/list"), ("three", "conformance/unknown")] {
        let mut response = session.post(&session.message(id, method, json!({}))).send().await?;
        if response.is_stream() {
            streams += 1;
            response.response(&json!(id)).await?;
        }
    }
    if streams == 0 {
        return Err(Stop::not_applicable("the server answers with JSON, not with streams"));
    }
    session.end().await
}

/// The stream that answers a request.
async fn stream_of(session: &Session, request: &Value) -> Outcome<HttpResponse> {
    let response = session.post(request).send().await?;
    if response.is_stream() {
        return Ok(response);
    }
    Err(Stop::not_applicable("the server answers with JSON, not with a stream"))
}

async fn streams_stay_open_until_the_response(server: Server) -> Outcome {
    let tool = unique_tool(&server, "slow", &unique("open")?)?;
    let session = Session::open(&server).await?;
    let mut stream = stream_of(&session, &session.call("slow", tool, None)).await?;
    stream.response(&json!("slow")).await?;
    session.end().await
}

async fn streams_end_after_the_response(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut stream = stream_of(&session, &session.simple("last")).await?;
    stream.response(&json!("last")).await?;
    while let Some(event) = stream.event(CLOSING_TIME).await? {
        ensure!(!has_response(&event, "last"), "one response", "a second one: `{}`", event.data);
    }
    session.end().await
}

async fn responses_are_taken(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let unknown = json!({"jsonrpc": "2.0", "id": "conformance-unknown", "result": {}});
    let status = session.post(&unknown).send().await?.status();
    let expected = "status 202 or 4xx for a response that the server does not wait for";
    ensure!(status == 202 || (400..500).contains(&status), expected, "status {status}");
    session.works("afterwards").await?;
    let roles = ["sampling", "roots", "elicitation"];
    if let Some(tool) = roles.iter().find_map(|role| server.tool(role).ok()) {
        answer_what_is_asked(&session, tool).await?;
    }
    session.end().await
}

/// Calls a tool that sends requests to the client, and answers each in a POST of its own.
async fn answer_what_is_asked(session: &Session, tool: Value) -> Outcome {
    let mut stream = stream_of(session, &session.call("asking", tool, None)).await?;
    let wait = session.target.wait();
    while let Some(event) = stream.event(wait).await? {
        if has_response(&event, "asking") {
            return Ok(());
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
        let mut response = session.post(&answer).send().await?;
        let (status, body) = (response.status(), response.bytes().await?);
        let expected = "status 202 and no body for the response to the server's request";
        ensure!(status == 202 && body.is_empty(), expected, "status {status} and {} bytes", body.len());
    }
    Err(Stop::failed("a response to the call of the tool", "the stream ended without it"))
}
