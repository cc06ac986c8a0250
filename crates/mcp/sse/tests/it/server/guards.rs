//! The checks of host, origin, method, media type and length, and CORS.

use agentwire_transport_sse::server::EndpointConfig;
use serde_json::json;

use crate::server::raw::{JSON, Raw, Session, result};
use crate::server::script::{Server, Way};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}"#;

#[tokio::test]
async fn sse_09_a_foreign_origin_or_host_is_refused_on_both_verbs_and_paths() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let mut session = Session::open(server.port).await;
    let endpoint = session.endpoint.clone();
    for header in [
        ("Origin", "http://evil.example"),
        ("Origin", "http://localhost.evil"),
        ("Origin", "null"),
        ("Host", "evil.example"),
        ("Host", "localhost.evil"),
    ] {
        for line in ["GET /sse", "GET /messages", "POST /sse", &format!("POST {endpoint}"), "OPTIONS /sse"] {
            let (head, body) = Raw::connect(server.port).await.exchange(line, &[header, JSON], PING).await;
            assert_eq!(head.status, 403, "{header:?} {line}: {body}");
            assert!(body.contains(r#""code":-32600,"#), "{header:?} {line}: {body}");
            assert_eq!(head.header("access-control-allow-origin"), None);
        }
    }
    let origin = format!("http://localhost:{}", server.port);
    let headers = [("Origin", origin.as_str()), ("Host", "localhost"), JSON];
    let (head, _) =
        Raw::connect(server.port).await.exchange(&format!("POST {endpoint}"), &headers, PING).await;
    assert_eq!(head.status, 202, "pages of this machine may call");
    assert_eq!(session.message().await, result(1, json!([1])), "and no other request was delivered");
    server.state.has_received(1).await;
}

#[tokio::test]
async fn sse_09_hosts_and_origins_can_be_configured() {
    let config =
        EndpointConfig::new().with_http(|http| http.hosts(["mcp.example"]).origins(["https://app.example"]));
    let server = Server::start(config, Way::Inline).await;
    for (status, headers) in [
        (400, [("Host", "mcp.example"), ("Origin", "https://app.example")]),
        (403, [("Host", "mcp.example:1"), ("Origin", "https://app.example")]),
        (403, [("Host", "mcp.example"), ("Origin", "http://localhost")]),
    ] {
        let headers = [headers[0], headers[1], JSON];
        let (head, _) = Raw::connect(server.port).await.exchange("POST /messages", &headers, PING).await;
        assert_eq!(head.status, status, "{headers:?}");
    }
}

#[tokio::test]
async fn method_media_types_and_length_of_a_request_are_checked() {
    let server =
        Server::start(EndpointConfig::new().with_http(|http| http.body_limit(1000)), Way::Inline).await;
    let session = Session::open(server.port).await;
    let post = format!("POST {}", session.endpoint);
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"echo","params":["{}"]}}"#, "x".repeat(1000));
    for (status, line, headers, body) in [
        (406, "GET /sse", vec![("Accept", "application/json")], ""),
        (406, "GET /sse", vec![("Accept", "text/event-stream;q=0, */*")], ""),
        (405, "PUT /sse", vec![JSON], PING),
        (405, "DELETE /messages", vec![], ""),
        (405, "OPTIONS /messages", vec![], ""),
        (415, &*post, vec![("Content-Type", "text/plain")], PING),
        (415, &*post, vec![], PING),
        (202, &*post, vec![("Content-Type", "application/json; charset=utf-8")], PING),
        (413, &*post, vec![JSON], &*long),
    ] {
        let (head, body) = Raw::connect(server.port).await.exchange(line, &headers, body).await;
        assert_eq!(head.status, status, "{line} {headers:?}: {body}");
        assert_eq!(head.header("allow"), (status == 405).then_some("GET, POST"));
    }
}

#[tokio::test]
async fn a_page_that_is_allowed_can_call_on_both_paths() {
    let config = EndpointConfig::new().with_http(|http| http.origins(["https://app.example"]));
    let server = Server::start(config, Way::Inline).await;
    let session = Session::open(server.port).await;
    let app = ("Origin", "https://app.example");
    let asks = ("Access-Control-Request-Headers", "content-type, x-other");
    for line in ["OPTIONS /sse".to_owned(), format!("OPTIONS {}", session.endpoint)] {
        let preflight = [app, ("Access-Control-Request-Method", "POST"), asks];
        let (head, _) = Raw::connect(server.port).await.exchange(&line, &preflight, "").await;
        assert_eq!(head.status, 204, "{line}");
        assert_eq!(head.header("access-control-allow-origin"), Some("https://app.example"));
        assert_eq!(head.header("access-control-allow-methods"), Some("GET, POST"));
        let allowed = head.header("access-control-allow-headers").unwrap();
        assert!(allowed.contains("content-type") && !allowed.contains("x-other"), "{allowed}");
    }
    for (line, status) in [(format!("POST {}", session.endpoint), 202), ("POST /messages".to_owned(), 400)] {
        let (head, _) = Raw::connect(server.port).await.exchange(&line, &[app, JSON], PING).await;
        assert_eq!(head.status, status);
        assert_eq!(head.header("access-control-allow-origin"), Some("https://app.example"));
        assert_eq!(head.header("vary"), Some("origin"));
    }
}
