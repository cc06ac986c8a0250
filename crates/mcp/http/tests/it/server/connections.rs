//! Connections of a silent client, beside those of one that sends requests.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use agentwire_transport_http::server::{Endpoint, EndpointConfig, ServeWarning, serve};
use futures::channel::mpsc;

use super::raw::Raw;
use super::script::{Server, initialize, serve_connection};
use crate::connections::Inline;

/// Set where this test is the server, in a process with few descriptors.
const FEW: &str = "AGENTWIRE_FEW_DESCRIPTORS";

async fn is_served(address: u8, port: u16) {
    let mut polite = Raw::mcp_from(address, port).await;
    let (head, _) = polite.exchange("POST", &[], &initialize("2025-11-25")).await;
    assert_eq!(head.status, 200);
}

/// Halves of heads, until so many connections have them.
async fn half_heads(port: u16, connections: usize) -> Vec<Raw> {
    let mut halves = Vec::new();
    for _ in 0..connections {
        let mut half = Raw::mcp(port).await;
        // It may have been closed already.
        let _ =
            tokio::io::AsyncWriteExt::write_all(&mut half.stream, b"POST /mcp HTTP/1.1\r\nHost: local").await;
        halves.push(half);
    }
    halves
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn incomplete_heads_lock_no_other_client_out() {
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.connection_limit(40)).await;
    let mut hostile = half_heads(server.port, 200).await;
    is_served(2, server.port).await;
    // The one from the same address is served too, in place of one that waits.
    is_served(1, server.port).await;
    assert_eq!(hostile[0].read().await, 0);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn bodies_that_do_not_come_take_no_more_than_a_share_of_the_connections() {
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.connection_limit(40)).await;
    let mut hostile = Vec::new();
    for _ in 0..100 {
        let mut slow = Raw::mcp(server.port).await;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n",
            server.port
        );
        let _ = tokio::io::AsyncWriteExt::write_all(&mut slow.stream, head.as_bytes()).await;
        // So that it is in use before the next comes, or closed.
        let _ = tokio::time::timeout(Duration::from_millis(5), slow.stream.readable()).await;
        hostile.push(slow);
    }
    for _ in 0..9 {
        is_served(2, server.port).await;
    }
}

/// With fewer descriptors than connections are allowed, a client that takes them all would lock out even the server itself.
#[cfg(target_os = "linux")]
#[allow(
    clippy::print_stdout,
    reason = "it is a program of its own there, and its parent reads what it prints"
)]
#[tokio::test]
async fn connections_are_fitted_to_the_descriptors() {
    if std::env::var_os(FEW).is_some() {
        let endpoint = Endpoint::serving(
            EndpointConfig::new(),
            Inline(|connection| serve_connection(connection, mpsc::unbounded().0)),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let say = |what: &str| writeln!(std::io::stdout(), "\n{what}").unwrap();
        say(&format!("port {}", listener.local_addr().unwrap().port()));
        let told = move |warning: ServeWarning| say(&format!("warning {warning}"));
        return serve(listener, endpoint).on_warning(told).await;
    }
    let name = "server::connections::connections_are_fitted_to_the_descriptors";
    let program = std::env::current_exe().unwrap();
    let script = "ulimit -n 128 && exec \"$0\" \"$@\"";
    let mut server = Command::new("sh");
    let server =
        server.args(["-c", script]).arg(program).args(["--exact", name, "--nocapture"]).env(FEW, "1");
    let mut server = server.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut said =
        |what: &str| lines.find_map(|line| Some(line.ok()?.strip_prefix(what)?.to_owned())).unwrap();
    let port = said("port ").parse().unwrap();
    let warning = said("warning ");
    assert!(warning.starts_with("at most 96 connections"), "{warning}");
    let hostile = half_heads(port, 300).await;
    is_served(2, port).await;
    is_served(1, port).await;
    drop(hostile);
    server.kill().unwrap();
    server.wait().unwrap();
}
