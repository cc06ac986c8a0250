//! The messages of `agentwire server` to the person who starts it: its wait, its questions, the access of other machines.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use agentwire_test_support::http;
use rustix::process::Signal;

use crate::binaries::agentwire;
use crate::program::{PROMPT, Program, SOON};
use crate::rows;
use crate::terminal::Terminal;

/// Waits until a server prints its address, and returns the origin.
fn origin(program: &Program) -> String {
    program.stderr.until("where it listens", |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (line, _) = text.split_once('\n')?;
        Some(line.strip_prefix("listening on ")?.strip_suffix("/mcp")?.to_owned())
    })
}

fn start(arguments: &[&str]) -> (Program, String) {
    let mut program = Program::start(&[&["server"], arguments].concat());
    program.close_stdin();
    let origin = origin(&program);
    (program, origin)
}

/// A call that has begun to run: its first step is reported.
fn slow_call(origin: &str, seconds: f64) -> Program {
    let arguments = format!(r#"{{"seconds": {seconds}, "steps": 1000}}"#);
    let mut call = Program::start(&["call", "--json", &format!("{origin}/mcp"), "slow", &arguments]);
    call.close_stdin();
    call.stdout.words("\"progress\"");
    call
}

#[test]
fn a_program_at_a_terminal_explains_its_wait() {
    let rows = [
        (
            "server",
            "an MCP server on stdin and stdout; it waits for a client. See `agentwire tools --help`\n",
        ),
        ("agent", "an ACP agent on stdin and stdout; it waits for a client. See `agentwire chat --help`\n"),
    ];
    for (command, words) in rows {
        let terminal = Terminal::new();
        let [stdin, ..] = terminal.streams();
        let mut program = Command::new(agentwire());
        program.arg(command).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().expect("it starts");
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().expect("it is a pipe"));
        stderr.read_line(&mut line).expect("it is UTF-8");
        assert_eq!(line, words);
        child.kill().expect("it waits");
        child.wait().expect("it is our child");
    }
    // A client's log need not have it.
    for command in ["server", "agent"] {
        assert_eq!(Program::run(&[command], SOON).exits(0).stderr, "");
    }
}

#[test]
fn a_port_alone_is_one_of_this_machine() {
    for option in ["--http", "--sse"] {
        let mut program = Program::start(&["server", option, "0"]);
        program.close_stdin();
        program.stderr.words("listening on http://127.0.0.1:");
        program.signal(Signal::TERM);
        program.end(SOON).exits(143);
    }
    Program::run(&["server", "--http", "65536"], SOON).exits(2).reports("write HOST:PORT or PORT");
}

#[test]
fn each_request_and_notification_is_logged() {
    let (server, origin) = start(&["--http", "0", "--log"]);
    let call = |era: &str, tool: &str, code| {
        Program::run(&["call", "--era", era, &format!("{origin}/mcp"), tool], SOON).exits(code).took
    };
    call("modern", "cancelled-count", 0);
    call("legacy", "fail", 5);
    server.signal(Signal::TERM);
    let ended = server.end(SOON);
    ended.exits(143);
    // Without the time before, and the duration behind.
    let logged = |line: &str| {
        let (time, line) = line.split_once(' ')?;
        let is_time = time.len() == "2026-01-31T12:00:00.000Z".len() && time.ends_with('Z');
        let words = match line.strip_suffix(" ms") {
            Some(line) => line.rsplit_once(' ').map_or(line, |(words, _)| words),
            None => line,
        };
        is_time.then(|| words.to_owned())
    };
    let lines: Vec<_> = ended.stderr.lines().filter_map(logged).collect();
    let expected = [
        "server/discover ok",
        "tools/call ok",
        "initialize ok",
        "notifications/initialized notification",
        "tools/call tool error",
    ];
    // One for each request; that for the stream of a session may come before or behind others.
    let is_http = |line: &&String| line.contains(" /mcp ");
    let http = lines.iter().filter(is_http).filter(|line| *line == "POST /mcp 200").count();
    assert!(http >= 4, "{ended}");
    let lines: Vec<_> = lines.iter().filter(|line| *line != "tools/list ok" && !is_http(line)).collect();
    assert_eq!(lines, expected, "{ended}");
}

#[test]
fn a_request_that_is_refused_before_the_server_is_logged() {
    let (server, origin) = start(&["--http", "0", "--log"]);
    let address = origin.strip_prefix("http://").expect("a URL");
    let post = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let rows = [
        ("GET /mcp?key=secret", "evil.example", "", "", "GET /mcp 403 "),
        ("PUT /mcp", address, "", "", "PUT /mcp 405 "),
        ("POST /mcp", address, post, "{", "POST /mcp 400 "),
    ];
    for (line, host, headers, body, expected) in rows {
        let head = format!("{line}\r\nHost: {host}\r\n{headers}");
        http::exchange(&origin, &head, body).expect("it answers");
        server.stderr.words(expected);
    }
    server.signal(Signal::TERM);
    let ended = server.end(SOON);
    assert!(!ended.exits(143).stderr.contains("secret"), "{ended}");
}

/// On stdio, too, and without what steers a terminal.
#[test]
fn a_log_steers_no_terminal() {
    let mut server = Program::start(&["server", "--log"]);
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\u001b[2Jno\\nsuch\"}\n";
    assert!(server.write(request.as_bytes()));
    server.stderr.words("error -32");
    server.close_stdin();
    let ended = server.end(SOON);
    ended.exits(0).reports("^[[2Jno");
    assert!(!ended.stderr.contains('\u{1b}'), "{ended}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended}");
}

#[test]
fn the_first_interrupt_waits_for_calls_and_the_second_ends_now() {
    let (server, origin) = start(&["--http", "0"]);
    let calls = [slow_call(&origin, 3600.0), slow_call(&origin, 3600.0)];
    server.signal(Signal::INT);
    server.stderr.words("waiting for 2 calls, ^C again ends now\n");
    server.signal(Signal::INT);
    server.end(PROMPT).exits(130);
    for call in calls {
        assert_ne!(call.end(SOON).code(), Some(0));
    }
}

#[test]
fn a_call_that_is_waited_for_has_its_answer() {
    let (server, origin) = start(&["--http", "0"]);
    let call = slow_call(&origin, 3.0);
    server.signal(Signal::INT);
    server.stderr.words("waiting for 1 call, ^C again ends now\n");
    call.end(SOON).exits(0).prints("took 3 s");
    server.end(SOON).exits(130);
}

#[test]
fn a_server_that_other_machines_reach_warns() {
    let mut server = Program::start(&["server", "--http", "0.0.0.0:0"]);
    server.close_stdin();
    server
        .stderr
        .words(", and call its tools: --issuer asks for tokens, 127.0.0.1 keeps it to this machine\n");
    server.signal(Signal::TERM);
    let ended = server.end(SOON);
    ended.exits(143).reports("\nwarning: other machines can reach 0.0.0.0:");
    let (server, _) = start(&["--http", "127.0.0.1:0"]);
    server.signal(Signal::TERM);
    let ended = server.end(SOON);
    assert!(!ended.stderr.contains("warning"), "{ended}");
}

#[test]
fn the_folders_of_a_client_are_listed_in_every_revision() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().canonicalize().expect("it is there");
    let path = path.to_str().expect("UTF-8");
    let server = format!("'{}' server", agentwire().display());
    rows::for_each(&["legacy", "modern", "auto"], |era| {
        let ended = Program::run(&["call", "--era", era, "--root", path, &server, "roots"], SOON);
        ended.exits(0).prints(&format!("file://{path}"));
        let ended = Program::run(&["call", "--era", era, &server, "roots"], SOON);
        ended.exits(5);
    });
    Program::run(&["call", "--root", "/no/such/folder", &server, "roots"], SOON).exits(2);
}
