use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::support::{HELLO, example};

/// Starts the echo with these as its stdin and stdout.
fn echo(stdin: impl Into<OwnedFd>, stdout: impl Into<OwnedFd>) -> Child {
    Command::new(example("echo")).stdin(stdin.into()).stdout(stdout.into()).spawn().unwrap()
}

fn is_nonblocking(fd: impl AsFd) -> bool {
    rustix::fs::fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

/// Has a conversation: message by message, byte by byte, many at once, one that is very large.
fn converse(mut to: impl Write + Send + 'static, from: &mut impl BufRead) {
    let mut line = String::new();
    for _ in 0..10 {
        to.write_all(format!("{HELLO}\n").as_bytes()).unwrap();
        expect(from, &mut line, HELLO);
    }
    for byte in format!("{HELLO}\r\n\n").bytes() {
        to.write_all(&[byte]).unwrap();
    }
    expect(from, &mut line, HELLO);

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
    let child = echo(stdin.try_clone().unwrap(), stdout.try_clone().unwrap());
    converse(to, &mut BufReader::new(from));
    assert!(!is_nonblocking(&stdin) && !is_nonblocking(&stdout));
    ends(child);
}

#[test]
fn one_socket_for_both() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let child = echo(theirs.try_clone().unwrap(), theirs.try_clone().unwrap());
    let to = ours.try_clone().unwrap();
    converse(to, &mut BufReader::new(ours.try_clone().unwrap()));
    assert!(!is_nonblocking(&theirs));
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    ends(child);
}

#[test]
fn named_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let path = folder.path().join(name);
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // Opened for both, neither open waits for the other.
        let both = File::options().read(true).write(true).open(&path).unwrap();
        let write = File::options().write(true).open(&path).unwrap();
        (File::open(&path).unwrap(), write, both)
    };
    let (stdin, to, hold) = open("in");
    drop(hold);
    let (from, stdout, _hold) = open("out");
    let child = echo(stdin.try_clone().unwrap(), stdout.try_clone().unwrap());
    converse(to, &mut BufReader::new(from));
    assert!(!is_nonblocking(&stdin) && !is_nonblocking(&stdout));
    ends(child);
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{HELLO}\n").repeat(100_000);
    std::fs::write(folder.path().join("in"), &text).unwrap();
    let stdin = File::open(folder.path().join("in")).unwrap();
    let stdout = File::create(folder.path().join("out")).unwrap();
    ends(echo(stdin, stdout.try_clone().unwrap()));
    assert!(!is_nonblocking(&stdout));
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
    let child = echo(slave.try_clone().unwrap(), slave.try_clone().unwrap());
    let mut from = BufReader::new(master.try_clone().unwrap());
    let mut line = String::new();
    // Two lines at once: each read gives one.
    for _ in 0..100 {
        master.write_all(format!("{HELLO}\n{HELLO}\n").as_bytes()).unwrap();
        expect(&mut from, &mut line, HELLO);
        expect(&mut from, &mut line, HELLO);
    }
    // Control-D.
    master.write_all(&[4]).unwrap();
    ends(child);
    assert!(!is_nonblocking(&slave));
    let after = tcgetattr(&slave).unwrap();
    assert_eq!(after.local_modes, modes.local_modes);
    assert_eq!(after.input_modes, modes.input_modes);
}

#[test]
fn a_terminal_that_cannot_be_opened_again() {
    // The master's side counts as a terminal, but opening it again would give another one.
    let (master, mut slave) = terminal();
    let mut modes = tcgetattr(&slave).unwrap();
    modes.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    let mut child = echo(master.try_clone().unwrap(), master.try_clone().unwrap());
    let mut from = BufReader::new(slave.try_clone().unwrap());
    let mut line = String::new();
    for _ in 0..100 {
        slave.write_all(format!("{HELLO}\n{HELLO}\n").as_bytes()).unwrap();
        expect(&mut from, &mut line, HELLO);
        expect(&mut from, &mut line, HELLO);
    }
    assert!(!is_nonblocking(&master));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_reader_that_pauses_holds_the_echo_back() {
    let (stdin, mut to) = std::io::pipe().unwrap();
    let (mut from, stdout) = std::io::pipe().unwrap();
    let child = echo(stdin, stdout);
    let id = child.id();
    let text = format!("{HELLO}\n").repeat(1_000_000);
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
