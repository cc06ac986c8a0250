//! `check` and the programs that it starts: which tools it calls, how many run at a time, and what is left when it ends.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::Value;

use crate::program::{Ended, Program, SOON};

/// Some checks wait in vain for their time-out.
const RUN: Duration = Duration::from_secs(120);

/// How long a signal may take to end a run on a busy machine. On a quiet one it takes less than 2 s.
const SIGNAL: Duration = Duration::from_secs(20);

/// A server that writes the name of each tool that is called to the file `calls`. It answers any other request as `initialize`.
const BAIT: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    version=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([0-9-]*\)".*/\1/p')
    [ -n "$id" ] || continue
    printf '{"jsonrpc":"2.0","id":%s,"result":' "$id"
    case "$line" in
    *'"tools/call"'*)
        printf '%s\n' "$line" | sed -n 's/.*"name":"\([a-z_]*\)".*/\1/p' >> calls
        printf '{"content":[]}' ;;
    *'"tools/list"'*) printf '{"tools":[%s]}' "$TOOLS" ;;
    *) printf '{"protocolVersion":"%s","capabilities":{"tools":{}},"serverInfo":{"name":"bait","version":"1"}}' "$version" ;;
    esac
    printf '}\n'
done
"#;

/// Tools without arguments, by what they declare.
const TOOLS: &str = r#"{"name":"drop_database","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}},
    {"name":"buy_now","inputSchema":{"type":"object"}},
    {"name":"claims_both","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"true"}},
    {"name":"needs_arguments","inputSchema":{"type":"object","required":["x"]},"annotations":{"readOnlyHint":true}},
    {"name":"status","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;

/// The different names of tools that a run has called.
fn called(tools: &str, more: &[&str]) -> (Vec<String>, Ended) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("cd {}\nTOOLS='{}'\n{BAIT}", folder.path().display(), tools.replace('\n', " "));
    let mut arguments = vec!["check", "mcp-server", "--timeout", "1", "--revision", "2025-11-25"];
    arguments.extend(more);
    arguments.extend(["--", "sh", "-c", &script]);
    let ended = Program::run(&arguments, RUN);
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
    let mut names: Vec<String> = calls.lines().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    (names, ended)
}

#[test]
fn only_tools_that_declare_themselves_read_only_are_called() {
    let (names, ended) = called(TOOLS, &[]);
    assert_eq!(names, ["status"], "{}", ended.stdout);
    ended.reports("Calls only tools that declare readOnlyHint");
}

#[test]
fn no_tool_is_called_unless_it_declares_itself_read_only() {
    let tools = TOOLS.rsplit_once(",\n").expect("`status` is the last").0;
    let (names, ended) = called(tools, &["--verbose"]);
    assert_eq!(names, [""; 0], "{}", ended.stdout);
    ended.prints("--call-any calls others too");
}

#[test]
fn any_tool_may_be_called_if_the_user_allows_it() {
    let (names, ended) = called(TOOLS, &["--call-any"]);
    assert_eq!(names, ["drop_database"], "{}", ended.stdout);
    ended.reports("Calls tools whatever they declare");
}

#[test]
fn a_tool_that_the_profile_names_is_called() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = folder.path().join("profile.toml");
    fs::write(&profile, "[mcp-server]\necho = { tool = \"buy_now\" }\n").expect("there is room");
    let (names, ended) = called(TOOLS, &["--profile", profile.to_str().expect("it is text")]);
    assert_eq!(names, ["buy_now"], "{}", ended.stdout);
}

/// An agent that ends at once if another one has the lock.
fn locking(lock: &str) -> String {
    let reply = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{}}}\n"#;
    format!(
        "if [ -e {lock} ] && kill -0 $(cat {lock}); then echo locked >&2; exit 3; fi; echo $$ > {lock}\n\
         while read -r line; do\n\
         id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\
         [ -z \"$id\" ] || printf '{reply}' \"$id\"\ndone"
    )
}

fn judge_agent(more: &[&str], script: &str) -> Ended {
    let mut arguments = vec!["check", "acp-agent", "--timeout", "1", "--revision", "1"];
    arguments.extend(["--only", "acp/RPC-03", "--only", "acp/RPC-04", "--only", "acp/RPC-12"]);
    arguments.extend(more);
    arguments.extend(["--", "sh", "-c", script]);
    let ended = Program::run(&arguments, RUN);
    assert_ne!(ended.status.code(), Some(2), "{}", ended.stderr);
    ended
}

#[test]
fn with_one_job_one_process_of_the_program_runs_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let lock = folder.path().join("lock").display().to_string();
    let ended = judge_agent(&["--jobs", "1"], &locking(&lock));
    assert!(!ended.stdout.contains("ended by itself"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("locked"), "{}", ended.stdout);
}

#[test]
fn each_start_has_a_folder_of_its_own_if_the_command_names_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("list").display().to_string();
    let ended = judge_agent(&[], &format!("echo {{tmp}} >> {list}\n{}", locking("{tmp}/lock")));
    assert!(!ended.stdout.contains("locked"), "{}", ended.stdout);
    let list = fs::read_to_string(list).expect("it was written");
    let mut folders: Vec<&str> = list.lines().collect();
    let count = folders.len();
    folders.sort_unstable();
    folders.dedup();
    assert!(count > 1 && folders.len() == count, "{list}");
    assert!(!folders.iter().any(|folder| Path::new(folder).exists()), "a folder is left: {list}");
}

#[test]
fn a_program_that_ends_by_itself_is_counted_with_its_last_words() {
    let script = r#"read -r line; echo 'first' >&2; echo 'cannot open the database' >&2; exit 3"#;
    let ended = judge_agent(&[], script);
    ended.prints("The program ended by itself in ");
    ended.prints("; its last words: cannot open the database");
}

/// Judges a server that refuses so many requests with the right code, and others with a wrong one. Returns how often it was started.
fn starts_of_server(right: usize) -> (usize, Ended) {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("list");
    let result =
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#;
    let script = format!(
        "echo start >> {}; refused=0\n\
         while read -r line; do\n\
         id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\
         answer() {{ printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,%s}}\\n' \"$id\" \"$1\"; }}\n\
         case \"$line\" in\n\
         *'\"initialize\"'*) answer '\"result\":{result}' ;;\n\
         *'\"ping\"'*) answer '\"result\":{{}}' ;;\n\
         *'\"id\"'*) code=-32601; [ $refused -lt {right} ] || code=-32603; refused=$((refused+1))\n\
         answer \"\\\"error\\\":{{\\\"code\\\":$code,\\\"message\\\":\\\"no\\\"}}\" ;;\n\
         esac; done",
        list.display()
    );
    let mut arguments = vec!["check", "mcp-server", "--timeout", "2", "--revision", "2025-11-25"];
    arguments.extend(["--level", "should", "--only", "mcp/RPC-12", "--only", "mcp/CMP-02b"]);
    arguments.extend(["--", "sh", "-c", &script]);
    let ended = Program::run(&arguments, RUN);
    let starts = fs::read_to_string(list).expect("it was started").lines().count();
    (starts, ended)
}

#[test]
fn checks_share_a_conversation_and_fail_in_one_of_their_own() {
    // One process finds out what the server speaks.
    let (starts, ended) = starts_of_server(9);
    assert_eq!((starts, ended.status.code()), (2, Some(0)), "{}", ended.stdout);
    // The second check fails in the conversation of the first, and passes in its own.
    let (starts, ended) = starts_of_server(1);
    assert_eq!((starts, ended.status.code()), (3, Some(0)), "{}", ended.stdout);
    let (starts, ended) = starts_of_server(0);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
    assert!(starts >= 3, "{starts}");
}

/// The program answers in its first process only, as one does that locks a file.
#[test]
fn a_program_that_ends_before_its_first_message_is_not_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"public","serverInfo":{"name":"a","version":"1"}}"#;
    let script = format!(
        "mkdir {}/lock || exit 3\nread -r line\n\
         id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\
         printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{result}}}\\n' \"$id\"\nread -r line",
        folder.path().display()
    );
    let mut arguments = vec!["check", "mcp-server", "--timeout", "1", "--revision", "2026-07-28"];
    arguments.extend(["--only", "mcp/DIS-01", "--", "sh", "-c", &script]);
    let ended = Program::run(&arguments, RUN);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stdout);
    ended.prints("the conversation could not be prepared");
    // The handshake before, the check, and an ordinary conversation after it.
    ended.prints("The program ended by itself in 2 of 3 conversations");
}

#[test]
fn a_program_that_ends_at_the_first_message_of_one_check_fails_it() {
    let reply = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{}}}\n"#;
    let script = format!(
        "while read -r line; do\n\
         case \"$line\" in *65535*) exit 3 ;; esac\n\
         id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\
         [ -z \"$id\" ] || printf '{reply}' \"$id\"\ndone"
    );
    let mut arguments = vec!["check", "acp-agent", "--timeout", "1", "--revision", "1"];
    arguments.extend(["--only", "acp/INIT-07", "--", "sh", "-c", &script]);
    let ended = Program::run(&arguments, RUN);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
    ended.prints("FAIL acp/INIT-07 (must)");
}

/// Waits until a file has a line, and returns it.
fn line_of(path: &Path) -> String {
    let deadline = Instant::now() + SOON;
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.lines().next().unwrap_or_default().to_owned(),
            _ => assert!(Instant::now() < deadline, "{} has no line", path.display()),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn programs_under_test_end_with_a_check_that_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("child");
    let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
    let arguments = ["check", "acp-agent", "--revision", "1", "--timeout", "60", "--", "sh", "-c", &script];
    let check = Program::start(&arguments);
    let child = Pid::from_raw(line_of(&file).parse().expect("an id")).expect("it is not 0");
    // The watchdog gets a program just after its start.
    thread::sleep(Duration::from_millis(500));
    check.signal(Signal::KILL);
    let deadline = Instant::now() + SOON;
    while test_kill_process(child).is_ok() {
        assert!(Instant::now() < deadline, "the program's child lives on");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(check.end(SOON).status.code(), None);
}

#[test]
fn a_stopped_run_writes_its_results_so_far() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let started = folder.path().join("started");
    // The first conversations are answered, later ones never.
    let count = folder.path().join("count").display().to_string();
    let script = format!(
        "echo x >> {count}; if [ $(wc -l < {count}) -gt 4 ]; then echo yes > {}; sleep 1000; fi\n{}",
        started.display(),
        locking("/dev/null")
    );
    let path = report.to_str().expect("it is text");
    let mut check = Program::start(&[
        "check",
        "acp-agent",
        "--jobs",
        "1",
        "--json-file",
        path,
        "--",
        "sh",
        "-c",
        &script,
    ]);
    check.close_stdin();
    line_of(&started);
    check.signal(Signal::INT);
    let ended = check.end(SIGNAL);
    ended.exits(130).prints("Partial: the run was stopped after ");
    let text = fs::read_to_string(report).expect("it is written");
    let report: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(report.pointer("/reports/0/partial"), Some(&true.into()));
    let judged = report["reports"][0]["results"].as_array().expect("an array").len();
    let planned = report["reports"][0]["planned"].as_u64().expect("a number");
    assert!(judged > 0 && (judged as u64) < planned, "{judged} of {planned}");
}

#[test]
fn a_flood_does_not_hold_up_a_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let started = folder.path().join("started");
    for line in [r#"{"jsonrpc":"2.0","method":"noise","params":{"a":[1,2,3]}}"#, "{}", "x"] {
        let script = format!("echo yes > {}; exec yes '{line}'", started.display());
        let mut check = Program::start(&["check", "acp-agent", "--", "sh", "-c", &script]);
        check.close_stdin();
        line_of(&started);
        // The results of the first conversations are being made by now.
        thread::sleep(Duration::from_secs(3));
        check.signal(Signal::TERM);
        let ended = check.end(SIGNAL);
        assert!(matches!(ended.status.code(), Some(143 | 1)), "{line}: {}", ended.stderr);
        fs::remove_file(&started).expect("it was made");
    }
}

#[test]
fn a_written_baseline_makes_the_next_run_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("known.toml");
    let path = path.to_str().expect("it is text");
    let script = locking("/dev/null");
    let strict = ["--level", "may"];
    judge_agent(&[&strict[..], &["--write-baseline", path]].concat(), &script).exits(0);
    let written = fs::read_to_string(path).expect("it is written");
    assert!(written.contains("requirement = \"acp/") && written.contains("reason = "), "{written}");
    judge_agent(&strict, &script).exits(1);
    judge_agent(&[&strict[..], &["--baseline", path]].concat(), &script).exits(0);
}
