//! Checks of streams that break and are resumed.

use std::time::Duration;

use serde_json::Value;

use super::{
    Ending, QUIET, Session, events_until, is_response, message_of, progress_of, read_to_response, unique,
    unique_tool,
};
use crate::check::{Check, HTTP, check};
use crate::link::events::Event;
use crate::link::http::HttpResponse;
use crate::mcp_server::Server;
use crate::verdict::{Outcome, Stop, ensure};

/// How long the suite waits for a server to close a stream by itself.
const OPEN_TIME: Duration = Duration::from_millis(1500);
/// How many streams the suite opens to fetch one response.
const MAX_STREAMS: usize = 6;

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(a_lost_connection_cancels_nothing, HTTP),
    check!(resumption_begins_after_the_event, HTTP),
    check!(resumption_is_of_one_stream, HTTP),
    check!(streams_begin_with_an_empty_event, HTTP),
    check!(a_closing_server_says_when_to_return, HTTP),
    check!(a_closed_get_stream_says_when_to_return, HTTP),
];

/// Whether an event is there for its id only.
pub(crate) fn is_priming(event: &Event) -> bool {
    event.id.is_some() && event.data.is_empty()
}

/// The id of an event.
fn id_of(event: Option<&Event>) -> Outcome<String> {
    let id = event.and_then(|event| event.id.clone());
    id.ok_or_else(|| Stop::not_applicable("the server gives its events no ids"))
}

/// The last id of a stream's events.
pub(super) fn last_id(events: &[Event]) -> Option<String> {
    events.iter().rev().find_map(|event| event.id.clone())
}

/// The messages after an event, up to the response with an id, and why there are no more. A server may close a resumed stream
/// early, too.
pub(super) async fn resumed(session: &Session, event_id: &str, id: &str) -> Outcome<(Vec<Value>, Ending)> {
    let wait = session.target.wait();
    let mut stream = session.resume(event_id).await?;
    let mut last = event_id.to_owned();
    let mut messages = Vec::new();
    for _ in 0..MAX_STREAMS {
        let (events, ending) = read_to_response(&mut stream, wait, id).await?;
        messages.extend(events.iter().filter_map(message_of));
        if ending != Ending::Closed {
            return Ok((messages, ending));
        }
        last = last_id(&events).unwrap_or(last);
        tokio::time::sleep(retry_time(&events).unwrap_or_default().min(wait)).await;
        match session.resume(&last).await {
            Ok(next) => stream = next,
            Err(_) => break,
        }
    }
    Ok((messages, Ending::Closed))
}

/// The time of the last retry field, which a client has to wait for before it connects again.
fn retry_time(events: &[Event]) -> Option<Duration> {
    let retry = events.iter().rev().find_map(|event| event.retry.as_deref()?.parse().ok());
    retry.map(Duration::from_millis)
}

async fn a_lost_connection_cancels_nothing(server: Server) -> Outcome {
    let key = unique("lost")?;
    let (slow, marks) = (unique_tool(&server, "slow", &key)?, unique_tool(&server, "marks", &key)?);
    let session = Session::open(&server).await?;
    let before =
        session.ask(&session.call("before", marks.clone(), None)).await.map_err(Stop::while_preparing)?;
    let mut stream = session.stream(&session.call("slow", slow, None)).await?;
    stream.event_or_silence(QUIET).await?;
    drop(stream);
    let until = tokio::time::Instant::now() + session.target.wait();
    loop {
        let after = session.ask(&session.call("after", marks.clone(), None)).await;
        let after = after.map_err(Stop::while_preparing)?;
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
    let mut stream = session.stream(&session.call("a", tool, Some("a"))).await?;
    let (id, reported) = second_report(&mut stream, session.target.wait(), "a").await?;
    drop(stream);
    let (messages, _) = resumed(&session, &id, "a").await?;
    for progress in messages.iter().filter_map(|message| progress_of(message, "a")) {
        let (expected, is_later) =
            (format!("only the messages after the progress {reported}"), progress > reported);
        ensure!(is_later, expected, "the progress {progress}");
    }
    session.end().await
}

async fn resumption_is_of_one_stream(server: Server) -> Outcome {
    let tool = server.tool("progress")?;
    let session = Session::open(&server).await?;
    let mut a = session.stream(&session.call("a", tool.clone(), Some("a"))).await?;
    let mut b = session.stream(&session.call("b", tool, Some("b"))).await?;
    let (id, _) = second_report(&mut a, session.target.wait(), "a").await?;
    second_report(&mut b, session.target.wait(), "b").await?;
    drop((a, b));
    // A server need not replay anything.
    for message in resumed(&session, &id, "a").await?.0 {
        let is_foreign = is_response(&message, "b") || progress_of(&message, "b").is_some();
        ensure!(!is_foreign, "only messages of the stream that is resumed", "`{message}` of another stream");
    }
    session.end().await
}

async fn streams_begin_with_an_empty_event(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut stream = session.stream(&session.simple("primed")).await?;
    // Comments and a retry field on its own may stand before it.
    let is_first = |event: &Event| event.id.is_some() || event.has_data;
    let events = events_until(&mut stream, session.target.wait(), is_first).await?;
    let Some(first) = events.last().filter(|event| is_first(event)) else {
        return Err(Stop::inconclusive("the stream has no event"));
    };
    let expected = "an event with an id and empty data at the beginning of the stream";
    ensure!(is_priming(first) && first.has_data, expected, "`{}`", first.to_text());
    session.end().await
}

async fn a_closing_server_says_when_to_return(server: Server) -> Outcome {
    let tool = server.tool("outlasts_its_stream")?;
    let session = Session::open(&server).await?;
    let mut stream = session.stream(&session.call("late", tool, None)).await?;
    let (events, ending) = read_to_response(&mut stream, session.target.wait(), "late").await?;
    if ending != Ending::Closed {
        return Err(Stop::not_applicable("the server keeps the stream open until the response"));
    }
    says_when_to_return(&session, &events).await?;
    session.end().await
}

/// Fails if a server has closed a connection without a retry field. A stream that cannot be resumed has ended with its connection.
async fn says_when_to_return(session: &Session, events: &[Event]) -> Outcome {
    let Some(last) = last_id(events) else {
        return Err(Stop::not_applicable("the stream has no event id, so that it cannot be resumed"));
    };
    let time = retry_time(events);
    tokio::time::sleep(time.unwrap_or_default().min(session.target.wait())).await;
    session.resume(&last).await?;
    let expected = "a retry field in milliseconds before the server closes the connection";
    ensure!(time.is_some(), expected, "{} events without one", events.len());
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
    says_when_to_return(&session, &events).await?;
    session.end().await
}
