//! The POSTs of a client: acceptance, refusals, order and closing.

use agentwire_transport_http::client::HttpError;
use agentwire_transport_sse::client::SseError;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::client::mock::{ACCEPTED, Client, Mock, response, result};

#[tokio::test]
async fn sse_06_any_success_accepts_and_answers_come_on_the_stream_only() {
    let mock = Mock::new().await;
    let (mut client, mut stream) = mock.open().await;
    for (id, accepted) in [
        (1, ACCEPTED.to_owned()),
        (2, response("200 OK", "", "Accepted")),
        (3, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned()),
        (4, response("200 OK", "Content-Type: application/json\r\n", &result(4).to_string())),
        (5, response("201 Created", "Content-Type: text/event-stream\r\n", "data: x\n\n")),
    ] {
        client.call(id);
        let post = mock.next().await;
        assert_eq!(post.json()["id"], id);
        post.finish(&accepted).await;
        assert!(client.hears_nothing().await, "{accepted}");
        stream.write_all(format!("event: message\ndata: {}\n\n", result(id)).as_bytes()).await.unwrap();
        assert_eq!(client.frame().await, result(id));
    }
}

#[tokio::test]
async fn a_server_may_accept_a_request_after_its_answer_has_come() {
    let mock = Mock::new().await;
    let (mut client, mut stream) = mock.open().await;
    client.call(1);
    let first = mock.next().await;
    // The server asks back in the course of the call.
    let ask = json!({"jsonrpc": "2.0", "id": "s-1", "method": "roots/list"});
    stream.write_all(format!("data: {ask}\n\n").as_bytes()).await.unwrap();
    assert_eq!(client.frame().await, ask);
    let answer = json!({"jsonrpc": "2.0", "id": "s-1", "result": {"roots": []}});
    client.say(answer.clone());
    let post = mock.next().await;
    assert_eq!(post.json(), answer);
    post.finish(ACCEPTED).await;
    client.call(2);
    let second = mock.next().await;
    stream.write_all(format!("data: {}\n\n", result(1)).as_bytes()).await.unwrap();
    assert_eq!(client.frame().await, result(1));
    // Whatever becomes of the POST now, the call has been answered.
    first.finish(&response("500 Internal Server Error", "", "")).await;
    second.finish(ACCEPTED).await;
    assert!(client.hears_nothing().await);
}

#[tokio::test]
async fn a_post_that_fails_fails_its_call_and_no_other() {
    let mock = Mock::new().await;
    let (mut client, mut stream) = mock.open().await;
    client.call(1);
    mock.next().await.finish(&response("404 Not Found", "", "Session not found")).await;
    client
        .failed(1, |error| {
            assert_eq!(error.to_string(), "HTTP status 404 Not Found: Session not found");
            assert_eq!(error.status().unwrap(), 404);
        })
        .await;
    client.call(2);
    drop(mock.next().await);
    client
        .failed(2, |error| assert!(matches!(error, SseError::Http(HttpError::Unsent(_))), "{error:?}"))
        .await;
    client.call(3);
    let moved = response("307 Temporary Redirect", "Location: http://evil.example/\r\n", "");
    mock.next().await.finish(&moved).await;
    client
        .failed(3, |error| {
            assert!(matches!(error, SseError::Http(HttpError::Redirected { .. })), "{error:?}")
        })
        .await;

    client.call(4);
    mock.next().await.finish(ACCEPTED).await;
    stream.write_all(format!("data: {}\n\n", result(4)).as_bytes()).await.unwrap();
    assert_eq!(client.frame().await, result(4));
}

#[tokio::test]
async fn an_error_under_the_id_of_the_request_answers_it() {
    let mock = Mock::new().await;
    let (mut client, _stream) = mock.open().await;
    let error = |id| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no"}});
    client.call(1);
    mock.next().await.finish(&response("400 Bad Request", "", &error(1).to_string())).await;
    assert_eq!(client.frame().await, error(1));
    for (id, status, answer) in
        [(2, "400 Bad Request", error(7)), (3, "401 Unauthorized", error(3)), (4, "403 Forbidden", error(4))]
    {
        client.call(id);
        mock.next().await.finish(&response(status, "", &answer.to_string())).await;
        client
            .failed(id, |error| {
                let SseError::Http(HttpError::Refused(refusal)) = error else { panic!("{error:?}") };
                assert_eq!(refusal.error.as_ref().unwrap().code, -32602);
            })
            .await;
    }
}

#[tokio::test]
async fn all_requests_of_a_batch_fail_with_their_post() {
    let mock = Mock::new().await;
    let (mut client, _stream) = mock.open().await;
    let request = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    client.say(json!([request(1), request(2)]));
    mock.next().await.finish(&response("400 Bad Request", "", "no batches")).await;
    let mut failed = Vec::new();
    for _ in 0..2 {
        match client.heard().await {
            Some(Ok(agentwire_transport::Packet::RequestFailed { id, .. })) => failed.push(id.to_string()),
            other => panic!("{other:?}"),
        }
    }
    failed.sort();
    assert_eq!(failed, ["1", "2"]);
}

#[tokio::test]
async fn notifications_and_answers_keep_their_order_and_their_refusal_ends_nothing() {
    let mock = Mock::new().await;
    let (mut client, _stream) = mock.open().await;
    for at in 0..3 {
        client.say(json!({"jsonrpc": "2.0", "method": "n", "params": {"at": at}}));
    }
    client.call(1);
    for (at, answer) in [ACCEPTED.to_owned(), response("500 Internal Server Error", "", ""), String::new()]
        .into_iter()
        .enumerate()
    {
        let post = mock.next().await;
        assert_eq!(post.json()["params"]["at"], at);
        assert!(mock.is_quiet().await, "the next went out before this one was accepted");
        post.finish(&answer).await;
    }
    mock.next().await.finish(ACCEPTED).await;
    assert!(client.hears_nothing().await);
}

#[tokio::test]
async fn requests_run_beside_each_other() {
    let mock = Mock::new().await;
    let (client, _stream) = mock.open().await;
    let mut posts = Vec::new();
    for id in 0..8 {
        client.call(id);
    }
    for _ in 0..8 {
        posts.push(mock.next().await);
    }
    let mut ids: Vec<_> = posts.iter().map(|post| post.json()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..8).collect::<Vec<_>>());
}

#[tokio::test]
async fn closing_waits_for_the_last_notification() {
    let mock = Mock::new().await;
    let (client, stream) = mock.open().await;
    client.say(json!({"jsonrpc": "2.0", "method": "bye"}));
    let closing = tokio::spawn(client.close());
    let post = mock.next().await;
    assert_eq!(post.json()["method"], "bye");
    assert!(!closing.is_finished());
    post.finish(ACCEPTED).await;
    crate::patiently(closing).await.unwrap();
    crate::client::mock::closed(stream).await;
}

#[tokio::test]
async fn closing_has_a_time_limit() {
    let mock = Mock::new().await;
    let config = mock.config();
    let config = config.with_http(|http| http.close_timeout(std::time::Duration::from_millis(300)));
    let client = Client::new(config.open().unwrap());
    let stream = mock.stream("event: endpoint\ndata: /messages\n\n").await;
    client.say(json!({"jsonrpc": "2.0", "method": "bye"}));
    let post = mock.next().await;
    crate::patiently(client.close()).await;
    crate::client::mock::closed(stream).await;
    drop(post);
}
