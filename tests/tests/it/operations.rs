//! `server --metrics`: the pages for those who run a server, and its end.

use std::thread;
use std::time::{Duration, Instant};

use agentwire_test_support::http;

use crate::network::Server;
use crate::program::{Program, SOON};

/// The time between the announcement of a server's end and its first refusal, as an argument of `--drain` below.
const DRAIN: Duration = Duration::from_secs(8);

/// The status and the body of a page. `head` has more lines of the request's head.
pub(crate) fn page(origin: &str, request: &str, head: &str) -> (u16, String) {
    let answer = http::exchange(origin, &format!("{request}\r\n{head}"), "").expect("it answers");
    (answer.status(), answer.text().into_owned())
}

/// The line of the metric of readiness.
pub(crate) fn ready(value: u8) -> String {
    format!("agentwire_ready{{agentwire_component=\"http\"}} {value}\n")
}

#[test]
fn pages_show_metrics_and_readiness_to_this_machine_alone() {
    let server = Server::start_with(&["--metrics", "127.0.0.1:0"]);
    let pages = server.metrics();
    assert_eq!(page(&pages, "GET /livez", ""), (200, "alive\n".into()));
    assert_eq!(page(&pages, "GET /readyz", ""), (200, "ready\n".into()));
    let url = format!("{}/mcp", server.origin);
    Program::run(&["call", "--era", "legacy", &url, "echo", "message=hi"], SOON).exits(0);
    let (status, metrics) = page(&pages, "GET /metrics", "");
    let called = "mcp_server_operation_duration_seconds_count{gen_ai_operation_name=\"execute_tool\",\
         gen_ai_tool_name=\"echo\",mcp_method_name=\"tools/call\",mcp_protocol_version=\"2025-11-25\",\
         network_protocol_name=\"http\",network_transport=\"tcp\"} 1\n";
    assert!(status == 200 && metrics.contains(called), "{called} is not in {metrics}");
    assert!(metrics.contains("agentwire_sessions_active{agentwire_component=\"http\"} "), "{metrics}");
    assert!(metrics.contains(&ready(1)), "{metrics}");

    assert_eq!(page(&pages, "GET /metrics", "Host: evil.example").0, 403);
    assert_eq!(page(&pages, "GET /readyz", "Host: localhost\r\nOrigin: http://evil.example").0, 403);
    assert_eq!(page(&pages, "POST /metrics", "").0, 405);
    assert_eq!(page(&pages, "GET /mcp", "").0, 404);
    server.end();
}

#[test]
fn readiness_fails_before_requests_are_refused() {
    let server = Server::start_with(&["--metrics", "127.0.0.1:0", "--drain", "8"]);
    let (pages, url) = (server.metrics(), format!("{}/mcp", server.origin));
    let call = || Program::run(&["call", &url, "echo", "message=hi"], SOON);
    call().exits(0);
    let begin = Instant::now();
    server.terminate();
    while page(&pages, "GET /readyz", "") != (503, "the server is about to end\n".into()) {
        assert!(begin.elapsed() < DRAIN, "it is still ready");
        thread::sleep(Duration::from_millis(10));
    }
    // All of it is seen within the time of the delay, which is long enough to start a program on a busy machine.
    let (_, metrics) = page(&pages, "GET /metrics", "");
    assert!(metrics.contains(&ready(0)), "{metrics}");
    assert_eq!(page(&pages, "GET /livez", ""), (200, "alive\n".into()));
    call().exits(0);
    server.wait();
    assert!(begin.elapsed() >= DRAIN, "{:?}", begin.elapsed());
}

#[test]
fn pages_belong_to_a_server_on_the_network() {
    let ended = Program::run(&["server", "--metrics", "127.0.0.1:0"], SOON);
    ended.exits(2).reports("--http");
}
