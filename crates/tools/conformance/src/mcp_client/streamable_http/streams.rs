//! Checks of clients: event streams that end before their response, and how they are resumed.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::check::{Check, HTTP, check};
use crate::fault::ClientRequest;
use crate::link::events::Event;
use crate::link::played_http::{Exchange, text};
use crate::mcp_client::McpClient;
use crate::mcp_client::host::{Host, priming, start_call, start_call_of};
use crate::subject::driver::{Driver, StepId};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(resumption_names_the_last_event_of_its_stream, HTTP),
    check!(events_without_data_are_skipped, HTTP),
    check!(retry_time_is_kept, HTTP),
    check!(client_connects_each_time_again, HTTP),
    check!(get_stream_is_opened_again, HTTP),
    check!(streams_are_resumed_by_get, HTTP),
    check!(stream_without_ids_is_not_resumed, HTTP),
];

/// A retry field of this many milliseconds, in an event with an id.
fn retry(id: &str, milliseconds: &str) -> Event {
    Event { retry: Some(milliseconds.into()), ..priming(id) }
}

/// Connects a client and makes it call a tool.
async fn called(driver: &mut Driver, host: &mut Host) -> Outcome<(StepId, Exchange, Value)> {
    host.connect(driver).await?;
    let step = start_call(driver).await?;
    let call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
    let request = call.request.message().unwrap_or_default();
    Ok((step, call, request))
}

fn resumes(request: &ClientRequest) -> bool {
    request.method == "GET" && request.header("last-event-id").is_some()
}

/// A notification as an event with an id, which clients of every revision can take.
fn notification(id: &str) -> (Value, Event) {
    let params = json!({"level": "info", "data": "at work"});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
    (message, Event { id: Some(id.into()), ..Event::default() })
}

async fn resumption_names_the_last_event_of_its_stream(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let (_, mut call, _) = called(&mut driver, &mut host).await?;
    let stream = call.stream(&[])?;
    for id in ["a-1", "a-2"] {
        let (message, event) = notification(id);
        stream.message_as(&message, event).await.map_err(Stop::while_preparing)?;
    }
    // A second stream whose events come later, where the client makes calls at the same time.
    let mut _second = None;
    if driver.takes_steps() {
        start_call_of(&mut driver, "echo", json!({"text": "another"})).await?;
        let wanted = |request: &ClientRequest| request.calls("tools/call");
        if let Some(mut call) = host.within(Duration::from_secs(1), wanted).await? {
            let other = call.stream(&[])?;
            let (message, event) = notification("b-1");
            other.message_as(&message, event).await.map_err(Stop::while_preparing)?;
            _second = Some(other);
        }
    }
    stream.cut().await;
    let Some(get) = host.within(Duration::from_secs(3), resumes).await? else {
        return Err(Stop::not_applicable("the client does not resume broken streams"));
    };
    ensure!(
        get.request.header("last-event-id") == Some("a-2"),
        "a-2, the last event of the broken stream, in the Last-Event-ID header",
        "{}",
        text(&get.request)
    );
    Ok(())
}

async fn events_without_data_are_skipped(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let step = driver.start("list_tools", json!({})).await?;
    let mut list = host.call("tools/list").await.map_err(Stop::while_preparing)?;
    let stream = list.stream(&[])?;
    stream.event(&priming("p-1")).await.map_err(Stop::while_preparing)?;
    stream.message(&host.response(&list.request.message().unwrap_or_default())).await?;
    stream.end();
    host.ok(&mut driver, step).await.map(drop)
}

async fn retry_time_is_kept(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let (_, mut call, _) = called(&mut driver, &mut host).await?;
    let stream = call.stream(&[])?;
    stream.event(&retry("r-1", "10")).await.map_err(Stop::while_preparing)?;
    stream.event(&retry("r-2", "1000")).await.map_err(Stop::while_preparing)?;
    stream.end();
    let ended = Instant::now();
    let Some(_get) = host.within(client.setting.wait, resumes).await? else {
        return Err(Stop::not_applicable("the client does not connect again"));
    };
    let after = ended.elapsed();
    // Timers of either side may be off by some milliseconds.
    ensure!(
        after >= Duration::from_millis(970),
        "a GET 1000 ms after the end of the stream, as the last retry field says",
        "it came after {} ms",
        after.as_millis()
    );
    Ok(())
}

async fn client_connects_each_time_again(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let (_, mut call, _) = called(&mut driver, &mut host).await?;
    let mut stream = call.stream(&[])?;
    for id in ["c-1", "c-2", "c-3"] {
        stream.event(&retry(id, "50")).await.map_err(Stop::while_preparing)?;
        stream.end();
        let mut get = host.until("a GET each time the server closes the connection", resumes).await?;
        stream = get.stream(&[])?;
    }
    Ok(())
}

async fn get_stream_is_opened_again(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let _step = driver.start("list_tools", json!({})).await?;
    let _list = host.call("tools/list").await.map_err(Stop::while_preparing)?;
    if host.streams.is_empty() {
        let get = super::listens(&mut host).await?;
        host.answer(get).await?;
    }
    let stream =
        host.streams.pop().ok_or_else(|| Stop::not_applicable("the client opens no stream with GET"))?;
    stream.event(&retry("g-1", "50")).await.map_err(Stop::while_preparing)?;
    stream.end();
    let expected = "another GET after the server has closed the connection of the GET stream";
    let get = host.until(expected, |request| request.method == "GET").await?;
    host.answer(get).await
}

async fn streams_are_resumed_by_get(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let (step, mut call, request) = called(&mut driver, &mut host).await?;
    let stream = call.stream(&[])?;
    stream.event(&retry("s-1", "50")).await.map_err(Stop::while_preparing)?;
    stream.end();
    let is_again = |request: &ClientRequest| resumes(request) || request.calls("tools/call");
    let Some(mut again) = host.within(client.setting.wait, is_again).await? else {
        return Err(Stop::not_applicable("the client does not connect again"));
    };
    ensure!(
        again.request.method == "GET",
        "a GET that resumes the stream of a POST",
        "{}",
        text(&again.request)
    );
    let resumed = again.stream(&[])?;
    resumed.message(&host.response(&request)).await?;
    host.ok(&mut driver, step).await.map(drop)
}

async fn stream_without_ids_is_not_resumed(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let (step, mut call, _) = called(&mut driver, &mut host).await?;
    let stream = call.stream(&[])?;
    let (message, event) = notification("none");
    stream.message_as(&message, Event { id: None, ..event }).await.map_err(Stop::while_preparing)?;
    stream.cut().await;
    let names_event = |request: &ClientRequest| request.header("last-event-id").is_some();
    let early = tokio::select! {
        biased;
        found = host.within(client.setting.wait, names_event) => found?,
        // However the call ends, the client is done with the stream.
        _ended = driver.outcome(step, client.setting.wait) => None,
    };
    let found = match early {
        None => host.within(Duration::from_millis(300), names_event).await?,
        found => found,
    };
    ensure!(
        found.is_none(),
        "no Last-Event-ID, since the stream had no event id",
        "{}",
        found.map(|exchange| text(&exchange.request)).unwrap_or_default()
    );
    Ok(())
}
