//! A line of 256 MiB, eight times the limit, from any party to any other. It is refused with the limit's name, takes no more memory
//! than a line that is taken, and what follows is read as if nothing had happened.

use std::time::Duration;

use serde_json::{Value, json};

use crate::binaries::scripted;
use crate::conversation::Conversation;
use crate::program::{Program, SOON};

/// Two programs move the line through a pipe, without optimization, on a machine that does other things too.
const A_WHILE: Duration = Duration::from_secs(40);

/// In MiB. A line may have 32.
const MAX_MEMORY: u64 = 100;

/// The limit that refuses a line.
const LIMIT: &str = "limit of 33554432 bytes";

#[test]
fn from_an_agent() {
    let rows: [(&str, i32, &str); 3] = [
        ("long-line", 0, "warning: a message of the agent is lost"),
        ("long-answer", 1, LIMIT),
        ("long-end", 1, "scripted: I have had enough"),
    ];
    for (fault, code, words) in rows {
        let ended =
            Program::run(&["chat", "--agent", &scripted(&format!("agent turn {fault}")), "hi"], A_WHILE);
        ended.exits(code).reports(words).prints(if code == 0 { "working done" } else { "working" });
        assert!(ended.peak_memory < MAX_MEMORY, "{} MiB", ended.peak_memory);
    }
}

#[test]
fn from_a_client_to_an_agent() {
    let mut agent = Conversation::with_agent();
    let session = agent.open(&[]);
    send_long_line(&mut agent);
    assert!(agent.turn(&session, "still there?").contains("still there?"));
    leave(agent);
}

#[test]
fn from_a_client_to_a_server() {
    let mut server = Conversation::with_server();
    send_long_line(&mut server);
    let answer =
        server.ask("tools/call", json!({ "name": "echo", "arguments": { "message": "still here" } }));
    assert_eq!(answer["result"]["content"][0]["text"], "still here", "{answer}");
    leave(server);
}

#[test]
fn from_a_server_to_an_agent() {
    // With the default time-out: the line takes longer than that of other tests.
    let mut agent = Conversation::with(&["agent"]);
    agent.ask("initialize", json!({ "protocolVersion": 1 }));
    let bad = json!([env!("CARGO_BIN_EXE_scripted_peer"), "server", "turn", "long-line"]);
    let session = agent.open(&[("bad", bad)]);
    let told = agent.turn(&session, "/call ping");
    assert!(told.contains("\"completed\"") && told.contains("pong"), "{told}");
    leave(agent);
}

/// A request in one line. Its id stands where it can still be read, so the error bears it.
fn send_long_line(peer: &mut Conversation) {
    let piece = [b'x'; 64 << 10];
    peer.program.write(b"{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"method\":\"ping\",\"params\":{\"pad\":\"");
    for _ in 0..(256 << 20) / piece.len() {
        assert!(peer.program.write(&piece), "it is read to its end");
    }
    peer.program.write(b"\"}}\n");
    let error = peer.receive("an error", |message: &Value| message["id"] == "long");
    assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains(LIMIT)), "{error}");
}

fn leave(mut peer: Conversation) {
    peer.program.close_stdin();
    let ended = peer.program.end(SOON);
    ended.exits(0);
    assert!(ended.peak_memory < MAX_MEMORY, "{} MiB", ended.peak_memory);
}
