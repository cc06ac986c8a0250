//! `record` and the signals that it gets.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

#[test]
fn record_passes_its_signal_on_to_the_program() {
    // A shell looks for a signal after each command.
    let with_traps = "trap 'exit 3' INT; trap 'exit 4' TERM; echo; while :; do :; done";
    let without = "echo; while :; do :; done";
    for (script, signal, code) in [
        (without, Signal::INT, 130),
        (without, Signal::TERM, 143),
        (with_traps, Signal::INT, 3),
        (with_traps, Signal::TERM, 4),
    ] {
        let folder = tempfile::tempdir().expect("there is a folder for files");
        let mut child = Command::new(env!("CARGO_BIN_EXE_agentwire"))
            .args(["record", "--record"])
            .arg(folder.path().join("calls.jsonl"))
            .args(["--", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("it is a pipe"));
        lines.read_line(&mut line).expect("the program runs");
        let id = Pid::from_child(&child);
        kill_process(id, signal).expect("it runs");
        let status = child.wait().expect("it is our child");
        assert_eq!(status.code(), Some(code), "{script}: {signal:?}");
    }
}
