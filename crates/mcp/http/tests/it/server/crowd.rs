//! Many sessions at once: what they cost, and that it is given back.

use std::time::Duration;

use agentwire_transport::Packet;
use agentwire_transport_http::server::{AnswerForm, EndpointConfig};
use futures::{FutureExt, SinkExt, StreamExt};
use http::StatusCode;
use serde_json::json;

use super::script::{initialize, notification};
use super::time::call;
use crate::connections::{Connection, endpoint};

const CROWD: usize = 10_000;

/// Set where this test has a process to itself.
const ALONE: &str = "AGENTWIRE_CROWD_ALONE";

/// The memory of this process that is not shared with others, in bytes. It is that of the other tests in it as well.
#[cfg(target_os = "linux")]
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_idle_session_is_small_and_goes_without_a_trace() {
    if std::env::var_os(ALONE).is_none() {
        let name = "server::crowd::an_idle_session_is_small_and_goes_without_a_trace";
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = alone.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        let failed = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && said.contains("1 passed"), "{said}{failed}");
        return;
    }
    let config = EndpointConfig::new().session_limit(CROWD).legacy_answer(AnswerForm::Json);
    let (mut endpoint, mut connections) = endpoint(config.idle(Duration::from_secs(3600)));
    let mut after_first = 0;
    for round in 0..4 {
        let before = resident();
        let mut crowd: Vec<(String, Connection)> = Vec::new();
        for _ in 0..CROWD {
            let mut answering = Box::pin(call(&mut endpoint, "POST", &[], &initialize("2025-11-25")));
            assert!(answering.as_mut().now_or_never().is_none());
            let mut connection = connections.next().await.unwrap();
            connection.next().await.unwrap().unwrap();
            let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
            connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
            let response = answering.await;
            let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
            // One that is not used would give way to the one that is too many.
            let headers = [("mcp-session-id", session.as_str())];
            let used = call(&mut endpoint, "POST", &headers, &notification("x")).await;
            assert_eq!(used.status(), StatusCode::ACCEPTED);
            connection.next().await.unwrap().unwrap();
            crowd.push((session, connection));
        }
        let one_more = call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(one_more.status(), StatusCode::SERVICE_UNAVAILABLE);
        let each = resident().saturating_sub(before) / CROWD;
        assert!(each <= 6 << 10, "{each} bytes for each session");
        for (session, mut connection) in crowd {
            let headers = [("mcp-session-id", session.as_str())];
            let response = call(&mut endpoint, "DELETE", &headers, "").await;
            assert_eq!(response.status(), StatusCode::NO_CONTENT);
            assert!(connection.next().await.is_none());
        }
        if round == 0 {
            after_first = resident();
        }
    }
    let grown = resident().saturating_sub(after_first);
    assert!(grown < 20 << 20, "{grown} bytes more after three further crowds");
}
