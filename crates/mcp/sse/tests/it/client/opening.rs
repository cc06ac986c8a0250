//! Opening a transport: the endpoint event, origins, redirects and errors.

use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_transport_http::client::HttpError;
use agentwire_transport_sse::client::{Config, SseError};
use futures::{SinkExt, StreamExt};
use tokio::io::AsyncWriteExt;

use crate::client::mock::{ACCEPTED, Client, EVENTS, Mock, closed, response};
use crate::patiently;

/// The URL to which a client posts after an `endpoint` event with a reference.
async fn posts_to(mock: &Mock, reference: &str) -> String {
    let client = Client::new(mock.config().open().unwrap());
    client.call(1);
    let _stream = mock.stream(&format!("event: endpoint\ndata: {reference}\n\n")).await;
    let post = mock.next().await;
    assert_eq!(post.method(), "POST");
    assert_eq!(post.json()["id"], 1);
    post.path().to_owned()
}

/// Why a client does not use what it got.
async fn refuses(config: Config, mock: &Mock, answer: &str) -> SseError {
    let mut transport = config.open().unwrap();
    let (error, _open) =
        tokio::join!(patiently(transport.opened()), async { mock.next().await.open(answer).await });
    assert!(transport.next().await.is_none() && transport.flush().await.is_err(), "it is over");
    error.unwrap_err()
}

#[tokio::test]
async fn sse_03_messages_go_to_the_uri_of_the_endpoint_event() {
    let mock = Mock::new().await;
    for (reference, path) in [
        ("/messages?sessionId=1&x=%2F", "/messages?sessionId=1&x=%2F"),
        ("messages/?session_id=1", "/v1/messages/?session_id=1"),
        ("?sessionId=1", "/v1/sse?sessionId=1"),
        ("../m?u=http://a/../b", "/m?u=http://a/../b"),
        (&format!("{}/m?s=1#top", mock.origin()), "/m?s=1"),
        (&mock.origin().replacen("http:", "", 1), "/"),
    ] {
        assert_eq!(posts_to(&mock, reference).await, path, "{reference}");
    }
}

#[tokio::test]
async fn sse_04_an_endpoint_of_another_origin_is_refused() {
    let (mock, other) = (Mock::new().await, Mock::new().await);
    let port = mock.origin().rsplit_once(':').unwrap().1.to_owned();
    for reference in [
        format!("{}/messages", other.origin()),
        format!("//{}/messages", other.origin().trim_start_matches("http://")),
        format!("https://127.0.0.1:{port}/messages"),
        format!("http://localhost:{port}/messages"),
        format!("http://127.0.0.1:{port}@{}/m", other.origin().trim_start_matches("http://")),
        "http://evil.example".to_owned(),
    ] {
        let event = format!("{EVENTS}event: endpoint\ndata: {reference}\n\n");
        let error = refuses(mock.config(), &mock, &event).await;
        assert!(matches!(&error, SseError::ForeignEndpoint { uri, .. } if *uri == reference), "{error:?}");
    }
    for reference in ["/\\evil.example/m", "javascript:alert(1)", "/a b", "http://"] {
        let event = format!("{EVENTS}event: endpoint\ndata: {reference}\n\n");
        let error = refuses(mock.config(), &mock, &event).await;
        let refused = matches!(error, SseError::InvalidEndpoint { .. } | SseError::ForeignEndpoint { .. });
        assert!(refused, "{reference}: {error:?}");
    }
    assert!(mock.is_quiet().await && other.is_quiet().await, "a message was sent");
}

#[tokio::test]
async fn headers_go_with_both_verbs_and_no_version_with_either() {
    let mock = Mock::new().await;
    let headers = [("Authorization", "Bearer secret"), ("X-Tenant", "7"), ("Content-Type", "text/plain")];
    let config =
        headers.into_iter().try_fold(mock.config(), |config, (name, value)| config.header(name, value));
    let config = config.unwrap();
    assert!(!format!("{config:?}").contains("secret"));
    let client = Client::new(config.open().unwrap());
    let get = mock.next().await;
    assert_eq!((get.method(), get.path()), ("GET", "/v1/sse?x=1"));
    assert_eq!(get.header("accept"), Some("text/event-stream"));
    assert!(mock.is_quiet().await, "nothing is said before it is known where");
    let _stream = {
        assert_eq!(get.header("authorization"), Some("Bearer secret"));
        get.open(&format!("{EVENTS}event: endpoint\ndata: /m\n\n")).await
    };
    client.call(1);
    let post = mock.next().await;
    assert_eq!(post.header("authorization"), Some("Bearer secret"));
    assert_eq!(post.header("x-tenant"), Some("7"));
    assert_eq!(post.header("content-type"), Some("application/json"));
    assert_eq!(post.header("mcp-protocol-version"), None);
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin_only() {
    let (mock, other) = (Mock::new().await, Mock::new().await);
    let client = Client::new(mock.config().open().unwrap());
    let location = format!("Location: {}/v2/sse\r\n", mock.origin());
    mock.next().await.finish(&response("307 Temporary Redirect", &location, "")).await;
    let _stream = mock.stream("event: endpoint\ndata: messages\n\n").await;
    client.call(1);
    let post = mock.next().await;
    assert_eq!(post.path(), "/v2/messages", "seen from where the stream is");
    post.finish(&response("308 Permanent Redirect", "Location: /moved\r\n", "")).await;
    let post = mock.next().await;
    assert_eq!((post.method(), post.path()), ("POST", "/moved"));
    assert_eq!(post.json()["id"], 1);
    post.finish(ACCEPTED).await;

    for (status, location) in [
        ("307 Temporary Redirect", format!("{}/sse", other.origin())),
        ("302 Found", format!("{}/sse", other.origin())),
        ("303 See Other", "/other".to_owned()),
        ("301 Moved Permanently", String::new()),
    ] {
        let answer = response(status, &format!("Location: {location}\r\n"), "");
        let error = refuses(mock.config(), &mock, &answer).await;
        assert!(
            matches!(&error, SseError::Http(HttpError::Redirected { location: to, .. }) if *to == location),
            "{error:?}"
        );
    }
    assert!(other.is_quiet().await, "a header went to another origin");
}

#[tokio::test]
async fn redirects_have_an_end() {
    let mock = Mock::new().await;
    let mut transport = mock.config().open().unwrap();
    let (error, ()) = tokio::join!(patiently(transport.opened()), async {
        for _ in 0..6 {
            mock.next().await.finish(&response("307 Temporary Redirect", "Location: /sse\r\n", "")).await;
        }
    });
    assert!(matches!(error, Err(SseError::Http(HttpError::Redirected { .. }))), "{error:?}");
    assert!(mock.is_quiet().await);
}

#[tokio::test]
async fn sse_20_other_responses_are_named_in_the_error() {
    let mock = Mock::new().await;
    let error = refuses(mock.config(), &mock, &response("405 Method Not Allowed", "", "go  away\n")).await;
    assert_eq!(error.status().unwrap(), 405);
    assert_eq!(error.to_string(), "HTTP status 405 Method Not Allowed: go away");

    let body = r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"who are you"}}"#;
    let error =
        refuses(mock.config(), &mock, &response("401 Unauthorized", "WWW-Authenticate: x\r\n", body)).await;
    let SseError::Http(HttpError::Refused(refusal)) = &error else { panic!("{error:?}") };
    assert_eq!(refusal.error.as_ref().unwrap().code, -32001);
    assert_eq!(refusal.headers["www-authenticate"], "x");

    let error =
        refuses(mock.config(), &mock, &response("200 OK", "Content-Type: text/html\r\n", "<p>hi")).await;
    let SseError::NoStream { status, content_type, excerpt, .. } = &error else { panic!("{error:?}") };
    assert_eq!((status.as_u16(), &**content_type, &**excerpt), (200, "text/html", "<p>hi"));

    let message = format!("{EVENTS}: hi\n\nid: 1\ndata: {{}}\n\n");
    let error = refuses(mock.config(), &mock, &message).await;
    assert!(matches!(&error, SseError::NoEndpoint { event, .. } if event == "message"), "{error:?}");

    let ended = format!("{EVENTS}event: endpoint\ndata: /m");
    let mut transport = mock.config().open().unwrap();
    let (error, ()) = tokio::join!(patiently(transport.opened()), async {
        mock.next().await.finish(&ended).await;
    });
    assert!(matches!(error, Err(SseError::Ended)), "{error:?}");

    let nobody = Mock::new().await.config();
    let mut transport = nobody.open().unwrap();
    let error = patiently(transport.opened()).await.unwrap_err();
    assert!(matches!(error, SseError::Http(HttpError::Unsent(_))) && error.status().is_none(), "{error:?}");
}

#[tokio::test]
async fn an_endpoint_event_has_a_limit() {
    let mock = Mock::new().await;
    let mut transport = mock.config().with_http(|http| http.message_limit(1000)).open().unwrap();
    let (error, ()) = tokio::join!(patiently(transport.opened()), async {
        let mut stream = mock.next().await.open(EVENTS).await;
        // It may have gone before all is written.
        let _ = stream.write_all(&[b'x'; 10_000]).await;
        closed(stream).await;
    });
    assert!(matches!(error, Err(SseError::Http(HttpError::Stream(_)))), "{error:?}");
}

#[tokio::test]
async fn queued_messages_fail_when_there_is_no_stream() {
    let mock = Mock::new().await;
    let client = Client::new(mock.config().open().unwrap());
    client.call(1);
    mock.next().await.finish(&response("404 Not Found", "", "")).await;
    assert_eq!(client.ended().await.status().unwrap(), 404);
    assert!(mock.is_quiet().await);
}

#[tokio::test]
async fn a_transport_can_be_closed_while_it_opens() {
    let mock = Mock::new().await;
    let client = Client::new(mock.config().open().unwrap());
    let get = mock.next().await;
    client.close().await;
    closed(get.open("").await).await;
}

/// The first error of an HTTP client is not the reason.
#[tokio::test]
async fn cause_of_a_missing_response_is_reported() {
    let mock = Mock::new().await;
    let client = Client::new(mock.config().open().unwrap());
    drop(mock);
    let error = client.ended().await;
    let why = WithCauses::new(&error).to_string();
    assert!(why.contains("refused"), "{why}");
}

#[tokio::test]
async fn urls_are_checked() {
    for url in ["", "/sse", "ftp://a/", "localhost:1/sse", "http://", "not a url", "http://a:99999/"] {
        assert_eq!(Config::new(url).unwrap_err().url, url);
    }
    let config = Config::new("http://localhost/sse").unwrap().endpoint_timeout(Duration::MAX);
    assert!(config.open().is_ok());
}
