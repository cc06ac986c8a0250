//! Answers as JSON and as events, and streams that break off.

use std::time::{Duration, Instant};

use agentwire_transport_http::client::HttpError;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::mock::{ACCEPTED, Client, EVENTS, Mock, event, ok, open, result, status};

fn progress(number: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": number}})
}

/// HTP-10, HTP-31: any line end, a byte order mark, comments, an empty event, data over several lines, events of
/// another name, and a cut after every byte.
#[tokio::test]
async fn an_answer_may_be_events_of_any_form() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let bodies = [
        event("", &progress(1)) + &event("", &result(1)),
        (event("", &progress(1)) + &event("event: message\n", &result(1))).replace('\n', "\r\n"),
        (event("", &progress(1)) + &event("", &result(1))).replace('\n', "\r"),
        format!("\u{feff}: hi\n\nid: 1\ndata:\n\n{}:\n\nevent: ping\ndata: {{\n\n", event("", &progress(1)))
            + &event("foo: 1\nretry: x\n", &result(1)).replace(",\"result\"", "\ndata: ,\"result\""),
    ];
    for body in bodies {
        client.call(1);
        let mut socket = mock.next().await.open(EVENTS).await;
        socket.set_nodelay(true).unwrap();
        for byte in body.as_bytes() {
            socket.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        assert_eq!(client.frame().await, progress(1), "{body}");
        assert_eq!(client.frame().await, result(1), "{body}");
    }
    client.call(1);
    mock.next().await.finish(&ok("", &result(1))).await;
    assert_eq!(client.frame().await, result(1));
}

/// Messages in one piece with the answer come before it.
#[tokio::test]
async fn nothing_is_lost_beside_the_answer() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.call(1);
    let body: String = (0..200).map(|number| event("", &progress(number))).collect();
    mock.next()
        .await
        .finish(&(EVENTS.to_owned() + &body + &event("", &result(1)) + &event("", &progress(200))))
        .await;
    for number in 0..200 {
        assert_eq!(client.frame().await, progress(number));
    }
    assert_eq!(client.frame().await, result(1));
    assert_eq!(client.frame().await, progress(200), "what follows the answer is taken too");
}

/// HTP-26, HTP-36: each stream goes on by GET with the last id of its own.
#[tokio::test]
async fn each_stream_is_resumed_by_its_own_id() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.session(&mut client).await;
    let mut requests = Vec::new();
    for id in [1, 2] {
        client.call(id);
        requests.push((id, mock.next().await));
    }
    // Both have arrived before one is resumed.
    for (id, request) in requests {
        let body = event(&format!("id: {id}-a\n"), &progress(id)) + &format!("id: {id}-b\ndata: {{\"cut");
        request.finish(&(EVENTS.to_owned() + &body)).await;
        assert_eq!(client.frame().await, progress(id));
    }
    for _ in [1, 2] {
        let get = mock.next().await;
        assert_eq!((get.method(), get.header("accept")), ("GET", Some("text/event-stream")));
        assert_eq!(
            (get.header("mcp-session-id"), get.header("mcp-protocol-version")),
            (Some("s-1"), Some("2025-11-25"))
        );
        let id = match get.header("last-event-id") {
            Some("1-a") => 1,
            Some("2-a") => 2,
            other => panic!("{other:?}"),
        };
        get.finish(&(EVENTS.to_owned() + &event("", &result(id)))).await;
        assert_eq!(client.frame().await, result(id));
    }
    assert!(mock.is_quiet().await);
}

/// HTP-33, HTP-34: the last `retry` counts, and a server that closes is asked again as often as it takes.
#[tokio::test]
async fn retry_of_the_server_sets_the_delay() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().retries(0)));
    mock.session(&mut client).await;
    client.call(1);
    let prime =
        |number: u64, retry: u64| format!("{EVENTS}retry: 9999\n\nretry: {retry}\nid: {number}\ndata:\n\n");
    let mut request = mock.next().await;
    for (number, retry) in [(1, 300), (2, 20), (3, 150)] {
        let began = Instant::now();
        request.finish(&prime(number, retry)).await;
        request = mock.next().await;
        assert_eq!(request.header("last-event-id"), Some(&*number.to_string()));
        let waited = began.elapsed();
        assert!(waited >= Duration::from_millis(retry), "{waited:?} of {retry} ms");
    }
    request.finish(&(EVENTS.to_owned() + &event("", &result(1)))).await;
    assert_eq!(client.frame().await, result(1));
}

/// HTP-35: the stream of the session, with an id, and from the start where it never had one: then messages may be lost.
#[tokio::test]
async fn the_stream_of_the_session_is_resumed() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().retries(1)));
    mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
    // As often as it is closed: it can be opened, so it is worth having.
    for at in 0..3 {
        mock.next().await.finish(&(EVENTS.to_owned() + ": hi\n\n")).await;
        if at > 0 {
            client.has_gap().await;
        }
    }
    // What was cut before counts no longer once the stream is open.
    mock.next().await.finish(&status("503 Service Unavailable")).await;
    let again = mock.next().await;
    assert_eq!((again.method(), again.header("last-event-id")), ("GET", None));
    again.finish(&(EVENTS.to_owned() + &event("id: x\nretry: 10\n", &progress(1)))).await;
    client.has_gap().await;
    assert_eq!(client.frame().await, progress(1));
    let again = mock.next().await;
    assert_eq!(again.header("last-event-id"), Some("x"));
    let _open = again.open(&(EVENTS.to_owned() + &event("", &progress(2)))).await;
    assert_eq!(client.frame().await, progress(2), "nothing is lost");
}

/// A server that has forgotten the stream has not failed, so a client that does not try again opens another one. Without a
/// session, 404 means no more than 400.
#[tokio::test]
async fn a_stream_that_the_server_has_forgotten_is_no_failure() {
    for (session, refusal) in [(Some("s-1"), "400 Bad Request"), (None, "404 Not Found")] {
        let mock = Mock::new().await;
        let mut client = Client::new(open(mock.config().retries(0)));
        mock.handshake(&mut client, session, "2025-11-25").await;
        mock.next().await.finish(&(EVENTS.to_owned() + &event("id: x\nretry: 10\n", &progress(1)))).await;
        assert_eq!(client.frame().await, progress(1));
        let again = mock.next().await;
        assert_eq!(again.header("last-event-id"), Some("x"));
        again.finish(&status(refusal)).await;
        let another = mock.next().await;
        assert_eq!((another.method(), another.header("last-event-id")), ("GET", None));
        let _open = another.open(&(EVENTS.to_owned() + &event("", &progress(2)))).await;
        client.has_gap().await;
        assert_eq!(client.frame().await, progress(2));
    }
}

/// A session's stream that cannot be opened again may have lost messages, with ids and without.
#[tokio::test]
async fn stream_that_is_given_up_has_a_gap_and_an_end() {
    for (fields, refusals) in [
        ("", &["405 Method Not Allowed"][..]),
        ("id: x\n", &["401 Unauthorized"]),
        ("id: x\n", &["403 Forbidden"]),
        ("", &["503 Service Unavailable", "503 Service Unavailable"]),
    ] {
        let mock = Mock::new().await;
        let mut client = Client::new(open(mock.config().retries(1)));
        mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
        let fields = format!("{fields}retry: 10\n");
        mock.next().await.finish(&(EVENTS.to_owned() + &event(&fields, &progress(1)))).await;
        assert_eq!(client.frame().await, progress(1));
        for refusal in refusals {
            mock.next().await.finish(&status(refusal)).await;
        }
        client.has_gap().await;
        client.stream_ended(|error| assert!(refusals[0].starts_with(error.status().unwrap().as_str()))).await;
        client.call(1);
        mock.next().await.answer().await;
        assert_eq!(client.frame().await, result(1), "the session goes on");
    }
}

/// A server with one stream for each session refuses another until it has noticed that the last one broke off. Before there was any,
/// the refusal is final.
#[tokio::test]
async fn stream_that_the_server_still_has_is_asked_for_again() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().retries(2)));
    mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
    mock.next().await.finish(&(EVENTS.to_owned() + &event("retry: 10\n", &progress(1)))).await;
    assert_eq!(client.frame().await, progress(1));
    mock.next().await.finish(&status("409 Conflict")).await;
    let _open = mock.next().await.open(&(EVENTS.to_owned() + &event("", &progress(2)))).await;
    client.has_gap().await;
    assert_eq!(client.frame().await, progress(2));

    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().retries(2)));
    mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
    mock.next().await.finish(&status("409 Conflict")).await;
    client.stream_ended(|error| assert_eq!(error.status().unwrap(), 409)).await;
}

/// An event over the limit would come again, so the stream is not resumed.
#[tokio::test]
async fn stream_with_an_unreadable_event_has_a_gap_and_an_end() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().message_limit(100)));
    mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
    let long = json!({"jsonrpc": "2.0", "method": "x".repeat(9000)});
    let _open = mock.next().await.open(&(EVENTS.to_owned() + &event("id: x\n", &long))).await;
    client.has_gap().await;
    client.stream_ended(|error| assert!(matches!(error, HttpError::Stream(_)), "{error:?}")).await;
}

/// Messages that the server sent before the stream was open are lost.
#[tokio::test]
async fn stream_that_opens_late_has_a_gap() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
    mock.next().await.finish(&status("503 Service Unavailable")).await;
    let _open = mock.next().await.open(&(EVENTS.to_owned() + &event("", &progress(1)))).await;
    client.has_gap().await;
    assert_eq!(client.frame().await, progress(1));
}

/// Some servers refuse the notification that opens the stream, and serve the session all the same.
#[tokio::test]
async fn stream_is_opened_although_the_server_refuses_initialized() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    mock.next().await.finish(&status("400 Bad Request")).await;
    let get = mock.next().await;
    assert_eq!(get.method(), "GET");
    get.finish(&status("405 Method Not Allowed")).await;
    client.stream_ended(|error| assert_eq!(error.status().unwrap(), 405)).await;
}

/// An id may be long; it goes back whole.
#[tokio::test]
async fn a_long_id_goes_back_whole() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.session(&mut client).await;
    client.call(1);
    let id = "i".repeat(64 << 10);
    mock.next().await.finish(&(EVENTS.to_owned() + &format!("id: {id}\nretry: 1\ndata:\n\n"))).await;
    let get = mock.next().await;
    assert!(get.header("last-event-id") == Some(&id));
    get.finish(&(EVENTS.to_owned() + &event("", &result(1)))).await;
    assert_eq!(client.frame().await, result(1));
}

/// HTP-37: neither the request is sent again, nor is anything resumed that has no id.
#[tokio::test]
async fn a_stream_without_ids_that_breaks_off_fails_its_call() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.session(&mut client).await;
    let chunked =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n:\r\n";
    let short = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    for response in [
        EVENTS.to_owned() + &event("", &progress(1)),
        EVENTS.to_owned() + &event("id: 1\n", &progress(1)) + &event("id:\n", &progress(1)),
        chunked.to_owned(),
        short.to_owned(),
        ACCEPTED.to_owned(),
    ] {
        client.call(1);
        mock.next().await.finish(&response).await;
        for _ in 0..response.matches("\"params\"").count() {
            assert_eq!(client.frame().await, progress(1));
        }
        client
            .failed(1, |error| {
                let is_end = matches!(
                    error,
                    HttpError::NoAnswer | HttpError::OtherContent { .. } | HttpError::Broken(_)
                );
                assert!(is_end, "{error:?}");
            })
            .await;
        assert!(mock.is_quiet().await, "{response}");
    }
}

/// A failed attempt to resume a stream is repeated, so many times, and then is the call's error.
#[tokio::test]
async fn resuming_is_given_up() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().retries(2)));
    mock.session(&mut client).await;
    let cut = EVENTS.to_owned() + "id: 1\nretry: 10\ndata:\n\n";
    client.call(1);
    mock.next().await.finish(&cut).await;
    for _ in 0..3 {
        mock.next().await.finish(&status("503 Service Unavailable")).await;
    }
    client.failed(1, |error| assert_eq!(error.status().unwrap(), 503)).await;

    client.call(2);
    mock.next().await.finish(&cut).await;
    mock.next().await.finish(&status("405 Method Not Allowed")).await;
    client.failed(2, |error| assert_eq!(error.status().unwrap(), 405)).await;

    client.call(3);
    mock.next().await.finish(&(EVENTS.to_owned() + "id: 1\nretry: 61000\ndata:\n\n")).await;
    client.failed(3, |error| assert!(matches!(error, HttpError::NoAnswer), "{error:?}")).await;
    assert!(mock.is_quiet().await);
}

/// A server that is gone is not waited for as long as one that has trouble.
#[tokio::test]
async fn call_fails_soon_if_the_server_is_gone() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().retries(1000)));
    mock.session(&mut client).await;
    client.call(1);
    let stream = mock.next().await.open(&(EVENTS.to_owned() + "id: 1\ndata:\n\n")).await;
    drop(mock);
    drop(stream);
    client.failed(1, |error| assert!(matches!(error, HttpError::Unsent(_)), "{error:?}")).await;
}

/// 2025-03-26: the answers to a batch may come as one array or one by one.
#[tokio::test]
async fn a_batch_is_answered() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    for together in [true, false] {
        client.say(json!([ping(1), ping(2)]));
        let request = mock.next().await;
        assert_eq!(request.json(), json!([ping(1), ping(2)]));
        if together {
            let both = json!([result(2), result(1)]);
            request.finish(&ok("", &both)).await;
            assert_eq!(client.frame().await, both);
        } else {
            request.finish(&(EVENTS.to_owned() + &event("", &result(2)))).await;
            assert_eq!(client.frame().await, result(2));
            client.failed(1, |error| assert!(matches!(error, HttpError::NoAnswer))).await;
        }
    }
}
