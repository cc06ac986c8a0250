//! Records the lines between a program and the process that started it.
//!
//! ```text
//! recorder acp|mcp PROGRAM [ARGUMENT]...
//! ```
//!
//! Both are programs under test. It passes on every line as it is, and ends when the program ends and as it ends.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use agentwire_tests::Recording;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(protocol), Some(program)) = (arguments.next(), arguments.next()) else {
        panic!("the arguments are those of the first lines of this file");
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let recording = Arc::new(Recording::begin(&protocol, "both"));
    let from_client = recording.clone();
    // Not joined: the program may end first.
    thread::spawn(move || pass_on(io::stdin(), stdin.expect("it is a pipe"), &from_client, "client"));
    pass_on(stdout.expect("it is a pipe"), io::stdout(), &recording, "server");
    let status = child.wait().expect("it is our child");
    std::process::exit(status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1));
}

/// Passes on lines until the input ends or the reader is gone.
fn pass_on(from: impl Read, mut to: impl Write, recording: &Recording, name: &str) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if let Some(whole) = line.strip_suffix(b"\n") {
            recording.add(name, whole);
        }
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
        line.clear();
    }
}
