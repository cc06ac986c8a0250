//! Clients that go wrong, under `agentwire agent` and `agentwire server`: the test is the client.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binaries::agentwire;
use crate::conversation::Conversation;
use crate::program::{Ended, PROMPT, Program, SOON};
use crate::rows;

/// Text that cannot be read, and the answer's code: one that is not JSON, one that is not JSON-RPC.
const GARBAGE: [(&[u8], i64); 5] = [
    (b"hello?\n", -32700),
    (b"\xff\xfe\x00\n", -32700),
    (b"{\"jsonrpc\":\"2.0\",\"id\":\n", -32700),
    (b"{\"id\":77,\"method\":5}\n", -32600),
    (b"[]\n", -32600),
];

/// A session with two servers, one of which is not easily ended, and something that it is busy with.
fn busy_agent(prompt: &str, update: &str) -> (Conversation, String, u64) {
    let mut agent = Conversation::with_agent();
    let ours = agentwire().to_str().expect("it is UTF-8");
    let peer = json!([env!("CARGO_BIN_EXE_scripted_peer"), "server", "stubborn"]);
    let session = agent.open(&[("demo", json!([ours, "server"])), ("other", peer)]);
    let turn = agent.prompt(&session, prompt);
    agent.program.stdout.words(update);
    (agent, session, turn)
}

/// The work of a busy agent, and the sign of it.
const BUSY: [(&str, &str); 5] = [
    ("/slow 600", "This takes 600 s."),
    ("/call slow {\"seconds\": 600, \"steps\": 6000}", "step 1 of 6000"),
    ("/read /etc/hostname", "session/request_permission"),
    ("/tools", "end_turn"),
    ("/burst 1000000000", "99 "),
];

#[test]
fn an_agent_ends_with_its_client() {
    rows::for_each(&BUSY, |(prompt, update)| {
        let (mut agent, ..) = busy_agent(prompt, update);
        agent.program.close_stdin();
        agent.program.end(PROMPT).exits(0);
    });
}

#[test]
fn an_agent_ends_after_its_client_is_killed() {
    rows::for_each(&BUSY, |(prompt, update)| {
        let (mut agent, ..) = busy_agent(prompt, update);
        // All that a killed client leaves behind is the ends of pipes, closed.
        agent.program.close_stdout();
        agent.program.close_stdin();
        agent.program.end(PROMPT);
    });
}

/// Its stdin is open, but its stdout has no reader.
#[test]
fn an_agent_with_a_closed_stdout_ends() {
    let (mut agent, ..) = busy_agent("/burst 1000000000", "99 ");
    agent.program.close_stdout();
    agent.program.end(PROMPT).exits(1).reports("error: ");
}

#[test]
fn a_client_may_leave_at_any_moment() {
    let hello = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":";
    let rows = [
        ("agent", ""),
        ("agent", "\n"),
        ("agent", hello),
        ("agent", "1}}\n"),
        ("server", ""),
        ("server", "\n"),
        ("server", hello),
        (
            "server",
            "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n",
        ),
    ];
    rows::for_each(&rows, |(command, said)| {
        let mut program = Program::start(&[command]);
        if said.ends_with("}\n") {
            program.write(hello.as_bytes());
        }
        program.write(said.as_bytes());
        program.close_stdin();
        let ended = program.end(PROMPT);
        ended.exits(0);
        for message in ended.objects() {
            assert!(said.ends_with("}\n") || message.get("error").is_some(), "{message}");
        }
    });
}

#[test]
fn garbage_is_answered_and_passed_over() {
    for mut peer in [Conversation::with_agent(), Conversation::with_server()] {
        for (number, (garbage, code)) in GARBAGE.iter().enumerate() {
            peer.program.write(garbage);
            let errors = |bytes: &[u8]| -> Vec<Value> {
                let lines = bytes.split(|byte| *byte == b'\n');
                let messages = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
                messages.filter(|message| message.get("error").is_some()).collect()
            };
            let error = peer.program.stdout.until("an error", |bytes| errors(bytes).get(number).cloned());
            assert_eq!(error["error"]["code"], *code, "{error}");
        }
        peer.program.close_stdin();
        peer.program.end(PROMPT).exits(0);
    }
}

#[test]
fn a_question_that_is_never_answered_ends_with_the_turn() {
    let (mut agent, session, turn) = busy_agent("/read /etc/hostname", "session/request_permission");
    agent.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }));
    assert_eq!(agent.answer(turn)["result"]["stopReason"], "cancelled");
    // The session is as good as before.
    assert!(agent.turn(&session, "/call add {\"a\": 1, \"b\": 2}").contains("\"completed\""));
    agent.program.close_stdin();
    agent.program.end(PROMPT).exits(0);
}

#[test]
fn a_cancelled_turn_cancels_the_call_to_its_server() {
    let (mut agent, session, turn) = busy_agent(BUSY[1].0, BUSY[1].1);
    agent.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }));
    assert_eq!(agent.answer(turn)["result"]["stopReason"], "cancelled");
    // The server has the cancellation; it may take up the next call before it lets go of this one.
    let deadline = Instant::now() + SOON;
    while !agent.turn(&session, "/call cancelled-count").contains("\"text\":\"1\"") {
        assert!(Instant::now() < deadline, "the call goes on: {}", agent.program.stdout.text());
    }
    agent.program.close_stdin();
    agent.program.end(PROMPT).exits(0);
}

/// A client that stops reading holds the agent back; it must neither be given up nor fill the memory.
#[test]
fn a_client_that_does_not_read_costs_no_memory() {
    let mut agent = Conversation::with_agent();
    let session = agent.open(&[]);
    agent.program.stdout.pause();
    agent.prompt(&session, "/burst 1000000000");
    std::thread::sleep(Duration::from_secs(1));
    let peak = agent.program.peak_memory().expect("it runs");
    assert!(peak < 64, "{peak} MiB");
    agent.program.close_stdin();
    agent.program.stdout.resume();
    agent.program.end(PROMPT).exits(0);
}

#[test]
fn a_server_ends_with_its_client() {
    let calls =
        [("slow", json!({ "seconds": 600, "steps": 60000 })), ("burst", json!({ "n": 4_000_000_000_u32 }))];
    rows::for_each(&calls, |(tool, arguments)| {
        let leave = [Program::close_stdin as fn(&mut Program), |program| {
            program.close_stdout();
            program.close_stdin();
        }];
        for leave in leave {
            let mut server = Conversation::with_server();
            let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 1 } });
            server.request("tools/call", params);
            server.program.stdout.words("notifications/progress");
            leave(&mut server.program);
            let ended: Ended = server.program.end(PROMPT);
            assert!(ended.code().is_some(), "{ended}");
        }
    });
}
