//! Scripts that tests run as programs.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes an executable file.
///
/// Another process writes it: a program that another thread starts in that time would inherit the open file, and the kernel does not run
/// a file that is open for writing ("Text file busy").
///
/// # Panics
///
/// If the file cannot be written.
pub fn write_program(path: &Path, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"cat > "$0" && chmod 755 "$0""#]).arg(path).stdin(Stdio::piped());
    let mut shell = shell.spawn().expect("there is a shell");
    let written = shell.stdin.take().expect("it is piped").write_all(script.as_bytes());
    let status = shell.wait().expect("it is ours");
    assert!(written.is_ok() && status.success(), "{}: {written:?}, {status}", path.display());
}
