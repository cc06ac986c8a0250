//! Responses that are no answers.

use agentwire_transport_http::client::{Config, HttpError};
use serde_json::{Value, json};

use super::mock::{Client, Mock, ok, open, response, result, status};

fn refusal(error: &HttpError) -> &agentwire_transport_http::client::Refusal {
    match error {
        HttpError::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

fn error(id: Value, code: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}})
}

async fn call(mock: &Mock, client: &Client, response: &str) {
    client.call(1);
    mock.next().await.finish(response).await;
}

/// HTP-62, ST-11: an error that bears the id of the request answers it, whatever the status.
#[tokio::test]
async fn an_error_with_our_id_is_the_answer() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    for (status, code) in
        [("400 Bad Request", -32020), ("404 Not Found", -32601), ("500 Internal Server Error", -32603)]
    {
        let answer = error(json!(1), code);
        call(&mock, &client, &response(status, "Content-Type: application/json\r\n", &answer.to_string()))
            .await;
        assert_eq!(client.frame().await, answer);
    }
    mock.session(&mut client).await;
    let answer = error(json!(1), -32601);
    call(&mock, &client, &response("404 Not Found", "", &answer.to_string())).await;
    assert_eq!(client.frame().await, answer, "an unknown method is not the end of the session");
}

/// The request was not begun, and the caller must see that it may try again.
#[tokio::test]
async fn error_of_an_overloaded_server_keeps_its_status() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    for status in ["429 Too Many Requests", "503 Service Unavailable"] {
        let answer = error(json!(1), -32600).to_string();
        call(
            &mock,
            &client,
            &response(status, "Content-Type: application/json\r\nRetry-After: 1\r\n", &answer),
        )
        .await;
        client
            .failed(1, |error| {
                let refusal = refusal(error);
                assert!(refusal.is_overload() && refusal.headers["retry-after"] == "1");
                assert_eq!(refusal.error.as_ref().unwrap().code, -32600);
                assert!(error.to_string().contains(status), "{error}");
            })
            .await;
    }
}

/// HTP-62: any other body fails the call with its text, and the next call goes on.
#[tokio::test]
async fn other_refusals_keep_what_they_say() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let json = "Content-Type: application/json\r\n";
    for id in [json!(null), json!(7)] {
        call(&mock, &client, &response("400 Bad Request", json, &error(id, -32022).to_string())).await;
        client
            .failed(1, |error| {
                assert_eq!(error.status().unwrap(), 400);
                assert_eq!(refusal(error).error.as_ref().unwrap().code, -32022);
            })
            .await;
    }
    let without_id = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}"#;
    call(&mock, &client, &response("403 Forbidden", json, without_id)).await;
    client.failed(1, |error| assert_eq!(refusal(error).error.as_ref().unwrap().code, -32000)).await;

    let page = format!("<html>\r\n  <h1>Oops</h1>{}", "x".repeat(100_000));
    call(&mock, &client, &response("500 Internal Server Error", "Content-Type: text/html\r\n", &page)).await;
    client
        .failed(1, |error| {
            let refusal = refusal(error);
            assert!(refusal.excerpt.starts_with("<html> <h1>Oops</h1>xx") && refusal.excerpt.len() <= 256);
            assert!(refusal.error.is_none() && error.to_string().contains("Oops"));
        })
        .await;
    call(&mock, &client, &status("502 Bad Gateway")).await;
    client
        .failed(1, |error| {
            assert_eq!((error.status().unwrap().as_u16(), &*refusal(error).excerpt), (502, ""))
        })
        .await;

    call(&mock, &client, &ok("", &result(1))).await;
    assert_eq!(client.frame().await, result(1));
}

/// SSE-17, SSE-18, ST-37: what a client that looks for another way to speak has to know is in the error.
#[tokio::test]
async fn refused_handshake_has_the_refusal_as_its_cause() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let rows = [400, 404, 405, 406, 415, 422, 500].map(|status| (status, initialize.clone()));
    for (status, begin) in rows.into_iter().chain([(500, discover()), (401, discover()), (429, discover())]) {
        client.say(begin);
        let page = response(&format!("{status} No"), "Content-Type: text/plain\r\n", "go away");
        mock.next().await.finish(&page).await;
        let look = |error: &HttpError| {
            let refusal = refusal(error);
            assert_eq!((refusal.status.as_u16(), &*refusal.excerpt), (status, "go away"));
            assert!(refusal.error.is_none());
        };
        client.failed(1, look).await;
    }
}

fn discover() -> Value {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
}

/// So a server of the legacy era refuses what comes before its session. The client may begin one on the same transport.
#[tokio::test]
async fn status_is_an_answer_to_discover() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    for status in ["400 Bad Request", "404 Not Found", "405 Method Not Allowed", "415 Unsupported Media Type"]
    {
        client.say(discover());
        mock.next().await.finish(&response(status, "Content-Type: text/plain\r\n", "go away")).await;
        let answer = client.frame().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32601)), "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(status) && message.contains("go away"), "{message}");
    }
    for id in [json!(null), json!("server-error")] {
        client.say(discover());
        let json = "Content-Type: application/json\r\n";
        mock.next().await.finish(&response("400 Bad Request", json, &error(id, -32000).to_string())).await;
        let answer = client.frame().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32000)), "{answer}");
        assert_eq!(answer["error"]["message"], "HTTP status 400 Bad Request: no");
    }
}

/// HTP-64: those are for the owner of the keys, even if they look like an answer.
#[tokio::test]
async fn missing_rights_are_no_answer() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let headers =
            "WWW-Authenticate: Bearer resource_metadata=\"x\"\r\nContent-Type: application/json\r\n";
        call(&mock, &client, &response(status, headers, &error(json!(1), -32000).to_string())).await;
        client
            .failed(1, |error| {
                let refusal = refusal(error);
                assert!(status.starts_with(refusal.status.as_str()));
                assert_eq!(refusal.headers["www-authenticate"], "Bearer resource_metadata=\"x\"");
            })
            .await;
    }
}

#[tokio::test]
async fn a_response_that_is_no_answer_fails_the_call() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let json = "Content-Type: application/json; charset=utf-8\r\n";
    for (response, wanted) in [
        (response("200 OK", "Content-Type: text/html\r\n", "<html>"), "content type `text/html`"),
        (
            response("200 OK", "Content-Type: application/json\r\nContent-Encoding: br\r\n", "x"),
            "compressed by `br`",
        ),
        (response("200 OK", json, "nonsense"), "not a message"),
        (response("200 OK", json, ""), "the body is empty"),
        (response("200 OK", json, &result(2).to_string()), "without an answer"),
        (status("204 No Content"), "without an answer: HTTP status 204"),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: nonsense\n\n".to_owned(),
            "not a message",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: \u{1}\n\ndata: \u{0}".to_owned(),
            "not a message",
        ),
    ] {
        call(&mock, &client, &response).await;
        if response.contains("\"id\":2") {
            assert_eq!(client.frame().await, result(2), "a stray answer is for others to judge");
        }
        client.failed(1, |error| assert!(error.to_string().contains(wanted), "{error} for {response}")).await;
    }
}

/// HTP-63: a redirect within the origin is followed with all that was sent, any other is not followed at all.
#[tokio::test]
async fn redirects_stay_within_the_origin() {
    let (mock, other) = (Mock::new().await, Mock::new().await);
    let mut client = mock.client();
    mock.session(&mut client).await;
    let redirect = |status: &str, to: &str| response(status, &format!("Location: {to}\r\n"), "");

    client.call(1);
    mock.next().await.finish(&redirect("307 Temporary Redirect", "/mcp/")).await;
    let request = mock.next().await;
    assert_eq!(
        (request.method(), request.path(), request.header("mcp-session-id")),
        ("POST", "/mcp/", Some("s-1"))
    );
    assert_eq!(request.id(), 1);
    request.answer().await;
    assert_eq!(client.frame().await, result(1));

    for (status, to) in [
        ("307 Temporary Redirect", other.url()),
        ("308 Permanent Redirect", mock.url().replace("http:", "https:")),
        ("302 Found", mock.url()),
        ("307 Temporary Redirect", String::new()),
    ] {
        call(&mock, &client, &redirect(status, &to)).await;
        client
            .failed(1, |error| match error {
                HttpError::Redirected { location, .. } => assert_eq!(*location, to),
                other => panic!("{other:?}"),
            })
            .await;
    }
    assert!(other.is_quiet().await && mock.is_quiet().await);

    client.call(1);
    for _ in 0..6 {
        mock.next().await.finish(&redirect("307 Temporary Redirect", "/round")).await;
    }
    client.failed(1, |error| assert_eq!(error.status().unwrap(), 307)).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_fails_the_call() {
    let url = Mock::new().await.url();
    let mut client = Client::new(open(Config::new(&url).unwrap()));
    client.call(1);
    client.failed(1, |error| assert!(matches!(error, HttpError::Unsent(_)), "{error:?}")).await;
    client.call(2);
    client.failed(2, |error| assert!(matches!(error, HttpError::Unsent(_)), "{error:?}")).await;
}
