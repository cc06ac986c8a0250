//! Ends of the command while one of its pipes is full and unread, or has lost its reader.

#[cfg(feature = "record")]
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _, pipe};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a program may take to end on a busy machine: 60 s.
const SOON: Duration = Duration::from_secs(60);

/// The bytes that the smallest pipe holds: 4 KiB.
const PIPE: usize = 4096;

fn agentwire(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentwire"));
    command.args(arguments);
    command
}

/// The status of a program that ends within [`SOON`].
fn ended(mut child: Child) -> ExitStatus {
    let begun = Instant::now();
    while begun.elapsed() < SOON {
        if let Some(status) = child.try_wait().expect("it is our child") {
            return status;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("it is our child");
    panic!("it does not end");
}

fn terminate(child: &Child) {
    send(child, Signal::TERM);
}

fn send(child: &Child, signal: Signal) {
    let id = Pid::from_raw(child.id().try_into().expect("an id is positive")).expect("an id is not 0");
    kill_process(id, signal).expect("it runs");
}

/// Waits until a pipe is full.
fn wait_until_full(reader: &impl std::os::fd::AsFd) {
    let begun = Instant::now();
    while rustix::io::ioctl_fionread(reader).expect("it is a pipe") < PIPE as u64 {
        assert!(begun.elapsed() < SOON, "it is not full");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn server_with_a_full_log_pipe_ends_at_a_signal() {
    let (reader, mut writer) = pipe().expect("there are descriptors");
    rustix::pipe::fcntl_setpipe_size(&writer, PIPE).expect("it is a pipe");
    let stderr = writer.try_clone().expect("there are descriptors");
    let child = agentwire(&["server", "--http", "127.0.0.1:0", "--log"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(reader);
    let mut line = String::new();
    lines.read_line(&mut line).expect("it prints its URL");
    let url = line.trim().strip_prefix("listening on http://").expect("it listens");
    let address = url.strip_suffix("/mcp").expect("it is the endpoint").to_owned();
    // From here on nothing is read. The pipe is empty, and takes this without waiting.
    writer.write_all(&[b'x'; PIPE]).expect("it has a reader");
    wait_until_full(lines.get_ref());
    let mut connection = TcpStream::connect(&address).expect("it listens");
    connection.write_all(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
    connection.read_exact(&mut [0; 12]).expect("it answers, and logs that");
    terminate(&child);
    let status = ended(child);
    assert_eq!((status.code(), status.signal()), (Some(128 + 15), None));
    drop(lines);
}

#[test]
fn command_with_a_full_output_pipe_ends_at_a_signal() {
    let (reader, writer) = pipe().expect("there are descriptors");
    rustix::pipe::fcntl_setpipe_size(&writer, PIPE).expect("it is a pipe");
    let text = format!("message={}", "x".repeat(4 * PIPE));
    let program = env!("CARGO_BIN_EXE_agentwire");
    let child = agentwire(&["call", &format!("'{program}' server"), "echo", &text])
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    wait_until_full(&reader);
    terminate(&child);
    let status = ended(child);
    assert_eq!((status.code(), status.signal()), (Some(128 + 15), None));
}

/// An agent that makes the file `begun` when a turn begins, and ends the turn when it is cancelled.
const AGENT: &str = r#"while read -r line; do
    id=$(printf '%s' "$line" | grep -o '"id":[^,}]*' | head -n 1)
    case $line in
        *'"session/cancel"'*) echo "{\"jsonrpc\":\"2.0\",$turn,\"result\":{\"stopReason\":\"cancelled\"}}" ;;
        *'"session/prompt"'*) turn=$id; : > "$begun" ;;
        *'"session/new"'*) echo "{\"jsonrpc\":\"2.0\",$id,\"result\":{\"sessionId\":\"s\"}}" ;;
        *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",$id,\"result\":{\"protocolVersion\":1}}" ;;
    esac
done"#;

#[test]
fn chat_with_a_full_error_pipe_ends_at_a_signal() {
    for (signal, code) in [(Signal::TERM, 128 + 15), (Signal::INT, 128 + 2)] {
        let folder = tempfile::tempdir().expect("there is room");
        let (script, begun) = (folder.path().join("agent"), folder.path().join("begun"));
        std::fs::write(&script, AGENT).expect("there is room");
        let (reader, mut writer) = pipe().expect("there are descriptors");
        rustix::pipe::fcntl_setpipe_size(&writer, PIPE).expect("it is a pipe");
        writer.write_all(&[b'x'; PIPE]).expect("it has a reader");
        let child = agentwire(&["chat", "--agent", &format!("sh '{}'", script.display()), "hello"])
            .env("begun", &begun)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(writer)
            .spawn()
            .expect("it starts");
        let started = Instant::now();
        while !begun.exists() {
            assert!(started.elapsed() < SOON, "no turn begins");
            std::thread::sleep(Duration::from_millis(10));
        }
        send(&child, signal);
        assert_eq!(ended(child).code(), Some(code), "{signal:?}");
        drop(reader);
    }
}

/// The end of a `record` whose stdin stays open and whose stdout has lost its reader.
#[cfg(feature = "record")]
fn recorded(program: &[&str]) -> ExitStatus {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("recording.jsonl");
    let file = file.to_str().expect("it is UTF-8");
    let (reader, writer) = pipe().expect("there are descriptors");
    drop(reader);
    let mut child = agentwire(&[&["record", "--record", file, "--"], program].concat())
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(File::create("/dev/null").expect("it can be written"))
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n").expect("it reads");
    let status = ended(child);
    drop(stdin);
    status
}

#[cfg(feature = "record")]
#[test]
fn record_ends_when_the_reader_of_its_output_has_gone() {
    assert_eq!(recorded(&["cat"]).code(), Some(0), "the program ends with its input");
    let deaf = "echo '{}'; exec 1>&- 0<&-; exec sleep 1000";
    assert_eq!(recorded(&["sh", "-c", deaf]).code(), Some(128 + 15));
    let stubborn = "trap '' TERM; echo '{}'; while :; do sleep 1000; done";
    assert_eq!(recorded(&["sh", "-c", stubborn]).code(), Some(128 + 9));
}
