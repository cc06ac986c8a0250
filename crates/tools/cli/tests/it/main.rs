//! The `agentwire` command as a process. `tests/tests` runs it against other programs.
//!
//! Cargo builds the programs of a package for a test of the workspace if the package has an integration test, which is this one.

mod absent;
#[cfg(target_os = "linux")]
mod full_pipe;
#[cfg(all(unix, feature = "record"))]
mod interrupt;
#[cfg(all(unix, feature = "check"))]
mod limits;

use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentwire"));
    command.args(arguments).stdin(Stdio::null()).output().expect("the command starts")
}

#[test]
fn version_is_that_of_the_package() {
    let output = run(&["--version"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let expected = concat!("agentwire ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn wrong_usage_exits_with_2_and_prints_to_stderr_alone() {
    for (arguments, why) in [
        (&["no-such-command"][..], "no-such-command"),
        (&["server", "--no-such-option"], "--no-such-option"),
        (&["tools"], "the server is missing"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains(why), "{arguments:?}: {printed}");
    }
}
