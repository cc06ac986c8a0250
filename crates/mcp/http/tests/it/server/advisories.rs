//! Known faults of other servers, each under its name.

use std::time::Duration;

use agentwire_transport_http::server::{AnswerForm, EndpointConfig};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::modern::{VERSION, modern};
use super::raw::{Events, PATIENCE};
use super::script::{Client, Heard, Server, initialize, notification, request};

const HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

/// CVE-2025-66414, CVE-2025-66416, CVE-2026-34742, CVE-2026-35568, CVE-2026-42559, RUSTSEC-2026-0140: a web page
/// speaks to a local server, by a name that was made to point to it.
#[tokio::test]
async fn ghsa_w48q_cv73_mx4w_dns_rebinding() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let session = server.open("2025-11-25").await.session;
    while server.heard.try_recv().is_ok() {}
    let with_session = ("Mcp-Session-Id", session.as_str());
    let foreign = [
        ("Host", "evil.example"),
        ("Host", "localhost.evil"),
        ("Host", "127.0.0.1.evil:80"),
        ("Origin", "http://evil.example"),
        ("Origin", "http://localhost.evil"),
        ("Origin", "null"),
    ];
    for method in ["POST", "GET", "DELETE", "OPTIONS"] {
        for header in foreign {
            let body = if method == "POST" { notification("x") } else { String::new() };
            let (head, _) = server.raw().await.exchange(method, &[header, with_session], &body).await;
            assert_eq!(head.status, 403, "{method} {header:?}");
            let allowed = head.headers.iter().any(|(name, _)| name.starts_with("access-control-"));
            assert!(!allowed, "no page is told that it may read this");
        }
    }
    // What a form of a web page can send without asking first.
    for form in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let headers = [("Content-Type", form), with_session];
        assert_eq!(server.exchange("POST", &headers, &notification("x")).await.0, 415, "{form}");
    }
    assert!(server.heard.try_recv().is_err(), "none of it was heard");
    let origin = format!("http://localhost:{}", server.port);
    let headers = [("Origin", origin.as_str()), with_session];
    assert_eq!(server.exchange("POST", &headers, &notification("x")).await.0, 202);
}

/// CVE-2026-25536: the answer to one client went to another with a request of the same id.
#[tokio::test]
async fn ghsa_345p_7cg4_v4c7_equal_ids_of_different_sessions() {
    let server = Server::inline(EndpointConfig::new()).await;
    let clients = join_all((0..8).map(|_| server.open("2025-11-25"))).await;
    for round in 0..6 {
        let calls = clients.iter().enumerate().map(|(at, client)| async move {
            let secret = format!("{at}-{round}");
            let call = request(5, "count", json!({"n": 3, "secret": secret}));
            let mut events = client.call(&call).await;
            let answer = request(6, "echo", json!({"secret": secret}));
            let (status, own) = client.post(&answer).await;
            assert_eq!((status, own.contains(&format!("\"{secret}\""))), (200, true), "{own}");
            assert_eq!(events.rest().await.len(), 5);
        });
        join_all(calls).await;
    }
    // The same without sessions, at the same time on different connections.
    let calls = (0..48).map(|at| {
        let server = &server;
        async move {
            let headers = [VERSION, ("Mcp-Method", "echo")];
            let (_, own) = server.exchange("POST", &headers, &modern(5, "echo", json!({"secret": at}))).await;
            assert_eq!(serde_json::from_str::<Value>(&own).unwrap()["result"]["secret"], at);
        }
    });
    join_all(calls).await;
}

/// CVE-2026-33946: an attacker who knows the session's id takes over its stream by a second GET.
#[tokio::test]
async fn ghsa_qvqr_5cv7_wh35_a_second_get_takes_nothing_over() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-06-18").await;
    let mut first = client.get().await;
    let _second = client.get().await;
    client.post(&request(1, "announce", json!({"at": 1}))).await;
    assert_eq!(first.next().await.unwrap().json()["params"]["at"], 1, "the first is still served");
}

/// Session ids that can be guessed.
#[tokio::test]
async fn cve_2025_6515_session_ids() {
    let server = Server::inline(EndpointConfig::new()).await;
    let mut ids: Vec<_> = join_all((0..30).map(|_| server.open("2025-11-25"))).await;
    ids.sort_by(|a, b| a.session.cmp(&b.session));
    ids.dedup_by(|a, b| a.session == b.session);
    assert_eq!(ids.len(), 30);
    assert!(ids.iter().all(|client| client.session.bytes().all(|byte| byte.is_ascii_graphic())));
    let column = |at: usize| ids.iter().map(move |client| client.session.as_bytes()[at]);
    let varying =
        (0..ids[0].session.len()).filter(|at| column(*at).any(|byte| byte != column(*at).next().unwrap()));
    assert!(varying.count() >= 28, "of 32 digits");
    let guess = ("Mcp-Session-Id", "00000000000000000000000000000001");
    assert_eq!(server.exchange("POST", &[guess], &request(1, "echo", json!({}))).await.0, 404);
}

/// Members whose names differ in case are other members.
#[tokio::test]
async fn cve_2026_27896_case_insensitive_members() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let session = server.open("2025-11-25").await.session;
    while server.heard.try_recv().is_ok() {}
    for body in [
        r#"{"JSONRPC":"2.0","id":1,"method":"echo"}"#,
        r#"{"jsonrpc":"2.0","id":1,"Method":"echo"}"#,
        r#"{"jsonrpc":"2.0","ID":1,"METHOD":"echo"}"#,
    ] {
        let (status, _) = server.exchange("POST", &[("Mcp-Session-Id", &session)], body).await;
        assert_eq!(status, 400, "{body}");
    }
    let twice =
        r#"{"jsonrpc":"2.0","id":1,"method":"echo","Method":"wait","params":{"a":1},"Params":{"a":2}}"#;
    let (_, answer) = server.exchange("POST", &[("Mcp-Session-Id", &session)], twice).await;
    assert!(answer.contains(r#"{"a":1}"#), "{answer}");
    server.hears(&Heard::Message("echo".to_owned())).await;
}

/// CVE-2026-39313: bodies without a bound.
#[tokio::test]
async fn ghsa_353c_v8x9_v7c3_endless_bodies() {
    let server = Server::inline(EndpointConfig::new()).await;
    let mut announced = server.raw().await;
    announced.write(format!("{HEAD}Content-Length: {}\r\n\r\n{{", 512 << 20).as_bytes()).await;
    assert_eq!(announced.head().await.status, 413, "before any of it is read");
    let mut endless = server.raw().await;
    endless.write(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let mut sent = 0;
    let mut byte = [0];
    while endless.stream.write_all(chunk.as_bytes()).await.is_ok()
        && endless.stream.try_read(&mut byte).is_err()
    {
        sent += chunk.len();
        assert!(sent < 32 << 20, "much more than the limit was taken");
        tokio::task::yield_now().await;
    }
    assert!(sent >= 4 << 20, "refused before the limit: {sent}");
    assert_eq!(server.exchange("POST", &[], &initialize("2025-11-25")).await.0, 200);
}

/// How many connections the server has open.
#[cfg(target_os = "linux")]
fn connections(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let open = table.lines().skip(1).filter(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let (local, state, inode) = (fields[1], fields[3], fields[9]);
        // Not the one that listens, and none that no process holds any more.
        local.ends_with(&format!(":{port:04X}")) && state != "0A" && inode != "0"
    });
    open.count()
}

/// Waits until the server has closed all its connections.
#[cfg(target_os = "linux")]
async fn all_closed(port: u16) {
    let closing = async {
        while connections(port) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, closing)
        .await
        .unwrap_or_else(|_| panic!("{} are open", connections(port)));
}

/// CVE-2025-53365, CVE-2025-53366: a connection that is cut in the middle of a call, or bytes that are no text, end
/// the server.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn cve_2025_53365_resets_and_bytes_that_are_no_text() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let session = server.open("2025-11-25").await.session;
    all_closed(server.port).await;
    for id in 0..30 {
        let mut raw = server.raw().await;
        if id % 2 == 0 {
            raw.send("POST", &[("Mcp-Session-Id", &session)], &request(id, "wait", json!({}))).await;
        } else {
            raw.send("POST", &[VERSION, ("Mcp-Method", "wait")], &modern(id, "wait", json!({}))).await;
        }
        server.hears(&Heard::Message("wait".to_owned())).await;
        raw.reset();
    }
    all_closed(server.port).await;
    let mut raw = server.raw().await;
    raw.write(format!("{HEAD}Mcp-Session-Id: {session}\r\nContent-Length: 5\r\n\r\n").as_bytes()).await;
    raw.write(b"{\xff\xfe\xff}").await;
    assert_eq!(raw.head().await.status, 400);
    let (status, _) =
        server.exchange("POST", &[("Mcp-Session-Id", &session)], &request(99, "echo", json!({}))).await;
    assert_eq!(status, 200);
}

/// python-sdk#1227, typescript-sdk#321, java-sdk#162: streams and sessions of clients that have gone are kept for ever.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn python_sdk_1227_streams_that_are_reset() {
    let server = Server::inline(EndpointConfig::new()).await;
    let clients = join_all((0..20).map(|_| server.open("2025-11-25"))).await;
    let mut streams = Vec::new();
    for client in &clients {
        streams.push(client.get().await);
        streams.push(client.call(&request(1, "wait", json!({}))).await);
    }
    for id in 0..20 {
        let mut raw = server.raw().await;
        raw.send("POST", &[VERSION, ("Mcp-Method", "ask")], &modern(id, "ask", json!({}))).await;
        raw.head().await;
        streams.push(Events::new(raw));
    }
    assert_eq!(streams.len(), 60);
    assert!(connections(server.port) >= 60);
    streams.into_iter().for_each(|stream| stream.raw.reset());
    all_closed(server.port).await;
    for client in clients {
        server.exchange("DELETE", &client.headers(), "").await;
        assert_eq!(client.post(&request(2, "echo", json!({}))).await.0, 404, "a session that has ended");
        assert_eq!(client.post(&notification("x")).await.0, 404);
    }
}

/// A flood of sessions takes bounded memory: there are so many, and each is small.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn rust_mcp_sdk_167_unbounded_initialize() {
    let config = EndpointConfig::new().session_limit(400).legacy_answer(AnswerForm::Json);
    let server = Server::inline(config).await;
    let mut raw = server.raw().await;
    let before = super::crowd::resident();
    let mut sessions = Vec::new();
    for _ in 0..500 {
        let (head, _) = raw.exchange("POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(head.status, 200, "whoever comes later has a session too");
        sessions.push(head.header("mcp-session-id").unwrap().to_owned());
    }
    let mut open = 0;
    for session in &sessions {
        let (head, _) = raw.exchange("POST", &[("Mcp-Session-Id", session)], &notification("x")).await;
        open += usize::from(head.status == 202);
    }
    assert_eq!(open, 300, "three quarters of the limit, the newest");
    let grown = super::crowd::resident().saturating_sub(before);
    assert!(grown < 256 << 20, "{grown} bytes");
}

/// A gateway decides by the headers, the server by the body.
#[tokio::test]
async fn header_and_body_mismatch() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let call = modern(1, "tools/call", json!({"name": "delete_everything"}));
    let prompt = modern(1, "prompts/get", json!({"name": "secret"}));
    let older = ("MCP-Protocol-Version", "2025-11-25");
    for (body, headers) in [
        (&call, [VERSION, ("Mcp-Method", "tools/list"), ("Mcp-Name", "delete_everything")]),
        (&call, [VERSION, ("Mcp-Method", "tools/call"), ("Mcp-Name", "read_something")]),
        (&prompt, [VERSION, ("Mcp-Method", "prompts/get"), ("Mcp-Name", "Secret")]),
        (&call, [older, ("Mcp-Method", "tools/call"), ("Mcp-Name", "delete_everything")]),
    ] {
        let (status, answer) = server.exchange("POST", &headers, body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32020)), "{headers:?}");
    }
    assert!(server.heard.try_recv().is_err(), "none was served");
}

/// A request whose id is in flight is dropped without a word.
#[tokio::test]
async fn python_sdk_2655_equal_ids_in_flight() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let mut first = client.call(&request(5, "wait", json!({}))).await;
    first.next().await.unwrap();
    for _ in 0..2 {
        assert_eq!(client.post(&request(5, "wait", json!({}))).await.0, 400, "said, and not dropped");
    }
    client.post(&notification("finish")).await;
    assert_eq!(first.rest().await.pop().unwrap().json()["result"], "late");
    // Modern requests have nothing to do with each other.
    let calls = (0..3).map(|_| server.exchange("POST", &[VERSION, ("Mcp-Method", "echo")], ECHO));
    assert!(join_all(calls).await.iter().all(|(status, _)| *status == 200));
}

const ECHO: &str = r#"{"jsonrpc":"2.0","id":5,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

/// Values within values within values, up to the end of the stack.
#[tokio::test]
async fn json_nesting() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client: Client<'_> = server.open("2025-03-26").await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    let modern = [VERSION, ("Mcp-Method", "tools/call"), ("Mcp-Name", "x")];
    for nested in [&deep, &objects] {
        for body in [
            nested.clone(),
            format!(r#"{{"jsonrpc":"2.0","id":{nested},"method":"x"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"nothing","params":{{"x":{nested}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"nothing","params":{{"_meta":{nested}}}}}"#),
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{nested}}}}}"#
            ),
            format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"nothing","params":{{"x":{nested}}}}}]"#),
        ] {
            let (session, _) = client.post(&body).await;
            let (alone, _) = server.exchange("POST", &modern, &body).await;
            assert!(matches!(session, 200 | 202 | 400) && alone == 400, "{session} {alone} {body:.60}");
        }
    }
    let (status, _) = server.exchange("POST", &[], &initialize("2025-11-25")).await;
    assert_eq!(status, 200);
}
