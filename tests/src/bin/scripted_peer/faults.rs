//! The faults whose code is longer than a line.

use std::fs::File;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use rustix::stdio::{dup2_stdin, dup2_stdout};

/// Bytes of one write.
const PIECE: usize = 64 << 10;

/// Lines that are not messages, each for another reason. The last has no id.
const GARBAGE: [&[u8]; 9] = [
    b"Starting up... please wait",
    b"\xff\xfe\x80\x00\x01 not UTF-8 \xc3\x28",
    b"{\"jsonrpc\":\"2.0\",\"id\":",
    b"[]",
    b"[[[[[[",
    b"null",
    b"{\"jsonrpc\":\"1.0\",\"hello\":true}",
    b"\x00\x00\x00\x00",
    b"{\"jsonrpc\":\"2.0\",\"result\":{}}",
];

pub(crate) fn exit() -> ! {
    eprintln!("scripted: I have had enough");
    std::process::exit(3)
}

pub(crate) fn kill() -> ! {
    kill_process(getpid(), Signal::KILL).expect("one may kill oneself");
    unreachable!("SIGKILL cannot be survived")
}

pub(crate) fn half_line() -> ! {
    write(b"{\"jsonrpc\":\"2.0\",\"id\":");
    exit()
}

/// Closes the descriptor and puts an unconnected pipe in its place.
pub(crate) fn close_stdout() {
    dup2_stdout(null()).expect("a descriptor can be replaced");
}

/// See [`close_stdout`].
pub(crate) fn close_stdin() {
    dup2_stdin(null()).expect("a descriptor can be replaced");
}

fn null() -> File {
    File::options().read(true).write(true).open("/dev/null").expect("every system has it")
}

pub(crate) fn sleep_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

pub(crate) fn garbage() {
    for line in GARBAGE {
        write(line);
        write(b"\n");
    }
}

/// Writes notifications without end. Sleeps after each batch for as long as its writing took, to leave the processors to other
/// tests.
pub(crate) fn flood() -> ! {
    let lines = b"{\"jsonrpc\":\"2.0\",\"method\":\"_noise\"}\n".repeat(10_000);
    loop {
        let started = Instant::now();
        write(&lines);
        thread::sleep(started.elapsed());
    }
}

/// A line of 256 MiB that begins and ends like this.
pub(crate) fn long_line(start: &str, end: &str) {
    write(start.as_bytes());
    let piece = vec![b'x'; PIECE];
    for _ in 0..(256 << 20) / PIECE {
        write(&piece);
    }
    write(end.as_bytes());
}

/// 8 MiB on stderr.
pub(crate) fn chatter() {
    let line = [b"chatter ".repeat(127), b"chatter\n".to_vec()].concat();
    let mut stderr = io::stderr().lock();
    for _ in 0..(8 << 20) / line.len() {
        // The reader may be gone.
        if stderr.write_all(&line).is_err() {
            return;
        }
    }
}

/// Writes to stdout. The peer ends when its reader is gone.
pub(crate) fn write(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(4);
    }
}
