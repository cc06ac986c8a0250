use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::task::Poll;
use std::thread;

use agentwire_transport_stdio::{Input, Output};
use futures::{AsyncReadExt, AsyncWriteExt};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::support::{HELLO, LONG, example, run, watch};

/// Starts the echo with these as its stdin and stdout.
fn echo(stdin: impl Into<OwnedFd>, stdout: impl Into<OwnedFd>) -> Child {
    let child = Command::new(example("echo")).stdin(stdin.into()).stdout(stdout.into()).spawn().unwrap();
    watch(&child);
    child
}

/// The descriptions that it was given are as they were. Asked of the system: a duplicate of our own would keep
/// the streams open when it ends.
fn assert_blocking(child: &Child) {
    for fd in [0, 1] {
        let text = std::fs::read_to_string(format!("/proc/{}/fdinfo/{fd}", child.id())).unwrap();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
        assert!(!OFlags::from_bits_retain(flags).contains(OFlags::NONBLOCK));
    }
}

/// Has a conversation: message by message, byte by byte, many at once, one that is very large.
fn converse(child: &Child, mut to: impl Write + Send + 'static, from: impl Read) {
    let from = &mut BufReader::new(from);
    let mut line = String::new();
    for _ in 0..10 {
        to.write_all(format!("{HELLO}\n").as_bytes()).unwrap();
        expect(from, &mut line, HELLO);
    }
    for byte in format!("{HELLO}\r\n\n").bytes() {
        to.write_all(&[byte]).unwrap();
    }
    expect(from, &mut line, HELLO);
    assert_blocking(child);

    let large = format!(r#"{{"jsonrpc":"2.0","method":"large","params":["{}"]}}"#, "x".repeat(16 << 20));
    let many = format!("{HELLO}\n").repeat(10_000);
    let sent = format!("{many}{large}\n{HELLO}\n");
    let writer = thread::spawn(move || to.write_all(sent.as_bytes()).unwrap());
    for _ in 0..10_000 {
        expect(from, &mut line, HELLO);
    }
    expect(from, &mut line, &large);
    expect(from, &mut line, HELLO);
    // The end of input follows.
    writer.join().unwrap();
}

fn expect(from: &mut impl BufRead, line: &mut String, wanted: &str) {
    line.clear();
    from.read_line(line).unwrap();
    // Not assert_eq: it would print 16 MiB.
    assert!(line.trim_end() == wanted, "{}", &line[..line.len().min(200)]);
}

fn ends(mut child: Child) {
    let status: ExitStatus = child.wait().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn pipes() {
    let (stdin, to) = std::io::pipe().unwrap();
    let (from, stdout) = std::io::pipe().unwrap();
    let child = echo(stdin, stdout);
    converse(&child, to, from);
    ends(child);
}

#[test]
fn one_socket_for_both() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let child = echo(theirs.try_clone().unwrap(), theirs);
    converse(&child, ours.try_clone().unwrap(), &ours);
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    ends(child);
}

#[test]
fn named_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let (stdin, to) = named_pipe(&folder.path().join("in"));
    let (from, stdout) = named_pipe(&folder.path().join("out"));
    let child = echo(stdin, stdout);
    converse(&child, to, from);
    ends(child);
}

/// A new named pipe's ends.
fn named_pipe(path: &Path) -> (File, File) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    // While it is open for both, neither open waits for the other.
    let _both = File::options().read(true).write(true).open(path).unwrap();
    (File::open(path).unwrap(), File::options().write(true).open(path).unwrap())
}

#[cfg(feature = "nonblocking")]
#[test]
fn nothing_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe_in, pipe_out) = std::io::pipe().unwrap();
    let (socket_in, socket_out) = UnixStream::pair().unwrap();
    let (named_in, named_out) = named_pipe(&folder.path().join("pipe"));
    let (master, slave) = terminal();
    let inputs: [OwnedFd; 5] =
        [pipe_in.into(), socket_in.into(), named_in.into(), slave.try_clone().unwrap().into(), master.into()];
    let outputs: [OwnedFd; 4] = [pipe_out.into(), socket_out.into(), named_out.into(), slave.into()];
    let (done, finished) = mpsc::channel();
    thread::spawn(move || {
        run(async {
            let mut inputs = inputs.map(|fd| Input::of(fd).unwrap());
            for input in &mut inputs {
                assert!(futures::poll!(input.read(&mut [0; 100])).is_pending());
            }
            for fd in outputs {
                let mut output = Output::of(fd).unwrap();
                let mut written = 0;
                while let Poll::Ready(count) = futures::poll!(output.write(&[b'x'; 100_000])) {
                    written += count.unwrap();
                    assert!(written < 10 << 20);
                    tokio::task::yield_now().await;
                }
                assert!(written > 0);
            }
            done.send(()).unwrap();
        });
    });
    finished.recv_timeout(LONG).expect("something blocks");
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{HELLO}\n").repeat(100_000);
    std::fs::write(folder.path().join("in"), &text).unwrap();
    let stdin = File::open(folder.path().join("in")).unwrap();
    let stdout = File::create(folder.path().join("out")).unwrap();
    ends(echo(stdin, stdout));
    assert!(std::fs::read_to_string(folder.path().join("out")).unwrap() == text);
}

#[test]
fn nothing_at_all() {
    let null = || File::options().read(true).write(true).open("/dev/null").unwrap();
    ends(echo(null(), null()));
}

/// A new terminal: its master's side and its own.
fn terminal() -> (File, File) {
    let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::openat(CWD, &name, flags, Mode::empty()).unwrap();
    (master.into(), slave.into())
}

#[test]
fn a_terminal_in_line_mode() {
    let (mut master, slave) = terminal();
    let mut modes = tcgetattr(&slave).unwrap();
    // Line mode stays; only what is typed is not shown, which would look like an answer.
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    let child = echo(slave.try_clone().unwrap(), slave);
    ping_twice(&mut master.try_clone().unwrap(), &mut master);
    assert_blocking(&child);
    // Control-D.
    master.write_all(&[4]).unwrap();
    ends(child);
    let after = tcgetattr(&master).unwrap();
    assert_eq!((after.local_modes, after.input_modes), (modes.local_modes, modes.input_modes));
}

#[test]
fn a_terminal_that_cannot_be_opened_again() {
    // The master's side counts as a terminal, but opening it again would give another one.
    let (master, mut slave) = terminal();
    let mut modes = tcgetattr(&slave).unwrap();
    modes.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    let mut child = echo(master.try_clone().unwrap(), master);
    ping_twice(&mut slave.try_clone().unwrap(), &mut slave);
    assert_blocking(&child);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Writes two lines at once, of which a terminal in line mode gives one for each read.
fn ping_twice(to: &mut File, from: &mut File) {
    let from = &mut BufReader::new(from);
    let mut line = String::new();
    for _ in 0..100 {
        to.write_all(format!("{HELLO}\n{HELLO}\n").as_bytes()).unwrap();
        expect(from, &mut line, HELLO);
        expect(from, &mut line, HELLO);
    }
}

#[test]
fn a_reader_that_pauses_holds_the_echo_back() {
    let (stdin, mut to) = std::io::pipe().unwrap();
    let (mut from, stdout) = std::io::pipe().unwrap();
    let child = echo(stdin, stdout);
    let id = child.id();
    let message = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(1000));
    let text = format!("{message}\n").repeat(40_000);
    let length = text.len();
    let writer = thread::spawn(move || to.write_all(text.as_bytes()).unwrap());
    // It sleeps once both pipes are full, whatever waits to be written.
    let mut byte = [0];
    from.read_exact(&mut byte).unwrap();
    while !std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap().contains(") S") {
        thread::yield_now();
    }
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
    assert!(peak < 16 << 10, "{peak} KiB");
    assert_eq!(std::io::copy(&mut from, &mut std::io::sink()).unwrap(), length as u64 - 1);
    writer.join().unwrap();
    ends(child);
}
