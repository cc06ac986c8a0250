//! Recordings: what passes is not changed, replays find what differs, secrets do not reach the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agentwire_test_support::http;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binaries::agentwire;
use crate::network::Server;
use crate::program::{Ended, Program, SOON};

/// The runs of a replay before `reduce` is interrupted.
const RUNS: usize = 6;

const SECRET: &str = "planted-s3cret-value";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }
}

fn ours() -> String {
    agentwire().to_str().expect("UTF-8").to_owned()
}

fn run(arguments: &[&str]) -> Ended {
    Program::run(arguments, SOON)
}

/// A command line that stands between a client and our server, and records in a file.
fn recorder_of_server(file: &str) -> String {
    format!("'{0}' record --record '{file}' -- '{0}' server", ours())
}

fn events(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the recording");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// Records a conversation of `tools` with our server.
fn recorded_tools(folder: &Folder) -> String {
    let file = folder.text("tools.jsonl");
    run(&["tools", &recorder_of_server(&file)]).exits(0).prints("echo(message: string)");
    file
}

#[test]
fn both_sides_of_a_recording_are_played_without_a_difference() {
    let folder = Folder::new();
    let file = recorded_tools(&folder);
    let all = events(Path::new(&file));
    assert_eq!(
        (&all[0]["recording"], &all[0]["protocol"], &all[0]["transport"]),
        (&json!(1), &json!("mcp"), &json!("stdio"))
    );
    assert_eq!(all.last().expect("events")["exit"], json!({"code": 0}));
    assert!(all[1..].iter().all(|event| event["at"].is_number()));

    let ours = ours();
    assert_eq!(run(&["replay", &file, "--", &ours, "server"]).exits(0).stdout, "");
    let played = format!("'{ours}' replay '{file}' --as server");
    run(&["tools", &played]).exits(0).prints("echo(message: string)");
    // The other recordings of the same conversation, of either side, are as good.
    for (side, arguments) in [
        ("client", vec!["tools", &played, "--record"]),
        ("server", vec!["tools", &recorder_of_server(&file), "--record"]),
    ] {
        let own = folder.text(side);
        run(&[arguments, vec![&own]].concat()).exits(0);
        run(&["replay", &own, "--realtime", "--", &ours, "server"]).exits(0);
    }
}

#[test]
fn a_member_that_differs_is_named() {
    let folder = Folder::new();
    let file = recorded_tools(&folder);
    let text = fs::read_to_string(&file)
        .expect("the recording")
        .replace("Give the message back", "Say it\\u001b[2J");
    fs::write(&file, text).expect("there is room");
    let ours = ours();
    let ended = run(&["replay", &file, "--", &ours, "server"]);
    let pointer = "/result/tools/0/description";
    ended.exits(1).reports("1 difference").prints(&format!("tools/list {pointer}: recorded \"Say it"));
    assert!(
        ended.stdout.contains("seen \"Give the message back\"") && !ended.stdout.contains('\u{1b}'),
        "{ended}"
    );
    let objects = run(&["replay", &file, "--json", "--", &ours, "server"]).exits(1).objects();
    assert_eq!(objects.len(), 1, "{objects:?}");
    assert_eq!(
        (&objects[0]["pointer"], &objects[0]["seen"]),
        (&json!(pointer), &json!("Give the message back"))
    );
    run(&["replay", &file, "--ignore", "/result/tools/*/description", "--", &ours, "server"]).exits(0);
}

#[test]
fn bytes_stderr_and_exit_codes_pass_unchanged() {
    let folder = Folder::new();
    let file = folder.text("bytes.jsonl");
    let script = "cat; printf 'to stderr\\n' >&2; exit 7";
    let mut program = Program::start(&["record", "--record", &file, "--", "/bin/sh", "-c", script]);
    let mut sent =
        b"\x1b[2J hostile\n{\"method\": \"tools/list\",  \"id\":1}\r\nnot JSON \xc3\xa9\n\n".to_vec();
    sent.extend(std::iter::repeat_n(b'x', 200_000));
    sent.extend(b"\nno end");
    assert!(program.write(&sent));
    program.close_stdin();
    let ended = program.end(SOON);
    assert_eq!(ended.stdout.as_bytes(), sent, "{}", ended.stdout.len());
    ended.exits(7).reports("to stderr");
    let text = fs::read_to_string(&file).expect("the recording");
    assert!(!text.contains('\u{1b}') && text.contains("\\u001b[2J hostile"));
    let all = events(Path::new(&file));
    assert!(all.iter().any(|event| event["stderr"] == "to stderr"));
    assert_eq!(all.last().expect("events")["exit"], json!({"code": 7}));
    let lines = |from: &str| {
        all.iter().filter(|event| event["from"] == from && event.get("closed").is_none()).count()
    };
    assert_eq!((lines("client"), lines("server")), (5, 7));

    run(&["record", "--record", &file, "--", "/bin/sh", "-c", "kill -9 $$"]).exits(128 + 9);
    run(&["record", "--record", &file, "--", "/no/such/program"])
        .exits(4)
        .reports("error: cannot start `/no/such/program`: there is no such command\n");
    run(&["record", "--record", "/no/such/folder/file", "--", "true"])
        .exits(2)
        .reports("error: --record /no/such/folder/file: No such file or directory");
}

#[test]
fn a_recording_of_thirty_messages_shrinks_to_the_one_that_differs() {
    let folder = Folder::new();
    let file = folder.text("calls.jsonl");
    let mut program = Program::start(&["record", "--record", &file, "--", &ours(), "server"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    for id in 0..15 {
        let params = json!({"name": "add", "arguments": {"a": id, "b": 1}, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        assert!(program.write(format!("{call}\n").as_bytes()));
    }
    program.stdout.until("all answers", |bytes| {
        (bytes.iter().filter(|byte| **byte == b'\n').count() == 15).then_some(())
    });
    program.close_stdin();
    program.end(SOON).exits(0);
    let text = fs::read_to_string(&file).expect("the recording");
    assert!(text.contains(r#""structuredContent":{"sum":8}"#), "{text}");
    let wrong = text.replace(r#""structuredContent":{"sum":8}"#, r#""structuredContent":{"sum":9}"#);
    fs::write(&file, wrong).expect("there is room");

    let (out, ours) = (folder.text("small.jsonl"), ours());
    let ended = run(&["reduce", &file, "--out", &out, "--", &ours, "server"]);
    ended
        .exits(0)
        .reports("30 messages became 2 in ")
        .reports("/result/structuredContent/sum: recorded 9, seen 8");
    let small = events(Path::new(&out));
    assert_eq!(small.iter().filter(|event| event.get("message").is_some()).count(), 2, "{small:?}");
    run(&["replay", &out, "--", &ours, "server"]).exits(1).prints("/result/structuredContent/sum");
    run(&["reduce", &file, "--runs", "2", "--", &ours, "server"])
        .exits(0)
        .reports("in 2 runs, which is the limit");
    let ended = run(&["reduce", &recorded_tools(&folder), "--", &ours, "server"]);
    ended.exits(1).reports("the replay has no difference");

    // A signal keeps what was found; the recording itself is never the result's file.
    run(&["reduce", &file, "--out", &file, "--", &ours, "server"]).exits(2).reports("would be lost");
    let runs = folder.text("runs");
    let slow = format!("echo >>'{runs}'; sleep 0.3; exec '{ours}' server");
    let program = Program::start(&["reduce", &file, "--out", &out, "--", "/bin/sh", "-c", &slow]);
    // Some of the runs have found something by then, and most are still to come.
    let begun = Instant::now();
    while std::fs::read(&runs).map_or(0, |lines| lines.len()) < RUNS {
        assert!(begun.elapsed() < SOON, "the runs do not begin");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    program.signal(Signal::INT);
    program.end(SOON).exits(130).reports("and then it was interrupted");
    let small = events(Path::new(&out)).len();
    assert!(small > 2 && small < events(Path::new(&file)).len(), "{small}");
}

#[test]
fn processes_of_a_program_end_with_it() {
    let folder = Folder::new();
    let file = recorded_tools(&folder);
    let left = folder.text("left");
    let script =
        format!("sleep 600 </dev/null >/dev/null 2>&1 & echo $! >>'{left}'; exec '{}' server", ours());
    let start = ["/bin/sh", "-c", &script];
    run(&[&["replay", &file, "--"], &start[..]].concat()).exits(0);
    run(&[&["record", "--record", &folder.text("x"), "--"], &start[..]].concat()).exits(0);
    let ids = fs::read_to_string(left).expect("the ids");
    assert_eq!(ids.lines().count(), 2, "{ids}");
    for id in ids.lines() {
        // A zombie has ended: only its exit status was not read yet.
        let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
    }
}

/// Starts a program that prints its address, and returns the URL.
fn listening(arguments: &[&str]) -> (Program, String) {
    let mut program = Program::start(arguments);
    program.close_stdin();
    let url = program.stderr.until("where it listens", |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (line, _) = text.split_once("listening on ")?.1.split_once('\n')?;
        Some(line.to_owned())
    });
    (program, url)
}

#[test]
fn servers_at_a_url_are_recorded_and_played() {
    let server = Server::start();
    let folder = Folder::new();
    for (path, era, transport) in
        [("/mcp", "modern", "http"), ("/mcp", "legacy", "http"), ("/sse", "legacy", "sse")]
    {
        let file = folder.text(&format!("{transport}-{era}.jsonl"));
        let target = format!("{}{path}", server.origin);
        let (proxy, url) = listening(&["record", "--record", &file, "--http", "127.0.0.1:0", "--", &target]);
        assert!(url.ends_with(path) && !url.contains(&server.origin), "{url}");
        let call = ["slow", "{\"seconds\": 0.05, \"steps\": 2}"];
        let called = run(&[&["call", &url, "--era", era, "--json"], &call[..]].concat());
        assert_eq!(called.exits(0).objects().len(), 3, "{called}");
        proxy.signal(Signal::TERM);
        proxy.end(SOON).exits(143);
        let all = events(Path::new(&file));
        assert!(all.iter().any(|event| event["http"]["status"] == 200), "{all:?}");
        let progress =
            all.iter().filter(|event| event["message"]["method"] == "notifications/progress").count();
        assert_eq!(progress, 2, "{all:?}");

        // The client against the server, and the server against a client.
        let target = format!("{}{path}", server.origin);
        let ended = run(&["replay", &file, "--url", &target]);
        assert_eq!(ended.exits(0).stdout, "");
        let (played, url) = listening(&["replay", &file, "--as", "server", "--http", "127.0.0.1:0"]);
        let called = run(&[&["call", &url, "--era", era, "--json"], &call[..]].concat());
        assert_eq!(called.exits(0).objects().len(), 3, "{called}");
        let ended = played.end(SOON);
        assert_eq!(ended.exits(0).stdout, "");
    }
    server.end();
}

#[test]
fn a_proxy_on_this_machine_refuses_other_names_for_it() {
    let folder = Folder::new();
    let server = Server::start();
    let (proxy, url) = listening(&[
        "record",
        "--record",
        &folder.text("x.jsonl"),
        "--http",
        "127.0.0.1:0",
        "--",
        &server.origin,
    ]);
    let answer = http::exchange(url.trim_end_matches('/'), "GET /mcp\r\nHost: evil.example", "");
    assert_eq!(answer.expect("it answers").status(), 403);
    proxy.signal(Signal::TERM);
    proxy.end(SOON).exits(143);
    server.end();
}

#[test]
fn no_planted_secret_is_in_a_recording() {
    let server = Server::start();
    let folder = Folder::new();
    let url = format!("{}/mcp", server.origin);
    let header = format!("Authorization: Bearer {SECRET}");
    let message =
        json!({"message": format!("before {SECRET} after"), "password": "other-planted"}).to_string();
    for era in ["legacy", "modern"] {
        let file = folder.text(era);
        let arguments =
            ["call", &url, "--era", era, "--header", &header, "--record", &file, "echo", &message];
        run(&arguments).exits(0).prints(SECRET);
        let text = fs::read_to_string(&file).expect("the recording");
        assert!(!text.contains("planted"), "{text}");
        assert!(text.contains("Bearer «secret 1»") && text.contains("before «secret 1» after"), "{text}");
    }
    let file = folder.text("chat");
    let servers = ["--mcp", &format!("web={url}"), "--header", &format!("web=X-Team: {SECRET}")];
    let prompt = format!("my words are {SECRET} and ticket-12345678");
    run(&[&["chat", "--record", &file, "--mask", "ticket-[0-9]+"], &servers[..], &[&prompt]].concat())
        .exits(0)
        .prints(SECRET);
    let text = fs::read_to_string(&file).expect("the recording");
    assert!(text.contains(r#""protocol":"acp""#) && text.contains("session/prompt"), "{text}");
    // The pieces of a streamed answer are texts of their own, so the echo is not looked at as a whole.
    assert!(!text.contains(SECRET) && !text.contains("ticket-12345678"), "{text}");
    let file = folder.text("all");
    run(&["call", &url, "--header", &header, "--no-mask", "--record", &file, "echo", &message]).exits(0);
    assert!(fs::read_to_string(&file).expect("the recording").contains(SECRET));
    server.end();
}

#[test]
fn our_agent_and_server_record_their_own_stdio() {
    let folder = Folder::new();
    for (command, protocol) in [("agent", "acp"), ("server", "mcp")] {
        let file = folder.text(command);
        let line = format!("'{}' {command} --record '{file}'", ours());
        match command {
            "agent" => run(&["chat", "--agent", &line, "hello"]).exits(0).prints("hello"),
            _ => run(&["tools", &line]).exits(0),
        };
        let all = events(Path::new(&file));
        assert_eq!(all[0]["protocol"], protocol);
        for from in ["client", command] {
            assert!(
                all.iter().any(|event| event["from"] == from && event.get("message").is_some()),
                "{all:?}"
            );
        }
        run(&["replay", &file, "--", &ours(), command]).exits(0);
    }
}

#[test]
fn a_full_disk_is_reported_once_and_changes_nothing() {
    let line = format!("'{}' server", ours());
    let ended = run(&["tools", &line, "--record", "/dev/full"]);
    ended.exits(0).prints("echo(message: string)").reports("warning: the recording stops: No space left");
    assert_eq!(ended.stderr.matches("recording").count(), 1, "{ended}");
}

#[test]
fn wrong_usage_is_refused() {
    let folder = Folder::new();
    let file = recorded_tools(&folder);
    let rows: &[(&[&str], &str)] = &[
        (&["login", "http://127.0.0.1:1/", "--record", &file], "this command passes no messages"),
        (&["record"], "CMD"),
        (&["record", "--http", "127.0.0.1:0", "--", "ftp://x"], "write a URL"),
        (&["replay", "/no/such/file"], "/no/such/file"),
        (&["replay", &file, "--as", "client", "--http", "127.0.0.1:0"], "only the server can be played"),
        (&["replay", &file, "--ignore", "x"], "begins with /"),
        (&["tools", "x", "--record", &file, "--mask", "("], "not a regular expression"),
    ];
    for (arguments, words) in rows {
        let mut program = Program::start_in(folder.0.path(), arguments);
        program.close_stdin();
        program.end(SOON).exits(2).reports(words);
    }
}

#[test]
fn recordings_of_other_programs_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    for entry in fs::read_dir(folder).expect("the transcripts") {
        let path = entry.expect("the transcripts").path();
        let ended = run(&["replay", path.to_str().expect("UTF-8"), "--timeout", "0.1", "--", "/bin/cat"]);
        // Everything differs, and nothing is unreadable.
        ended.exits(1).reports("differences").prints("is not recorded");
    }
}

#[test]
fn text_of_a_live_side_steers_no_terminal() {
    let folder = Folder::new();
    let file = recorded_tools(&folder);
    let script = "printf '\\033[2J\\n{\"method\":\"\\\\u001b[2J\"}\\n\\377\\n'; printf '\\033]0;x\\007\\n' >&2; head -c 40000000 /dev/zero";
    let ended = run(&["replay", &file, "--timeout", "5", "--", "/bin/sh", "-c", script]);
    ended.exits(1);
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains(['\u{1b}', '\u{7}']), "{ended}");
}
