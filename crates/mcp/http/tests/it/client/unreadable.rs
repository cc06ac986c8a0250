//! Answers that cannot be read, or name no request.

use agentwire_jsonrpc::{Frame, Intent};
use agentwire_transport::Packet;
use agentwire_transport_http::client::HttpError;
use serde_json::json;

use super::mock::{Client, EVENTS, Mock, QUIET, ok, open, result, status};

fn json_of(body: &[u8]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let mut response = format!("{head}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    response.extend_from_slice(body);
    response
}

/// The id of the call that the next packet fails or answers.
async fn meant(client: &mut Client) -> String {
    match client.heard().await {
        Some(Ok(Packet::Frame { frame: Frame::Malformed(malformed), .. })) => match malformed.intent {
            Intent::Response(id) | Intent::ResponseOrRequest(id) => {
                format!("fails {id}: {}", malformed.error.message)
            }
            other => panic!("{other:?}"),
        },
        Some(Ok(packet @ Packet::Frame { .. })) => packet.into_json().unwrap(),
        Some(Ok(Packet::RequestFailed { id, error })) => format!("failed {id}: {error}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn error_without_an_answer_names_what_the_response_has() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let responses = [
        (String::from_utf8(json_of(b"")).unwrap(), "the body is empty"),
        (status("202 Accepted"), "HTTP status 202 Accepted"),
        (status("204 No Content"), "HTTP status 204 No Content"),
        (format!("{EVENTS}{answer}"), "text that is not an event"),
        (format!("{EVENTS}{answer}\n\n"), "text that is not an event"),
        (format!("{EVENTS}event: result\ndata: {answer}\n\n"), "an event `result` in place of `message`"),
        (format!("{EVENTS}data: {answer}"), "an event without a blank line at its end"),
        (format!("{EVENTS}data: {answer}\n"), "an event without a blank line at its end"),
    ];
    for (response, found) in responses {
        client.call(1);
        mock.next().await.finish(&response).await;
        let expected = format!("failed 1: the response ended without an answer: {found}");
        assert_eq!(meant(&mut client).await, expected, "{response}");
    }
    client.call(1);
    mock.next().await.finish(&format!("{EVENTS}: ping\n\n")).await;
    assert_eq!(meant(&mut client).await, "failed 1: the response ended without an answer");
}

#[tokio::test]
async fn unreadable_answer_fails_its_call_at_once() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let answers = [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}"#, "fails 1: parse error"),
        (r#"{"jsonrpc":"2.0","result":{"a":NaN},"id":1}"#, "fails 1: parse error"),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "fails 1: the answer has no id"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "fails 1: the answer has no id"),
        (r#"{"jsonrpc":"2.0","id":true,"result":{}}"#, "fails 1: invalid request"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "fails 1: invalid request"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, "fails 1: invalid request: an answer has"),
        (r#"{"jsonrpc":"2.0","id":1,"method":null,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"no"}}"#,
        ),
    ];
    for (answer, expected) in answers {
        client.call(1);
        mock.next().await.finish(&json_of(answer.as_bytes())).await;
        let heard = meant(&mut client).await;
        assert!(heard.starts_with(expected), "{answer}: {heard}");

        client.call(1);
        let stream = mock.next().await.open(&format!("{EVENTS}data: {answer}\n\n")).await;
        let heard =
            tokio::time::timeout(10 * QUIET, meant(&mut client)).await.expect("while the stream is open");
        assert!(heard.starts_with(expected), "{answer}: {heard}");
        drop(stream);
    }
    client.call(1);
    mock.next().await.finish(&json_of(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xe9\"}")).await;
    assert!(meant(&mut client).await.starts_with("fails 1: parse error: not UTF-8"));
    assert!(client.hears_nothing().await);
}

#[tokio::test]
async fn error_without_an_id_is_for_the_request_of_its_response() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.call(1);
    let first = mock.next().await;
    client.call(2);
    mock.next()
        .await
        .finish(&ok("", &json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": ""}})))
        .await;
    assert_eq!(client.frame().await["id"], 2);
    first.answer().await;
    assert_eq!(client.frame().await, result(1));
}

/// The event is reported to the caller and not to the server, which would get an answer without an id.
#[tokio::test]
async fn event_that_is_no_message_before_the_answer_is_reported() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.call(1);
    mock.next().await.finish(&format!("{EVENTS}data: hello\n\ndata: {}\n\n", result(1))).await;
    let Some(Ok(Packet::Frame { frame: Frame::Malformed(malformed), .. })) = client.heard().await else {
        panic!("a report")
    };
    assert_eq!(malformed.intent, Intent::Notification);
    assert_eq!(client.frame().await, result(1));
    client.call(1);
    mock.next().await.finish(&format!("{EVENTS}data: hello\n\n")).await;
    client.failed(1, |error| assert!(matches!(error, HttpError::NotAMessage(_)), "{error:?}")).await;
}

#[tokio::test]
async fn byte_order_mark_before_a_body_is_passed_over() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.call(1);
    mock.next().await.finish(&json_of(format!("\u{feff}{}", result(1)).as_bytes())).await;
    assert_eq!(client.frame().await, result(1));
}

#[tokio::test]
async fn requests_beyond_the_limit_wait_and_subscriptions_do_not_count() {
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().request_limit(2)));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    client
        .say(json!({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": {"_meta": meta}}));
    let subscription = mock.next().await;
    for id in 1..=5 {
        client.call(id);
    }
    let (first, second) = (mock.next().await, mock.next().await);
    assert!(mock.is_quiet().await, "two are unanswered");
    client.say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}));
    let notification = mock.next().await;
    assert!(notification.json()["id"].is_null(), "a notification does not wait");
    notification.finish(super::mock::ACCEPTED).await;
    first.answer().await;
    assert_eq!(client.frame().await["id"], 1);
    let third = mock.next().await;
    assert_eq!(third.id(), 3, "in their order");
    // A request that is given up makes room as well.
    client.packet(Packet::CallerLeft(3_u64.into()));
    assert_eq!(mock.next().await.id(), 4);
    drop((second, third, subscription));
}
