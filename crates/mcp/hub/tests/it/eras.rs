//! Detection of the revisions that a process supports.

use std::time::Duration;

use agentwire_mcp_client::{BoxError, Client, Era, HandshakeError};
use agentwire_mcp_hub::{ConnectOptions, Memory, ServerConfig, Target, connect_to};

use crate::script::{check_received, received, receiving_processes, server, shell};

/// Answers `server/discover` and what comes after it, and nothing else.
const MODERN: &str = r#"
    *'"server/discover"'*) answer '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}' ;;
    *'"tools/list"'*) answer '{"resultType":"complete","tools":[{"name":"ping","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}' ;;
    *'"tools/call"'*) answer '{"resultType":"complete","content":[{"type":"text","text":"done"}]}' ;;
    *'"initialize"'*) refuse -32022 ;;"#;

/// A server with sessions that answers `server/discover` with this.
fn legacy(says: &str) -> String {
    format!("*'\"server/discover\"'*) {says} ;;")
}

async fn call(cases: &str, options: &ConnectOptions) -> Result<String, BoxError> {
    call_in(Era::Auto, cases, options).await
}

async fn call_in(era: Era, cases: &str, options: &ConnectOptions) -> Result<String, BoxError> {
    // A server that answers may take as long as a busy machine makes it.
    let limit = if cases == legacy("") { Duration::from_millis(500) } else { Duration::from_secs(20) };
    let client =
        Client::new("test", "1").discover_timeout(limit).handshake_timeout(Duration::from_secs(20)).era(era);
    Ok(connect_to(&server("s", "ping", cases).target, options, client, async |server| {
        assert_eq!(server.tools().collect().await?[0].name, "ping");
        let result = server.call_tool("ping", ()).await?;
        Ok(format!("{} {}", server.revision(), result.text()))
    })
    .await?)
}

#[tokio::test]
async fn newest_revision_of_every_process_is_used() {
    let rows = [
        (MODERN.to_owned(), "2026-07-28 done", vec!["server/discover"]),
        (legacy("refuse -32601"), "2025-11-25 done by s", vec!["server/discover", "initialize"]),
        (legacy("refuse -32602"), "2025-11-25 done by s", vec!["server/discover", "initialize"]),
        (legacy("refuse 0"), "2025-11-25 done by s", vec!["server/discover", "initialize"]),
        (legacy(""), "2025-11-25 done by s", vec!["server/discover", "initialize"]),
        (legacy("exit 1"), "2025-11-25 done by s", vec!["server/discover", "initialize"]),
    ];
    for (cases, expected, tried) in rows {
        let before = received().len();
        let outcome = call(&cases, &ConnectOptions::new()).await;
        assert_eq!(outcome.as_deref().ok(), Some(expected), "{cases}: {outcome:?}");
        assert_eq!(received()[before..][..tried.len()], tried, "{cases}");
        check_received();
    }
}

#[tokio::test]
async fn a_process_that_ends_after_it_has_answered_is_not_started_again() {
    let cases = "*'\"initialize\"'*) echo enough >&2; exit 3 ;;";
    let error = call(cases, &ConnectOptions::new()).await.unwrap_err();
    assert!(error.is::<HandshakeError>() && error.to_string().contains("enough"), "{error:?}");
    assert_eq!(received(), ["server/discover", "initialize"]);
}

#[tokio::test]
async fn a_process_that_never_answers_the_probe_is_asked_once() {
    let options = ConnectOptions::new().memory(Memory::new());
    for tried in [vec!["server/discover", "initialize"], vec!["initialize"], vec!["initialize"]] {
        let before = received().len();
        call(&legacy(""), &options).await.unwrap();
        assert_eq!(received()[before..][..tried.len()], tried);
    }
}

#[tokio::test]
async fn era_of_the_client_limits_the_attempts() {
    let error = call_in(Era::Legacy, MODERN, &ConnectOptions::new()).await.unwrap_err();
    assert!(error.to_string().starts_with("initialize: refused"), "{error}");
    let error = call_in(Era::Modern, &legacy("refuse -32601"), &ConnectOptions::new()).await.unwrap_err();
    assert!(error.to_string().starts_with("server/discover: refused"), "{error}");
    assert!(error.is::<HandshakeError>(), "there was nothing else to try: {error:?}");
}

/// A server that reads nothing for a while, as one does that npx installs first.
fn slow(cases: &str) -> ServerConfig {
    let ServerConfig { target: Target::Stdio(command), .. } = server("s", "ping", cases) else {
        panic!("it is a process");
    };
    let program = command.arguments()[1].to_str().unwrap();
    shell("s", &format!("sleep 1.5; {program}"))
}

#[tokio::test]
async fn late_answer_of_a_slow_process_counts_and_it_is_started_once() {
    let named =
        r#"{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}"#;
    let refusal = format!("printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":%s}}\\n' \"$id\" '{named}'");
    let rows = [
        (MODERN.to_owned(), "2026-07-28 done"),
        // Names the versions that it speaks.
        (MODERN.replace("refuse -32022", &refusal), "2026-07-28 done"),
        (legacy("refuse -32601"), "2025-11-25 done by s"),
        (legacy(""), "2025-11-25 done by s"),
    ];
    for (cases, expected) in rows {
        let before = receiving_processes();
        let client = Client::new("test", "1")
            .discover_timeout(Duration::from_millis(300))
            .handshake_timeout(Duration::from_secs(20));
        let (target, options) = (slow(&cases).target, ConnectOptions::new());
        let outcome = connect_to(&target, &options, client, async |server| {
            let result = server.call_tool("ping", ()).await?;
            Ok(format!("{} {}", server.revision(), result.text()))
        })
        .await;
        assert_eq!(outcome.as_deref().ok(), Some(expected), "{cases}: {outcome:?}");
        assert_eq!(receiving_processes() - before, 1, "{cases}");
        check_received();
    }
}
