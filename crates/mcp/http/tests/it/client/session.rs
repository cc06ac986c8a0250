//! Sessions: their headers, their stream and their end.

use std::time::Duration;

use agentwire_transport_http::client::{Config, HttpError};
use serde_json::json;

use super::mock::{
    ACCEPTED, Client, EVENTS, Mock, Received, closed, event, ok, open, patiently, result, status,
};

fn headers(request: &Received) -> [Option<&str>; 5] {
    ["accept", "content-type", "mcp-session-id", "mcp-protocol-version", "x-mine"]
        .map(|name| request.header(name))
}

const BOTH: Option<&str> = Some("application/json, text/event-stream");
const JSON: Option<&str> = Some("application/json");

/// Telemetry adds the context to `_meta`; proxies and web frameworks read headers.
#[tokio::test]
async fn a_trace_context_in_meta_is_sent_as_headers() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().header("traceparent", "mine").unwrap()));
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let context = json!({"traceparent": parent, "tracestate": "a=1"});
    for (meta, expected) in [(context, [Some(parent), Some("a=1")]), (json!({}), [Some("mine"), None])] {
        let params = json!({"name": "t", "_meta": meta});
        client.say(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        let request = mock.next().await;
        assert_eq!(["traceparent", "tracestate"].map(|name| request.header(name)), expected);
        request.answer().await;
        client.frame().await;
    }
}

/// HTP-02, HTP-03, HTP-17, HTP-39, HTP-45, HTP-48, HTP-49: the server settles on an earlier version than was
/// offered, and every request after that names it.
#[tokio::test]
async fn every_request_has_the_headers_of_its_session() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().header("X-Mine", "yes").unwrap()));
    client.say(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}));
    let request = mock.next().await;
    assert_eq!((request.method(), request.path()), ("POST", "/mcp"));
    assert_eq!(headers(&request), [BOTH, JSON, None, None, Some("yes")]);
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18"}});
    request.finish(&ok("Mcp-Session-Id: a!~\r\n", &greeting)).await;
    assert_eq!(client.frame().await, greeting);

    client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let of_session = [BOTH, JSON, Some("a!~"), Some("2025-06-18"), Some("yes")];
    let request = mock.next().await;
    assert_eq!(headers(&request), of_session);
    request.finish(ACCEPTED).await;

    let get = mock.next().await;
    assert_eq!((get.method(), get.header("last-event-id")), ("GET", None));
    assert_eq!(
        headers(&get),
        [Some("text/event-stream"), None, Some("a!~"), Some("2025-06-18"), Some("yes")]
    );
    let stream = get.open(EVENTS).await;

    client.call(1);
    let request = mock.next().await;
    assert_eq!(headers(&request), of_session);
    request.answer().await;
    client.frame().await;

    let closing = tokio::spawn(client.close());
    let delete = mock.next().await;
    assert_eq!(delete.method(), "DELETE");
    assert_eq!(headers(&delete)[2..], [Some("a!~"), Some("2025-06-18"), Some("yes")]);
    delete.finish(&status("405 Method Not Allowed")).await;
    patiently(closing).await.unwrap();
    closed(stream).await;
}

/// HTP-40: nor is there anything to end.
#[tokio::test]
async fn without_a_session_id_none_is_sent() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.handshake(&mut client, None, "2025-11-25").await;
    let get = mock.next().await;
    assert_eq!((get.method(), get.header("mcp-session-id")), ("GET", None));
    get.finish(&status("405 Method Not Allowed")).await;
    client.stream_ended(|error| assert_eq!(error.status().unwrap(), 405)).await;
    client.call(1);
    let request = mock.next().await;
    assert_eq!(
        (request.header("mcp-session-id"), request.header("mcp-protocol-version")),
        (None, Some("2025-11-25"))
    );
    request.answer().await;
    client.frame().await;
    patiently(client.close()).await;
    assert!(mock.is_quiet().await);
}

/// HTP-38: only visible ASCII is an id.
#[tokio::test]
async fn invalid_session_id_is_not_sent() {
    for id in ["a b", "\u{e9}", ""] {
        let mock = Mock::new().await;
        let mut client = Client::new(open(mock.config().listen(false)));
        mock.handshake(&mut client, Some(id), "2025-11-25").await;
        client.call(1);
        let request = mock.next().await;
        assert_eq!(request.header("mcp-session-id"), None, "{id}");
        request.answer().await;
        client.frame().await;
        patiently(client.close()).await;
        assert!(mock.is_quiet().await, "there is nothing to end");
    }
}

/// HTP-19: whatever the server answers to the GET, the session goes on without that stream, and the reason is reported.
#[tokio::test]
async fn a_server_may_have_no_stream_for_the_session() {
    for (code, refusal) in [
        (Some(400), "400 Bad Request"),
        (Some(401), "401 Unauthorized"),
        (Some(403), "403 Forbidden"),
        (Some(404), "404 Not Found"),
        (Some(405), "405 Method Not Allowed"),
        (None, "200 OK"),
    ] {
        let mock = Mock::new().await;
        let mut client = mock.client();
        mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
        mock.next().await.finish(&status(refusal)).await;
        let look = |error: &HttpError| assert_eq!(error.status().map(|status| status.as_u16()), code);
        client.stream_ended(look).await;
        client.call(1);
        mock.next().await.answer().await;
        assert_eq!(client.frame().await, result(1), "{refusal}");
        assert!(mock.is_quiet().await && client.hears_nothing().await, "{refusal}");
    }
}

#[tokio::test]
async fn the_stream_of_the_session_can_be_left_out() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().listen(false)));
    mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
    assert!(mock.is_quiet().await);
}

/// The server has not worked on the request.
fn is_expired(error: &HttpError) {
    assert!(matches!(error, HttpError::SessionExpired), "{error:?}");
}

/// A request that fails by itself may be sent again, unlike one that fails with the transport.
#[tokio::test]
async fn requests_in_flight_have_their_outcomes_before_an_expired_session_ends() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.session(&mut client).await;
    (1..=4).for_each(|id| client.call(id));
    let mut calls = Vec::new();
    for _ in 1..=4 {
        calls.push(mock.next().await);
    }
    calls.sort_by_key(|call| call.json()["id"].as_u64());
    let mut calls = calls.into_iter();
    calls.next().unwrap().finish(&status("404 Not Found")).await;
    client.failed(1, is_expired).await;
    // Nothing is sent any more.
    client.call(5);
    client.failed(5, is_expired).await;
    calls.next().unwrap().finish(&status("404 Not Found")).await;
    client.failed(2, is_expired).await;
    calls.next().unwrap().answer().await;
    assert_eq!(client.frame().await, result(3));
    // The last one has no outcome in time, so it may have been run.
    let fault = client.heard().await.unwrap().unwrap_err();
    is_expired(HttpError::of(&fault).unwrap());
    assert!(client.heard().await.is_none() && mock.is_quiet().await);
    drop(calls);
}

/// A server that was restarted, or a balancer that asks another one. The request may be sent again in another session.
#[tokio::test]
async fn session_that_expires_before_it_is_confirmed_ends_at_the_first_request() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.say(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
    mock.next().await.finish(&ok("Mcp-Session-Id: s-1\r\n", &answer)).await;
    client.frame().await;
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    mock.next().await.finish(&status("404 Not Found")).await;
    assert!(client.hears_nothing().await);
    client.call(1);
    mock.next().await.finish(&status("404 Not Found")).await;
    client.failed(1, is_expired).await;
}

/// HTP-44: nothing is tried again, so nothing can go round in circles.
#[tokio::test]
async fn an_expired_session_ends_the_transport() {
    for request in [true, false] {
        let mock = Mock::new().await;
        let mut client = mock.client();
        mock.session(&mut client).await;
        if request {
            client.call(1);
        } else {
            client.say(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
        }
        let error =
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}});
        let body =
            super::mock::response("404 Not Found", "Content-Type: application/json\r\n", &error.to_string());
        mock.next().await.finish(&body).await;
        if request {
            client.failed(1, is_expired).await;
        }
        let fault = client.heard().await.unwrap().unwrap_err();
        assert!(matches!(HttpError::of(&fault), Some(HttpError::SessionExpired)), "{fault:?}");
        assert!(client.heard().await.is_none());
        assert!(mock.is_quiet().await, "neither a retry nor a DELETE");
    }
}

/// HTP-58: on the stream of a request and on that of the session.
#[tokio::test]
async fn requests_of_the_server_are_answered_by_post() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.handshake(&mut client, Some("s-1"), "2025-11-25").await;
    let ask = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"});
    let get = mock.next().await;
    let listening = get.open(&(EVENTS.to_owned() + &event("", &ask("get")))).await;
    assert_eq!(client.frame().await, ask("get"));
    client.call(1);
    let call = mock.next().await.open(&(EVENTS.to_owned() + &event("", &ask("post")))).await;
    assert_eq!(client.frame().await, ask("post"));
    for id in ["get", "post"] {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}});
        client.say(answer.clone());
        let request = mock.next().await;
        assert_eq!((request.json(), request.header("mcp-session-id")), (answer, Some("s-1")));
        request.finish(ACCEPTED).await;
    }
    drop((listening, call));
}

#[tokio::test]
async fn messages_arrive_in_the_order_in_which_they_were_sent() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.session(&mut client).await;
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    client.call(1);
    let notification = mock.next().await;
    assert_eq!(notification.json()["method"], "notifications/roots/list_changed");
    assert!(mock.is_quiet().await, "the call waits until the notification is accepted");
    notification.finish(ACCEPTED).await;
    let call = mock.next().await;
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    mock.next().await.finish(ACCEPTED).await;
    call.answer().await;
    assert_eq!(client.frame().await, result(1));
}

/// HTP-16: in a session the server gets a notification, and then its stream is not waited for.
#[tokio::test]
async fn cancelled_call_notifies_the_server_and_closes_its_stream() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    mock.session(&mut client).await;
    client.call(1);
    let call = mock.next().await.open(EVENTS).await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.say(cancelled.clone());
    let request = mock.next().await;
    assert_eq!(request.json(), cancelled);
    request.finish(ACCEPTED).await;
    closed(call).await;
    assert!(client.hears_nothing().await);
}

#[tokio::test]
async fn closing_takes_no_longer_than_it_may() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().close_timeout(Duration::from_millis(300))));
    mock.session(&mut client).await;
    let closing = tokio::spawn(client.close());
    let delete = mock.next().await;
    assert_eq!(delete.method(), "DELETE");
    patiently(closing).await.unwrap();
    closed(delete.open("").await).await;

    let mut client = Client::new(open(mock.config().close_timeout(Duration::from_millis(300))));
    mock.session(&mut client).await;
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/any"}));
    let note = mock.next().await;
    patiently(client.close()).await;
    closed(note.open("").await).await;
}

/// A connection is used again, also after a stream of events.
#[tokio::test]
async fn connections_are_used_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut client = Client::new(open(Config::new(&url).unwrap()));
    let mut socket = None;
    for id in 0..3_u64 {
        client.call(id);
        let request = match socket.take() {
            None => Received::read(patiently(listener.accept()).await.unwrap().0).await,
            Some(socket) => Received::read(socket).await,
        };
        let body = event("", &result(request.id()));
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        socket = Some(request.open(&format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())).await);
        assert_eq!(client.frame().await, result(id));
        // The end of the response is read after the answer was given.
        assert!(client.hears_nothing().await);
    }
}

/// A name may have addresses at which no program listens.
#[tokio::test]
async fn a_server_is_found_by_its_name() {
    let mock = Mock::new().await;
    let url = mock.url().replace("127.0.0.1", "localhost");
    let mut client = Client::new(open(Config::new(&url).unwrap()));
    client.call(1);
    let request = mock.next().await;
    assert_eq!(request.header("host"), Some(&url["http://".len()..url.len() - "/mcp".len()]));
    request.answer().await;
    assert_eq!(client.frame().await, result(1));
}
