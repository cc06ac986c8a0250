//! Checks of streams that break and are resumed.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    QUIET, Session, events_until, has_response, is_response, message_of, progress_of, unique, unique_tool,
};
use crate::check::{Check, HTTP, check};
use crate::fault::{Fault, Incoming};
use crate::faults;
use crate::link::events::Event;
use crate::link::http::HttpResponse;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// How long the suite waits for a server to close a stream by itself.
const OPEN_TIME: Duration = Duration::from_millis(1500);
/// How many streams the suite opens to fetch one response.
const MAX_STREAMS: usize = 6;

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!("HTP-15", a_lost_connection_cancels_nothing, HTTP, [
        "cancels a call whose connection is lost" => {
            let mut before: Option<Value> = None;
            faults::answer_messages(
                |request| request.contains("\"before\"") || request.contains("\"after\""),
                move |message| if let Some(result) = message.get_mut("result") {
                    *result = before.get_or_insert_with(|| result.clone()).clone();
                },
            )
        },
    ]),
    check!("HTP-27", resumption_begins_after_the_event, HTTP, [
        "replays what the client has" => on_resumption(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": "a", "progress": 1}})),
    ]),
    check!("HTP-28", resumption_is_of_one_stream, HTTP, [
        "replays the messages of another stream" => on_resumption(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": "b", "progress": 1}})),
        "replays the response of another stream" => on_resumption(&json!({"jsonrpc": "2.0", "id": "b", "result": {}})),
    ]),
    check!("HTP-29", streams_resume_at_any_point, HTTP, [
        "breaks at an unknown event id" => faults::answer_status(|request| request.contains("last-event-id: conformance-unknown"), 500),
        "loses what followed the first event" => faults::in_response_to(is_resumption, |incoming| match incoming {
            Incoming::Event { event, .. } if !event.data.is_empty() => Vec::new(),
            other => vec![other],
        }),
    ]),
    check!("HTP-30", streams_begin_with_an_empty_event, HTTP, [
        "sends no event before the first message" => faults::each_event(|event| if is_priming(&event) { Vec::new() } else { vec![event] }),
        "gives the first event no id" => faults::each_event(|event| {
            if is_priming(&event) { vec![Event { id: None, ..event }] } else { vec![event] }
        }),
    ]),
    check!("HTP-32", a_closing_server_says_when_to_return, HTTP, [
        "closes a stream without a retry field" => faults::each_event(|event| vec![Event { retry: None, ..event }]),
    ]),
    check!("HTP-35", a_closed_get_stream_says_when_to_return, HTTP, [
        "closes a GET stream without a retry field" => faults::each_event(|event| vec![Event { retry: None, ..event }]),
    ]),
    check!("HTP-36", get_resumes_the_stream_of_a_post, HTTP, [
        "resumes no stream of a POST" => faults::answer_status(is_resumption, 405),
    ]),
];

fn is_resumption(request: &str) -> bool {
    request.starts_with("GET") && request.contains("last-event-id: ")
}

/// Sends a message at the beginning of each stream that is resumed.
fn on_resumption(message: &Value) -> Box<dyn Fault> {
    let message = message.clone();
    faults::in_response_to(is_resumption, move |incoming| match incoming {
        Incoming::Head(head) => vec![Incoming::Head(head), Incoming::Forged(message.clone())],
        other => vec![other],
    })
}

/// Whether an event is there for its id only.
fn is_priming(event: &Event) -> bool {
    event.id.is_some() && event.data.is_empty()
}

/// The stream that answers a request; without events that have ids there is nothing to resume.
async fn stream_of(session: &Session, request: &Value) -> Outcome<HttpResponse> {
    let response = session.post(request).send().await?;
    if response.is_stream() {
        return Ok(response);
    }
    Err(Stop::not_applicable("the server answers with JSON, not with a stream"))
}

/// The id of an event.
fn id_of(event: Option<&Event>) -> Outcome<String> {
    let id = event.and_then(|event| event.id.clone());
    id.ok_or_else(|| Stop::not_applicable("the server gives its events no ids"))
}

/// The messages after an event, up to the response with an id. A server may close a resumed stream early, too.
async fn resumed(session: &Session, event_id: &str, id: &str) -> Outcome<Vec<Value>> {
    let mut stream = session.resume(event_id).await?;
    let mut last = event_id.to_owned();
    let mut messages = Vec::new();
    for _ in 0..MAX_STREAMS {
        let events =
            events_until(&mut stream, session.target.wait(), |event| has_response(event, id)).await?;
        messages.extend(events.iter().filter_map(message_of));
        if events.iter().any(|event| has_response(event, id)) {
            return Ok(messages);
        }
        last = events.iter().rev().find_map(|event| event.id.clone()).unwrap_or(last);
        stream = session.get().header("last-event-id", &last).send().await?;
    }
    let expected = format!("the response with the id {id} on the resumed stream");
    Err(Stop::failed(expected, format!("{} messages without it", messages.len())))
}

async fn a_lost_connection_cancels_nothing(server: Server) -> Outcome {
    let key = unique("lost")?;
    let (slow, marks) = (unique_tool(&server, "slow", &key)?, unique_tool(&server, "marks", &key)?);
    let session = Session::open(&server).await?;
    let before =
        session.ask(&session.call("before", marks.clone(), None)).await.map_err(Stop::while_preparing)?;
    let mut stream = stream_of(&session, &session.call("slow", slow, None)).await?;
    let first = stream.event_or_silence(QUIET).await?.flatten();
    drop(stream);
    if let Some(id) = first.filter(|event| event.data.is_empty()).and_then(|event| event.id) {
        match resumed(&session, &id, "slow").await {
            Ok(_) | Err(Stop::NotApplicable(_)) => {}
            Err(stop) => return Err(stop),
        }
    }
    let until = tokio::time::Instant::now() + session.target.wait().min(Duration::from_secs(5));
    loop {
        let after = session.ask(&session.call("after", marks.clone(), None)).await?;
        if after["result"] != before["result"] {
            return session.end().await;
        }
        let seen = format!("`{}`, as before the call", after["result"]);
        if tokio::time::Instant::now() > until {
            return Err(Stop::failed("the effect of a call whose connection was lost", seen));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Reads a stream up to its second report of progress: the event's id and the progress.
async fn second_report(stream: &mut HttpResponse, wait: Duration, token: &str) -> Outcome<(String, f64)> {
    let mut reports = 0;
    let mut is_second = |event: &Event| {
        let report = message_of(event).and_then(|message| progress_of(&message, token));
        reports += usize::from(report.is_some());
        reports == 2
    };
    let events = events_until(stream, wait, &mut is_second).await?;
    let last = events.last();
    let reported = last.and_then(message_of).and_then(|message| progress_of(&message, token));
    let reported =
        reported.ok_or_else(|| Stop::inconclusive("the tool `progress` reports less than twice"))?;
    Ok((id_of(last)?, reported))
}

async fn resumption_begins_after_the_event(server: Server) -> Outcome {
    let tool = server.tool("progress")?;
    let session = Session::open(&server).await?;
    let mut stream = stream_of(&session, &session.call("a", tool, Some("a"))).await?;
    let (id, reported) = second_report(&mut stream, session.target.wait(), "a").await?;
    drop(stream);
    let messages = resumed(&session, &id, "a").await?;
    let mut last = reported;
    for progress in messages.iter().filter_map(|message| progress_of(message, "a")) {
        let expected = format!("the messages after the progress {reported}, each once and in order");
        let is_later = progress > last;
        ensure!(is_later, expected, "the progress {progress} after {last}");
        last = progress;
    }
    session.end().await
}

async fn resumption_is_of_one_stream(server: Server) -> Outcome {
    let tool = server.tool("progress")?;
    let session = Session::open(&server).await?;
    let mut a = stream_of(&session, &session.call("a", tool.clone(), Some("a"))).await?;
    let mut b = stream_of(&session, &session.call("b", tool, Some("b"))).await?;
    let (id, _) = second_report(&mut a, session.target.wait(), "a").await?;
    second_report(&mut b, session.target.wait(), "b").await?;
    drop((a, b));
    // A server need not replay anything.
    for message in resumed(&session, &id, "a").await.map_err(Stop::while_preparing)? {
        let is_foreign = is_response(&message, "b") || progress_of(&message, "b").is_some();
        ensure!(!is_foreign, "only messages of the stream that is resumed", "`{message}` of another stream");
    }
    session.end().await
}

async fn streams_resume_at_any_point(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut stream = stream_of(&session, &session.simple("broken")).await?;
    let wait = session.target.wait();
    let first = events_until(&mut stream, wait, |event| event.id.is_some()).await?;
    let (first, is_response_already) =
        (id_of(first.last())?, first.iter().any(|event| has_response(event, "broken")));
    drop(stream);
    if !is_response_already {
        resumed(&session, &first, "broken").await?;
    }

    let mut stream = stream_of(&session, &session.simple("whole")).await?;
    let events = events_until(&mut stream, wait, |event| has_response(event, "whole")).await?;
    drop(stream);
    let mut again = session.get().header("last-event-id", &id_of(events.last())?).send().await?;
    ensure!(
        again.status() < 500,
        "no failure at the id of a stream's last event",
        "status {}",
        again.status()
    );
    if again.is_stream() {
        let events = events_until(&mut again, QUIET, |event| has_response(event, "whole")).await?;
        let is_repeated = events.iter().any(|event| has_response(event, "whole"));
        ensure!(!is_repeated, "nothing after the last event of a stream", "its response again");
    }
    drop(again);

    let unknown = session.get().header("last-event-id", "conformance-unknown").send().await?.status();
    let expected = "status 400 or 404, or a new stream, for an unknown event id";
    ensure!(matches!(unknown, 200 | 400 | 404), expected, "status {unknown}");
    session.works("afterwards").await?;
    session.end().await
}

async fn streams_begin_with_an_empty_event(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let (posted, got) = (session.post(&session.simple("primed")).send().await?, session.get().send().await?);
    let mut seen = 0;
    for (what, mut stream) in [("a POST", posted), ("a GET", got)] {
        if !stream.is_stream() || stream.status() != 200 {
            continue;
        }
        seen += 1;
        // Comments and a retry field on its own may stand before it.
        let time = session.target.wait().min(Duration::from_secs(2));
        let events = events_until(&mut stream, time, |event| event.id.is_some() || event.has_data).await?;
        let first = events.last();
        let shown = first.map_or("no event".to_owned(), |event| format!("`{}`", event.to_text()));
        let expected = format!("an event with an id and empty data at the beginning of the stream of {what}");
        ensure!(first.is_some_and(|event| is_priming(event) && event.has_data), expected, "{shown}");
    }
    if seen == 0 {
        return Err(Stop::not_applicable("the server sends no event streams"));
    }
    session.end().await
}

async fn a_closing_server_says_when_to_return(server: Server) -> Outcome {
    let tool = server.tool("outlasts_its_stream")?;
    let session = Session::open(&server).await?;
    let mut stream = stream_of(&session, &session.call("late", tool, None)).await?;
    let events =
        events_until(&mut stream, session.target.wait(), |event| has_response(event, "late")).await?;
    if events.iter().any(|event| has_response(event, "late")) {
        return Err(Stop::not_applicable("the server kept the stream open until the response"));
    }
    has_retry(&events)?;
    session.end().await
}

fn has_retry(events: &[Event]) -> Outcome {
    let is_time = |event: &Event| event.retry.as_deref().is_some_and(|retry| retry.parse::<u64>().is_ok());
    let seen = format!("{} events without one", events.len());
    ensure!(
        events.iter().any(is_time),
        "a retry field in milliseconds before the server closes the stream",
        "{seen}"
    );
    Ok(())
}

async fn a_closed_get_stream_says_when_to_return(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut stream = session.listen().await?;
    let until = tokio::time::Instant::now() + OPEN_TIME;
    let mut events = Vec::new();
    loop {
        let left = until.saturating_duration_since(tokio::time::Instant::now());
        match stream.event_or_silence(left).await? {
            Some(Some(event)) => events.push(event),
            Some(None) => break,
            None => return Err(Stop::not_applicable("the server keeps the GET stream open")),
        }
    }
    has_retry(&events)?;
    session.end().await
}

async fn get_resumes_the_stream_of_a_post(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let request = match server.tool("outlasts_its_stream").or_else(|_| server.tool("progress")) {
        Ok(tool) => session.call("resumed", tool, Some("resumed")),
        Err(_) => session.simple("resumed"),
    };
    let mut stream = stream_of(&session, &request).await?;
    let events = events_until(&mut stream, session.target.wait(), |event| event.id.is_some()).await?;
    let id = id_of(events.last())?;
    if events.iter().any(|event| has_response(event, "resumed")) {
        return Err(Stop::not_applicable("the first event with an id is the response already"));
    }
    drop(stream);
    let again = session.get().header("last-event-id", &id).send().await?;
    let expected = "a stream for GET with the id of an event that a POST brought";
    ensure!(again.status() == 200 && again.is_stream(), expected, "status {}", again.status());
    drop(again);
    resumed(&session, &id, "resumed").await?;
    session.end().await
}
