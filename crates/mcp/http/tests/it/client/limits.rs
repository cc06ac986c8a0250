//! Every limit, and what is said when it is reached.

use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_transport::Packet;
use agentwire_transport_http::client::{Body, BoxError, Config, HttpClient, HttpError, Wait};
use agentwire_transport_http::sse::DecodeError;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{SinkExt, StreamExt, stream};
use http::{Request, Response};
use serde_json::json;

use super::mock::{ACCEPTED, Client, EVENTS, Mock, event, ok, open, open_within, patiently, result};

const SHORT: Duration = Duration::from_millis(150);

async fn limited(limit: impl FnOnce(Config) -> Config) -> (Mock, Client) {
    let mock = Mock::new().await;
    let client = Client::new(open(limit(mock.config())));
    (mock, client)
}

#[tokio::test]
async fn a_message_may_be_so_long() {
    let (mock, mut client) = limited(|config| config.message_limit(1000)).await;
    let padded = |length: usize| {
        let bare = json!({"jsonrpc": "2.0", "id": 1, "result": ""}).to_string().len();
        json!({"jsonrpc": "2.0", "id": 1, "result": "x".repeat(length - bare)})
    };
    for (length, fits) in [(1000, true), (1001, false)] {
        client.call(1);
        mock.next().await.finish(&ok("", &padded(length))).await;
        match fits {
            true => assert_eq!(client.frame().await, padded(length)),
            false => {
                client
                    .failed(1, |error| assert!(matches!(error, HttpError::TooLong { limit: 1000, .. })))
                    .await
            }
        }
        client.call(1);
        mock.next().await.finish(&(EVENTS.to_owned() + &event("", &padded(length)))).await;
        match fits {
            true => assert_eq!(client.frame().await, padded(length)),
            false => {
                let is_too_long =
                    |error: &HttpError| matches!(error, HttpError::Stream(DecodeError::TooLong { .. }));
                client.failed(1, |error| assert!(is_too_long(error), "{error:?}")).await;
            }
        }
    }
}

/// A body without an end takes no more memory than its limit: the connection is closed long before.
#[tokio::test]
async fn a_body_without_an_end_is_given_up() {
    use tokio::io::AsyncWriteExt;
    let (mock, mut client) = limited(|config| config.message_limit(1 << 20)).await;
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[";
    let error = "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\n\r\n[";
    for head in [json, EVENTS, error] {
        client.call(1);
        let mut socket = mock.next().await.open(head).await;
        let endless = async { while socket.write_all(&[b' '; 64 << 10]).await.is_ok() {} };
        tokio::join!(endless, client.failed(1, |_| ()));
    }
}

/// A server whose streams always have one more comment.
struct Chatter;

impl HttpClient for Chatter {
    fn send(&self, _request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let body = stream::repeat_with(|| Ok(Bytes::from_static(b":\n\n"))).boxed();
        let response = Response::builder().header("content-type", "text/event-stream").body(body);
        Box::pin(async { Ok(response?) })
    }
}

/// Answers every request in the poll that sends it.
struct AtOnce;

impl HttpClient for AtOnce {
    fn send(&self, _request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let answer =
            stream::iter([Ok(Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#))]).boxed();
        let response = Response::builder().header("content-type", "application/json").body(answer);
        Box::pin(async { Ok(response?) })
    }
}

/// The task that reads waits already, and nothing else wakes it.
#[tokio::test]
async fn an_answer_that_comes_while_its_request_is_written_wakes_the_reader() {
    let http = Config::new("http://localhost/").unwrap().open_with(AtOnce);
    let (mut writer, mut reader) = http.split();
    let reading = tokio::spawn(async move { reader.next().await });
    tokio::task::yield_now().await;
    writer.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await.unwrap();
    let read = patiently(reading).await.unwrap();
    assert!(read.unwrap().unwrap().into_json().unwrap().contains("result"));
}

/// Otherwise no other future of the task would be polled.
#[tokio::test]
async fn server_that_never_pauses_starves_no_other_future() {
    let mut http = Config::new("http://localhost/").unwrap().open_with(Chatter);
    http.feed(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await.unwrap();
    assert!(tokio::time::timeout(SHORT, http.next()).await.is_err());
}

/// All is said, so what goes on behind the answer is not read for long.
#[tokio::test]
async fn a_stream_that_goes_on_after_its_answer_is_closed() {
    use tokio::io::AsyncWriteExt;
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.call(1);
    let mut socket = mock.next().await.open(&(EVENTS.to_owned() + &event("", &result(1)))).await;
    assert_eq!(client.frame().await, result(1));
    let note = event("", &json!({"jsonrpc": "2.0", "method": "notifications/message"}));
    let going_on = async {
        while socket.write_all(note.as_bytes()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    patiently(going_on).await;
}

#[tokio::test]
async fn a_batch_may_have_so_many_messages() {
    let (mock, mut client) = limited(|config| config.batch_limit(2)).await;
    client.say(json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]));
    mock.next().await.finish(&ok("", &json!([result(1), result(1), result(1)]))).await;
    client.failed(1, |error| assert!(error.to_string().contains("limit of 2 messages"), "{error}")).await;
}

/// A full queue of connections is not accepted, so one more is never made.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_may_take_so_long() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(socket) = tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await {
        queued.push(socket.unwrap());
    }
    let config = Config::new(&format!("http://{address}/?secret")).unwrap();
    let mut client = Client::new(open_within(config, SHORT));
    client.call(1);
    client
        .failed(1, |error| {
            assert!(matches!(error, HttpError::Unsent(_)), "{error:?}");
            assert!(!format!("{} {error:?}", WithCauses::new(error).plain()).contains("secret"));
        })
        .await;
}

#[tokio::test]
async fn the_first_byte_may_take_so_long() {
    let (mock, mut client) = limited(|config| config.first_byte_timeout(SHORT)).await;
    client.call(1);
    let silent = mock.next().await;
    client.failed(1, |error| assert_timed_out(error, Wait::FirstByte)).await;
    drop(silent);
}

#[tokio::test]
async fn a_body_may_be_silent_so_long() {
    let (mock, mut client) = limited(|config| config.idle_timeout(SHORT)).await;
    for start in [EVENTS, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"] {
        client.call(1);
        let silent = mock.next().await.open(start).await;
        client.failed(1, |error| assert_timed_out(error, Wait::NextByte)).await;
        drop(silent);
    }
}

/// A comment breaks the silence, and a stream that can be resumed is.
#[tokio::test]
async fn a_silent_stream_is_resumed() {
    use tokio::io::AsyncWriteExt;
    let (mock, mut client) = limited(|config| config.idle_timeout(SHORT * 4)).await;
    mock.session(&mut client).await;
    client.call(1);
    let mut first = mock.next().await.open(&(EVENTS.to_owned() + "id: 1\ndata:\n\n")).await;
    for _ in 0..6 {
        assert!(mock_is_quiet_for(&mock, SHORT).await);
        first.write_all(b":\n\n").await.unwrap();
    }
    let again = mock.next().await;
    assert_eq!(again.header("last-event-id"), Some("1"));
    again.finish(&(EVENTS.to_owned() + &event("", &result(1)))).await;
    assert_eq!(client.frame().await, result(1));
}

async fn mock_is_quiet_for(mock: &Mock, time: Duration) -> bool {
    tokio::time::timeout(time, mock.next()).await.is_err()
}

/// No caller waits for a notification, so its loss is not reported; but it does not block others for ever.
#[tokio::test]
async fn a_notification_may_take_so_long() {
    let (mock, mut client) = limited(|config| config.acceptance_timeout(SHORT)).await;
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/progress"}));
    let silent = mock.next().await;
    client.call(1);
    mock.next().await.answer().await;
    assert_eq!(client.frame().await, result(1));
    drop(silent);

    client.say(json!({"jsonrpc": "2.0", "method": "notifications/progress"}));
    mock.next().await.finish(&ACCEPTED.replace("202 Accepted", "400 Bad Request")).await;
    client.call(2);
    mock.next().await.answer().await;
    assert_eq!(client.frame().await, result(2));
}

fn assert_timed_out(error: &HttpError, waited: Wait) {
    match error {
        HttpError::TimedOut { wait, after, .. } => assert_eq!((*wait, *after), (waited, SHORT)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn headers_are_not_shown() {
    let config = Config::new("https://example.com/").unwrap();
    let config = config.header("Authorization", "Bearer secret").unwrap();
    assert!(!format!("{config:?}").contains("secret"));
    for (name, value) in [("x\n", "1"), ("x", "secret\r\ny: 1"), ("", "1")] {
        let refused = config.clone().header(name, value).unwrap_err();
        assert_eq!(refused.limit, None);
        let refused = refused.to_string();
        assert!(!refused.contains("secret") && !refused.contains('\n'), "{refused}");
    }
    let full = (0..1023).try_fold(config, |config, number| config.header("X-Many", number.to_string()));
    let refused = full.unwrap().header("X-Many", "1").unwrap_err();
    assert_eq!((refused.name.as_str(), refused.limit), ("X-Many", Some(1024)));
    assert_eq!(refused.to_string(), "`X-Many` is one header too many: the limit is 1024");
}

#[test]
fn only_urls_of_http_are_taken() {
    for url in [
        "",
        "example.com",
        "/mcp",
        "ftp://example.com/",
        "http:///mcp",
        "file:///etc",
        "https://",
        "http://a:99999/",
    ] {
        let error = Config::new(url).unwrap_err();
        assert!(error.to_string().contains(url) && error.url == url);
    }
    assert!(Config::new("https://example.com").is_ok() && Config::new("http://[::1]:80/mcp?x").is_ok());
}
