//! Refusals before any service runs.

use std::time::Duration;

use agentwire_transport_http::server::{AnswerForm, EndpointConfig, Era, Principal};
use serde_json::json;

use super::modern::{VERSION, modern};
use super::raw::{Raw, parse_events};
use super::script::{Server, initialize, request};

#[tokio::test]
async fn foreign_pages_and_foreign_names_are_refused_with_every_method() {
    let mut server = Server::start(EndpointConfig::new()).await;
    let port = server.port;
    for method in ["POST", "GET", "DELETE", "OPTIONS"] {
        let body = if method == "POST" { initialize("2025-11-25") } else { String::new() };
        for (name, value) in [
            ("Origin", "http://evil.example".to_owned()),
            ("Origin", "null".to_owned()),
            ("Origin", format!("http://localhost.evil:{port}")),
            ("Host", "evil.example".to_owned()),
            ("Host", format!("localhost.evil:{port}")),
        ] {
            let (head, answer) = server.raw().await.exchange(method, &[(name, &value)], &body).await;
            assert_eq!(head.status, 403, "{method} {name}: {value}");
            assert_eq!(head.header("access-control-allow-origin"), None);
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            assert!(answer.get("id").is_none() && answer["error"]["message"].is_string());
            assert_eq!(answer["error"]["code"], -32600, "MCP defines no code for this");
        }
    }
    assert!(server.heard.try_recv().is_err());
    for value in
        [format!("http://localhost:{port}"), "https://127.0.0.1".to_owned(), "http://[::1]:3".to_owned()]
    {
        assert_eq!(server.exchange("POST", &[("Origin", &value)], &initialize("2025-11-25")).await.0, 200);
    }
    let host = format!("localhost:{port}");
    assert_eq!(server.exchange("POST", &[("Host", &host)], &initialize("2025-11-25")).await.0, 200);
}

#[tokio::test]
async fn names_can_be_listed() {
    let config = EndpointConfig::new().hosts(["MCP.example"]).origins(["https://app.example"]);
    let server = Server::start(config).await;
    let init = initialize("2025-11-25");
    for (host, origin, status) in [
        ("mcp.example", "https://app.example", 200),
        ("mcp.example:81", "https://app.example", 403),
        ("localhost", "https://app.example", 403),
        ("mcp.example", "http://app.example", 403),
    ] {
        assert_eq!(server.exchange("POST", &[("Host", host), ("Origin", origin)], &init).await.0, status);
    }
}

#[tokio::test]
async fn media_types_are_checked() {
    let server = Server::start(EndpointConfig::new()).await;
    let init = initialize("2025-11-25");
    for (value, status) in [
        ("application/json; charset=utf-8", 200),
        ("text/plain", 415),
        ("", 415),
        ("application/x-www-form-urlencoded", 415),
    ] {
        assert_eq!(server.exchange("POST", &[("Content-Type", value)], &init).await.0, status, "{value}");
    }
    for (value, status) in [
        ("*/*", 200),
        ("application/json", 200),
        ("text/event-stream", 200),
        ("application/json, text/event-stream;q=0", 200),
        ("text/html", 406),
        ("*/*;q=0", 406),
        ("text/event-stream;q=0.5,application/json;q=0.1", 200),
    ] {
        assert_eq!(server.exchange("POST", &[("Accept", value)], &init).await.0, status, "{value}");
    }
    let client = server.open("2025-11-25").await;
    let mut headers = client.headers();
    headers.push(("Accept", "application/json"));
    assert_eq!(server.exchange("GET", &headers, "").await.0, 406);
}

#[tokio::test]
async fn slash_behind_the_path_changes_nothing() {
    let server = Server::start(EndpointConfig::new()).await;
    let init = initialize("2025-11-25");
    for (path, status) in [("/mcp/", 200), ("/mcp//", 404), ("/mcp/other", 404), ("/", 404)] {
        let mut raw = server.raw().await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            init.len()
        );
        raw.write(format!("{head}{init}").as_bytes()).await;
        assert_eq!(raw.head().await.status, status, "{path}");
    }
}

#[tokio::test]
async fn one_accepted_type_is_the_form_of_each_answer() {
    const JSON_ALONE: (&str, &str) = ("Accept", "application/json");
    const EVENTS_ALONE: (&str, &str) = ("Accept", "text/event-stream");
    // Each form is also used where the endpoint prefers the other.
    let forms = EndpointConfig::new().legacy_answer(AnswerForm::Events).modern_answer(AnswerForm::Json);
    let server = Server::start(forms).await;
    let session = server.open("2025-11-25").await;
    let count = || request(1, "count", json!({"n": 2}));
    let mut headers = session.headers();
    headers.push(JSON_ALONE);
    let (head, body) = server.raw().await.exchange("POST", &headers, &count()).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    assert!(body.contains("counted") && !body.contains("progress"), "{body}");

    let (mut headers, modern_count) =
        (vec![VERSION, ("Mcp-Method", "count")], modern(1, "count", json!({"n": 2})));
    headers.push(JSON_ALONE);
    let (head, body) = server.raw().await.exchange("POST", &headers, &modern_count).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    assert!(body.contains("counted") && !body.contains("progress"), "{body}");

    let headers = [VERSION, ("Mcp-Method", "echo"), EVENTS_ALONE];
    let (head, body) = server.raw().await.exchange("POST", &headers, &modern(1, "echo", json!({}))).await;
    assert_eq!((head.header("content-type"), parse_events(&body).len()), (Some("text/event-stream"), 1));

    let headers = [VERSION, ("Mcp-Method", "subscriptions/listen"), JSON_ALONE];
    let (status, body) =
        server.exchange("POST", &headers, &modern(1, "subscriptions/listen", json!({}))).await;
    assert!(status == 406 && body.contains("text/event-stream"), "{status} {body}");
}

#[tokio::test]
async fn question_to_a_client_of_json_goes_to_its_get() {
    let server = Server::start(EndpointConfig::new()).await;
    let session = server.open("2025-11-25").await;
    let mut get = session.get().await;
    assert_eq!(get.next().await.unwrap().data, "", "the event that begins it");
    let mut raw = server.raw().await;
    let mut headers = session.headers();
    headers.push(("Accept", "application/json"));
    raw.send("POST", &headers, &request(1, "ask", json!({}))).await;
    assert_eq!(get.next().await.unwrap().json()["method"], "roots/list");
    let answer = json!({"jsonrpc": "2.0", "id": "s-1", "result": {}}).to_string();
    assert_eq!(session.post(&answer).await.0, 202);
    let head = raw.head().await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    assert!(raw.body(&head).await.contains("asked"));
}

#[tokio::test]
async fn other_methods_and_other_paths() {
    let server = Server::start(EndpointConfig::new()).await;
    for method in ["PUT", "PATCH", "OPTIONS"] {
        let (head, _) = server.raw().await.exchange(method, &[], "").await;
        assert_eq!((head.status, head.header("allow")), (405, Some("GET, POST, DELETE")));
    }
    let mut raw = server.raw().await;
    raw.write(b"POST /other HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(raw.head().await.status, 404);
}

#[tokio::test]
async fn body_that_is_not_a_message_gets_an_error() {
    let mut server = Server::start(EndpointConfig::new()).await;
    let session = server.open("2025-11-25").await.session;
    while server.heard.try_recv().is_ok() {}
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, code) in [
        ("{", "-32700"),
        ("1", "-32600"),
        ("\"x\"", "-32600"),
        ("{}", "-32600"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"echo"}"#, "-32600"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"echo"}"#, "-32600"),
        (r#"{"jsonrpc":"2.0","method":7}"#, "-32600"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"echo"}"#, "-32600"),
        (r#"{"JSONRPC":"2.0","id":1,"Method":"echo"}"#, "-32600"),
        (deep.as_str(), "-32"),
    ] {
        let (status, answer) = server.exchange("POST", &[("Mcp-Session-Id", &session)], body).await;
        assert_eq!((status, answer.contains(code)), (400, true), "{body:.40}: {answer}");
    }
    let mut raw = server.raw().await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: {session}\r\n"
    );
    raw.write(format!("{head}Content-Length: 3\r\n\r\n").as_bytes()).await;
    raw.write(b"\"\xff\"").await;
    let head = raw.head().await;
    assert_eq!((head.status, raw.body(&head).await.contains("-32700")), (400, true));
    assert!(server.heard.try_recv().is_err(), "none of it was heard");
    let headers = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(server.exchange("POST", &headers, &request(1, "echo", json!({}))).await.0, 200);
}

const PREFLIGHT: (&str, &str) = ("Access-Control-Request-Method", "POST");
const APP: (&str, &str) = ("Origin", "https://app.example");

/// The requests of a browser for a page of another origin: a preflight, a call, and a readable answer.
#[tokio::test]
async fn a_page_that_is_allowed_can_call_and_read_the_answer() {
    let server = Server::start(EndpointConfig::new().origins(["https://app.example"])).await;
    let asks =
        ("Access-Control-Request-Headers", "content-type,mcp-protocol-version,mcp-param-Region,x-other");
    let (head, body) = server.raw().await.exchange("OPTIONS", &[APP, PREFLIGHT, asks], "").await;
    assert_eq!((head.status, &*body), (204, ""));
    assert_eq!(head.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(head.header("access-control-allow-methods"), Some("GET, POST, DELETE"));
    let allowed = "accept, authorization, content-type, dpop, last-event-id, mcp-method, mcp-name, mcp-protocol-version, \
                   mcp-session-id, mcp-param-Region";
    assert_eq!(
        head.header("access-control-allow-headers"),
        Some(allowed),
        "what was not asked for, and no x-other"
    );
    assert_eq!(head.header("access-control-max-age"), Some("7200"));
    assert_eq!(head.header("access-control-allow-credentials"), None);

    let (head, _) = server.raw().await.exchange("POST", &[APP], &initialize("2025-11-25")).await;
    let session = head.header("mcp-session-id").unwrap().to_owned();
    let (gone, _) = server
        .raw()
        .await
        .exchange("POST", &[APP, ("Mcp-Session-Id", "x")], &request(1, "x", json!({})))
        .await;
    assert_eq!((head.status, gone.status), (200, 404));
    for head in [&head, &gone] {
        assert_eq!(
            head.header("access-control-allow-origin"),
            Some("https://app.example"),
            "errors are read too"
        );
        let exposed = head.header("access-control-expose-headers").unwrap();
        assert!(exposed.contains("mcp-session-id") && exposed.contains("www-authenticate"));
        assert_eq!(head.header("vary"), Some("origin"));
    }
    // A program names no origin, and gets none of that.
    let headers = [("Mcp-Session-Id", session.as_str())];
    let (head, _) = server.raw().await.exchange("POST", &headers, &request(1, "echo", json!({}))).await;
    assert_eq!((head.header("access-control-allow-origin"), head.header("vary")), (None, None));
    let (head, _) = server.raw().await.exchange("OPTIONS", &[PREFLIGHT], "").await;
    assert_eq!((head.status, head.header("allow")), (405, Some("GET, POST, DELETE")));
}

#[tokio::test]
async fn a_preflight_repeats_nothing_without_bound() {
    let server = Server::start(EndpointConfig::new().any_origin().era(Era::Modern)).await;
    let many: Vec<_> = (0..500).map(|number| format!("mcp-param-{number}")).collect();
    let long = format!("mcp-param-{}, x-{}", "a".repeat(10_000), "b".repeat(10_000));
    let strange = "mcp-param-, mcp-param-a b, mcp-param, ,,mcp-param-\"";
    let origin = format!("https://{}.example", "o".repeat(5000));
    for (asked, names) in [(many.join(","), 9 + 32), (long, 9), (strange.to_owned(), 9), (String::new(), 9)] {
        let asks = ("Access-Control-Request-Headers", asked.as_str());
        let head =
            server.raw().await.exchange("OPTIONS", &[("Origin", &origin), PREFLIGHT, asks], "").await.0;
        assert_eq!(head.status, 204);
        assert_eq!(head.header("access-control-allow-headers").unwrap().split(", ").count(), names);
        assert_eq!(head.header("access-control-allow-origin"), Some("*"));
        assert_eq!(head.header("access-control-allow-methods"), Some("POST"));
    }
    let two = [("Origin", "https://a.example"), ("Origin", "https://b.example"), PREFLIGHT];
    let (head, _) = server.raw().await.exchange("OPTIONS", &two, "").await;
    assert_eq!((head.status, head.header("access-control-allow-origin")), (405, None));
}

/// A session belongs to whom its token names, and a page can read why it is refused.
#[tokio::test]
async fn a_bearer_token_names_whose_a_session_is() {
    let config = EndpointConfig::new()
        .origins(["https://app.example"])
        .bearer(|token| ["ann", "ben"].contains(&token).then(|| Principal::new(token)));
    let mut server = Server::start(config).await;
    let (head, _) = server.raw().await.exchange("OPTIONS", &[APP, PREFLIGHT], "").await;
    assert_eq!(head.status, 204, "a browser asks without a token");
    let init = initialize("2025-11-25");
    for (method, token, challenge) in [
        ("POST", None, "Bearer"),
        ("POST", Some("Bearer eve"), r#"Bearer error="invalid_token""#),
        ("GET", None, "Bearer"),
        ("DELETE", Some("Basic ann"), "Bearer"),
    ] {
        let mut headers = vec![APP];
        headers.extend(token.map(|token| ("Authorization", token)));
        let body = if method == "POST" { &*init } else { "" };
        let (head, _) = server.raw().await.exchange(method, &headers, body).await;
        assert_eq!(
            (head.status, head.header("www-authenticate")),
            (401, Some(challenge)),
            "{method} {token:?}"
        );
        assert_eq!(head.header("access-control-allow-origin"), Some("https://app.example"));
    }
    assert!(server.heard.try_recv().is_err());

    let ann = ("Authorization", "Bearer ann");
    let (head, _) = server.raw().await.exchange("POST", &[ann], &init).await;
    let session = ("Mcp-Session-Id", head.header("mcp-session-id").unwrap());
    let ping = request(1, "echo", json!({}));
    let ben = server.raw().await.exchange("POST", &[("Authorization", "Bearer ben"), session], &ping).await.0;
    let own = server.raw().await.exchange("POST", &[ann, session], &ping).await.0;
    assert_eq!((head.status, ben.status, own.status), (200, 404, 200));
}

/// The head of a request that is refused, whatever its body is.
fn refused_head(port: u16, length: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Python's httpcore writes the body after the head, and uses the connection again unless the response has `close`.
#[tokio::test]
async fn refusal_before_the_body_arrives_keeps_the_connection() {
    let server = Server::inline(EndpointConfig::new()).await;
    for path in ["/mcp", "/nothing"] {
        let mut client = Raw::mcp(server.port).await;
        client.write(refused_head(server.port, 2).replace("/mcp", path).as_bytes()).await;
        let read = tokio::time::timeout(Duration::from_millis(50), client.stream.readable()).await;
        assert!(read.is_err(), "the response waits for the body");
        client.write(b"{}").await;
        let head = client.head().await;
        assert_eq!(head.status, if path == "/mcp" { 403 } else { 404 });
        assert_eq!(head.header("connection"), None);
        client.body(&head).await;
        let (head, _) = client.exchange("POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(head.status, 200, "the connection can be used again");
    }
}

#[tokio::test]
async fn refusal_without_the_whole_body_announces_the_close() {
    let server = Server::inline(EndpointConfig::new()).await;
    let long = "x".repeat(100 * 1024);
    // One body is too long to be read for nothing, the other does not arrive.
    for (length, sent) in [(1_000_000, long.as_str()), (2, "")] {
        let mut client = Raw::mcp(server.port).await;
        client.write(refused_head(server.port, length).as_bytes()).await;
        client.write(sent.as_bytes()).await;
        let head = client.head().await;
        assert_eq!((head.status, head.header("connection")), (403, Some("close")));
    }
}
