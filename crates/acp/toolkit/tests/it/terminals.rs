//! Terminals with real processes: output, exit, limits and cleanup.

use std::fs;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use agentwire_acp_schema::v1::error_code::INTERNAL_ERROR;
use agentwire_acp_schema::v1::{
    CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReleaseTerminalRequest, TerminalExitStatus,
    TerminalId, TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
};
use agentwire_acp_toolkit::Terminals;
use agentwire_test_support::write_program;
use tempfile::TempDir;
use tokio::runtime::Builder;

use crate::{invalid, missing, refused};

/// The longest that a test waits for a program, on a machine that is busy.
const DEADLINE: Duration = Duration::from_secs(30);

/// Terminals in a directory of their own.
struct Fixture {
    directory: TempDir,
    terminals: Terminals,
}

impl Fixture {
    fn new() -> Self {
        Self::with(|terminals| terminals)
    }

    fn with(configure: impl FnOnce(Terminals) -> Terminals) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let terminals = configure(Terminals::new([directory.path()]));
        Self { directory, terminals }
    }

    async fn run(&self, line: &str) -> TerminalId {
        self.create(sh(line)).await
    }

    async fn create(&self, request: CreateTerminalRequest) -> TerminalId {
        self.terminals.create(&request).await.unwrap().terminal_id
    }

    async fn output(&self, id: &TerminalId) -> TerminalOutputResponse {
        self.terminals.output(&TerminalOutputRequest::new("s", id)).await.unwrap()
    }

    async fn wait(&self, id: &TerminalId) -> TerminalExitStatus {
        self.terminals.wait_for_exit(&WaitForTerminalExitRequest::new("s", id)).await.unwrap().into()
    }

    async fn kill(&self, id: &TerminalId) {
        self.terminals.kill(&KillTerminalRequest::new("s", id)).await.unwrap();
    }

    async fn release(&self, id: &TerminalId) {
        self.terminals.release(&ReleaseTerminalRequest::new("s", id)).await.unwrap();
    }

    /// The output of a command until it ends.
    async fn all(&self, request: CreateTerminalRequest) -> String {
        let id = self.create(request).await;
        self.wait(&id).await;
        self.output(&id).await.output
    }

    /// The numbers that a command writes first.
    async fn numbers<const N: usize>(&self, id: &TerminalId) -> [u32; N] {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let text = self.output(id).await.output;
            let numbers: Vec<_> = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
            if numbers.len() >= N {
                return std::array::from_fn(|index| numbers[index].trim().parse().unwrap());
            }
            assert!(Instant::now() < deadline, "only {text:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn sh(line: &str) -> CreateTerminalRequest {
    CreateTerminalRequest::new("s", "sh").args(["-c", line])
}

fn exit(code: u32) -> TerminalExitStatus {
    TerminalExitStatus::new().exit_code(code)
}

fn signal(name: &str) -> TerminalExitStatus {
    TerminalExitStatus::new().signal(name)
}

/// Whether a process runs. A zombie does not.
fn runs(process: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap().trim().starts_with(['Z', 'X'])
}

/// Waits until a killed process is gone. Another process collects a grandchild, so a zombie counts as gone.
#[track_caller]
fn gone(process: u32) {
    let deadline = Instant::now() + DEADLINE;
    while runs(process) {
        assert!(Instant::now() < deadline, "{process} still runs");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether the system knows a process, if only as a zombie.
fn exists(process: u32) -> bool {
    fs::exists(format!("/proc/{process}")).unwrap()
}

/// Our own children in a group, zombies as well.
fn children_in(group: u32) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let stat = fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        // Behind the name: the state, the parent, the group.
        let numbers: Vec<_> = stat.rsplit(')').next()?.split_whitespace().skip(1).take(2).collect();
        (numbers == [std::process::id().to_string(), group.to_string()]).then_some(stat)
    });
    processes.collect()
}

#[tokio::test]
async fn both_streams_arrive_in_order_and_complete() {
    let fixture = Fixture::new();
    for _ in 0..30 {
        let id = fixture.run("for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 3").await;
        assert_eq!(fixture.wait(&id).await, exit(3));
        let response = fixture.output(&id).await;
        assert_eq!(response.output, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
        assert_eq!((response.truncated, response.exit_status), (false, Some(exit(3))));
        fixture.release(&id).await;
    }
}

#[tokio::test]
async fn term_02_create_does_not_wait_and_term_06_kill_keeps_the_output() {
    let fixture = Fixture::new();
    let id = fixture.run("echo $$; exec sleep 1000").await;
    let [process] = fixture.numbers(&id).await;
    assert_eq!(fixture.output(&id).await.exit_status, None);
    fixture.kill(&id).await;
    let response = fixture.output(&id).await;
    assert_eq!((response.output, response.exit_status), (format!("{process}\n"), Some(signal("SIGKILL"))));
    assert_eq!(fixture.wait(&id).await, signal("SIGKILL"));
    assert!(!exists(process), "a zombie");
    fixture.kill(&id).await;
    fixture.release(&id).await;
}

#[tokio::test]
async fn term_05_a_signal_has_a_name_and_no_code() {
    let fixture = Fixture::new();
    for name in ["KILL", "TERM", "SEGV"] {
        let id = fixture.run(&format!("kill -{name} $$")).await;
        assert_eq!(fixture.wait(&id).await, signal(&format!("SIG{name}")));
    }
}

#[tokio::test]
async fn term_03_output_is_cut_at_the_front_between_characters() {
    let fixture = Fixture::with(|terminals| terminals.output_limit(4).output_maximum(6));
    let limited = |bytes| sh("printf äöüß").output_byte_limit(bytes);
    assert_eq!(fixture.all(limited(5)).await, "üß");
    assert_eq!(fixture.all(limited(0)).await, "");
    assert_eq!(fixture.all(limited(u64::MAX)).await, "öüß");
    let id = fixture.create(sh("printf äöüß")).await;
    fixture.wait(&id).await;
    let response = fixture.output(&id).await;
    assert_eq!((&*response.output, response.truncated), ("üß", true));
    // Two pieces, one character; and a byte that is none.
    assert_eq!(
        fixture.all(sh(r"printf '\303'; sleep 0.05; printf '\244\377'").output_byte_limit(6)).await,
        "ä\u{fffd}"
    );
}

/// Later terminals keep the rest of the limit, and no less than 64 KiB.
#[tokio::test]
async fn output_of_all_terminals_together_is_limited() {
    let fixture = Fixture::with(|terminals| terminals.output_total(300 << 10));
    let flood = || sh("head -c 1000000 /dev/zero | tr '\\0' x").output_byte_limit(200 << 10);
    let mut kept = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..4 {
        let id = fixture.create(flood()).await;
        fixture.wait(&id).await;
        kept.push(fixture.output(&id).await.output.len() >> 10);
        ids.push(id);
    }
    assert_eq!(kept, [200, 100, 64, 64]);
    fixture.release(&ids[0]).await;
    assert_eq!(fixture.all(flood()).await.len() >> 10, 200, "it was given back");
}

#[tokio::test]
async fn a_flood_is_bounded_and_does_not_wait_for_a_reader() {
    let fixture = Fixture::new();
    let id = fixture.run("head -c 10000000 /dev/zero | tr '\\0' x; echo end").await;
    assert_eq!(fixture.wait(&id).await, exit(0));
    let response = fixture.output(&id).await;
    assert_eq!((response.output.len(), response.truncated), (1024 * 1024, true));
    assert!(response.output.ends_with("xend\n"));
}

#[tokio::test]
async fn a_command_that_floods_for_ever_can_be_killed() {
    let fixture = Fixture::new();
    let id = fixture.run("yes & exec yes").await;
    fixture.kill(&id).await;
    assert_eq!(fixture.wait(&id).await, signal("SIGKILL"));
    assert!(fixture.output(&id).await.output.len() <= 1024 * 1024);
}

#[tokio::test]
async fn term_07_release_ends_the_id_and_term_08_the_children() {
    let fixture = Fixture::new();
    let id = fixture.run("echo $$; (sleep 1000 & echo $!; wait) & sleep 1000 & echo $!; wait").await;
    let processes: [u32; 3] = fixture.numbers(&id).await;
    assert!(processes.into_iter().all(runs));
    assert_eq!(children_in(processes[0]).len(), 2, "the command and its guard");
    fixture.release(&id).await;
    assert!(!exists(processes[0]), "a zombie");
    processes.into_iter().for_each(gone);
    assert_eq!(children_in(processes[0]), [""; 0]);

    let id = &*id;
    let terminals = &fixture.terminals;
    missing(terminals.output(&TerminalOutputRequest::new("s", id)).await, &[id]);
    missing(terminals.wait_for_exit(&WaitForTerminalExitRequest::new("s", id)).await, &[id]);
    missing(terminals.kill(&KillTerminalRequest::new("s", id)).await, &[id]);
    missing(terminals.release(&ReleaseTerminalRequest::new("s", id)).await, &[id]);
    missing(terminals.output(&TerminalOutputRequest::new("s", "terminal-77")).await, &["terminal-77"]);
}

#[tokio::test]
async fn background_process_belongs_to_the_terminal() {
    for redirected in ["", ">/dev/null 2>&1"] {
        let fixture = Fixture::new();
        let id = fixture.run(&format!("echo $$; sleep 1000 {redirected} & echo $!")).await;
        assert_eq!(fixture.wait(&id).await, exit(0));
        let [leader, background] = fixture.numbers(&id).await;
        assert!(runs(background));
        fixture.release(&id).await;
        assert!(!exists(leader), "a zombie");
        gone(background);
    }
}

#[tokio::test]
async fn term_12_methods_run_concurrently() {
    let fixture = Fixture::new();
    let id = &fixture.run("sleep 1000").await;
    let (first, second, (), output) =
        tokio::join!(fixture.wait(id), fixture.wait(id), fixture.kill(id), fixture.output(id));
    assert_eq!((first, second), (signal("SIGKILL"), signal("SIGKILL")));
    assert_eq!(output.output, "");

    // A release answers those who wait.
    let id = &fixture.run("sleep 1000").await;
    let mut wait = pin!(fixture.wait(id));
    let waits = poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx).is_pending())).await;
    assert!(waits);
    fixture.release(id).await;
    assert_eq!(wait.await, signal("SIGKILL"));
}

#[test]
fn nothing_outlives_the_terminals_or_the_runtime() {
    let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let fixture = Fixture::new();
    let line = "echo $$; sleep 1000 & echo $!; wait";
    let processes = |fixture: Fixture| async move {
        let id = fixture.run(line).await;
        let processes: [u32; 2] = fixture.numbers(&id).await;
        (fixture, processes)
    };
    let (fixture, [leader, child]) = first.block_on(processes(fixture));
    drop(fixture);
    assert!(!exists(leader), "a zombie");
    gone(child);

    let (fixture, [leader, child]) = first.block_on(processes(Fixture::new()));
    drop(first);
    assert!(!exists(leader), "a zombie");
    gone(child);
    // The rest is still there to be asked.
    let wait = WaitForTerminalExitRequest::new("s", "terminal-1");
    let status = runtime().block_on(fixture.terminals.wait_for_exit(&wait)).unwrap();
    assert_eq!(TerminalExitStatus::from(status), signal("SIGKILL"));
}

/// The readers of terminals are tasks, of which a runtime that ends at once has run none yet.
#[test]
fn runtime_that_ends_at_once_ends_its_commands() {
    let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
    let fixture = Fixture::new();
    let first = runtime();
    let id = first.block_on(fixture.run("exec sleep 1000"));
    drop(first);
    let status = runtime()
        .block_on(async { tokio::time::timeout(DEADLINE, fixture.wait(&id)).await.expect("it has ended") });
    assert_eq!(status, signal("SIGKILL"));
}

/// The variable by which the test below knows that it is the child that it starts.
const CHILD: &str = "AGENTWIRE_TERMINALS_CHILD";

/// Prints the processes in its terminal, and waits for its end.
fn a_program_with_a_terminal() {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let fixture = Fixture::new();
        let id = fixture.run("trap '' TERM HUP; echo $$; sleep 1000 & echo $!; wait").await;
        let [leader, child] = fixture.numbers(&id).await;
        eprintln!("{leader} {child}");
        std::future::pending().await
    })
}

/// The guard needs no destructor of ours.
#[test]
fn nothing_outlives_a_program_that_is_killed() {
    if std::env::var_os(CHILD).is_some() {
        return a_program_with_a_terminal();
    }
    let mut program = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["terminals::nothing_outlives_a_program_that_is_killed", "--exact", "--nocapture"])
        .env(CHILD, "1")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(program.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    let processes: Vec<u32> = line.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert!(processes.len() == 2 && processes.iter().copied().all(runs), "{line}");
    program.kill().unwrap();
    program.wait().unwrap();
    processes.into_iter().for_each(gone);
}

#[tokio::test]
async fn the_number_of_terminals_is_limited() {
    let fixture = Fixture::with(|terminals| terminals.limit(2));
    let first = fixture.run("true").await;
    let second = fixture.run("true").await;
    assert_ne!(first, second);
    fixture.wait(&first).await;
    refused(fixture.terminals.create(&sh("true")).await, INTERNAL_ERROR, &["2", "limit"]);
    fixture.release(&first).await;
    fixture.run("true").await;
}

#[tokio::test]
async fn a_command_is_a_program_or_a_line() {
    let fixture = Fixture::new();
    let request = |command: &str| CreateTerminalRequest::new("s", command);
    assert_eq!(fixture.all(request("echo a  b | tr a c")).await, "c b\n");
    assert_eq!(fixture.all(request("echo").args(["$HOME", "a  b"])).await, "$HOME a  b\n");
    let tool = fixture.directory.path().join("my tool");
    write_program(&tool, "#!/bin/sh\necho \"$1\" $VALUE");
    let values = [EnvVariable::new("VALUE", "of $HOME")];
    assert_eq!(fixture.all(request("./my tool").env(values)).await, " of $HOME\n");
    assert_eq!(fixture.all(request("cat")).await, "", "there is nothing to read");

    let create = async |request| fixture.terminals.create(&request).await;
    missing(create(request("no-such-program")).await, &["no-such-program"]);
    missing(create(request("no-such program").args(["x"])).await, &["no-such program"]);
    refused(create(request("./").args(["x"])).await, INTERNAL_ERROR, &["./"]);
    invalid(create(request("a\0b").args(["x"])).await, &["cannot start"]);
    invalid(create(request("env").env([EnvVariable::new("A=B", "")])).await, &["A=B"]);
}

#[tokio::test]
async fn term_10_commands_start_within_the_roots_by_an_absolute_path() {
    let fixture = Fixture::new();
    let root = fixture.directory.path().canonicalize().unwrap();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    std::os::unix::fs::symlink("/", root.join("out")).unwrap();
    assert_eq!(fixture.all(sh("pwd -P")).await, format!("{}\n", root.display()));
    assert_eq!(
        fixture.all(sh("pwd -P").cwd(root.join("sub"))).await,
        format!("{}\n", root.join("sub").display())
    );

    let create = async |cwd: &str| fixture.terminals.create(&sh("pwd").cwd(root.join(cwd))).await;
    for outside in ["/", "/no/such/directory", "..", "sub/../..", "out", "out/etc"] {
        invalid(create(outside).await, &[outside, "outside"]);
    }
    invalid(create("file").await, &["file", "not a directory"]);
    missing(create("absent").await, &["absent"]);
    let relative = fixture.terminals.create(&sh("pwd").cwd("sub")).await;
    invalid(relative, &["sub", "absolute"]);
}

#[tokio::test]
async fn term_09_output_is_shown_after_the_release() {
    let fixture = Fixture::with(|terminals| terminals.released_limit(1000));
    let shown = |id: &TerminalId| fixture.terminals.shown(id);
    let id = fixture.run("echo one; exec sleep 1000").await;
    while shown(&id).unwrap().output.is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(shown(&id).unwrap().exit_status, None);
    fixture.release(&id).await;
    let last = shown(&id).unwrap();
    assert_eq!((&*last.output, last.exit_status), ("one\n", Some(signal("SIGKILL"))));
    missing(fixture.terminals.output(&TerminalOutputRequest::new("s", &id)).await, &[&id]);

    // Those of a session that ends are the same; and there is an end to what is kept.
    let others = [fixture.run("echo two").await, fixture.run("echo three").await];
    for id in &others {
        fixture.wait(id).await;
    }
    fixture.terminals.release_all().await;
    assert!(others.iter().all(|id| shown(id).is_some_and(|output| output.exit_status == Some(exit(0)))));
    let large = fixture.run("head -c 2000 /dev/zero | tr '\\0' x").await;
    fixture.wait(&large).await;
    fixture.release(&large).await;
    let kept = shown(&large).unwrap();
    assert!(kept.truncated && (1..1000).contains(&kept.output.len()));
    assert_eq!((shown(&id), shown(&"terminal-77".into())), (None, None));
}
