//! Finds and runs the programs of package managers.

use std::collections::VecDeque;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use agentwire_jsonrpc::Printable;
use agentwire_transport_stdio::find_program;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::group::Group;

/// How many bytes of stdout are read.
const MAX_OUTPUT: u64 = 1 << 20;
/// How many bytes of the end of stderr are kept.
const MAX_STDERR: usize = 8 << 10;
/// How many lines of stderr are shown.
const MAX_LINES: usize = 20;
/// How long `--version` may take.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the output of a program may stay open after its end.
const AFTER_END: Duration = Duration::from_secs(2);

/// Why a program did not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It is in no absolute folder of `PATH`.
    #[error("`{0}` is not installed: no folder of PATH has it")]
    Missing(String),
    /// It cannot be started, or its output cannot be read.
    #[error("`{program}` cannot be run")]
    Io {
        /// Its name.
        program: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// It reports a failure.
    #[error("`{program}` failed ({status}){}", Tail(.stderr))]
    Failed {
        /// Its name.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its stderr.
        stderr: String,
    },
    /// It did not end in time, and was killed.
    #[error("`{program}` took longer than {} s{}", .limit.as_secs(), Tail(.stderr))]
    TimedOut {
        /// Its name.
        program: String,
        /// The limit.
        limit: Duration,
        /// The last lines of its stderr.
        stderr: String,
    },
}

struct Tail<'a>(&'a str);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trim() {
            "" => Ok(()),
            text => write!(f, ":\n{}", Printable::new(text)),
        }
    }
}

/// The search path of programs: the absolute folders of a `PATH`. Relative ones are ignored, because what is found there
/// depends on the current folder.
#[derive(Clone, Debug, Default)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// The folders of a text like `PATH`.
    pub fn new(path: impl AsRef<OsStr>) -> Self {
        Self(env::split_paths(path.as_ref()).filter(|folder| folder.is_absolute()).collect())
    }

    /// The folders of `PATH`.
    pub fn from_environment() -> Self {
        env::var_os("PATH").map(Self::new).unwrap_or_default()
    }

    /// The absolute path of a program.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        find_program(name, self.0.iter().cloned())
    }

    /// The text for the `PATH` of a program. It is never empty, because an empty one means the current folder.
    pub(crate) fn variable(&self) -> OsString {
        let text = env::join_paths(&self.0).unwrap_or_default();
        if text.is_empty() && cfg!(unix) { "/usr/bin:/bin".into() } else { text }
    }
}

/// Whether a file can be executed.
pub(crate) fn is_executable(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    file.is_file()
}

/// The output of a program for `--version`, up to 200 characters of its first line.
pub(crate) async fn program_version(
    path: &SearchPath,
    name: &str,
    folder: &Path,
) -> Result<String, RunError> {
    let run = Run { path, name, args: &["--version".into()], env: &[], folder, limit: VERSION_TIMEOUT };
    let output = run.output().await?;
    Ok(output.lines().next().unwrap_or_default().trim().chars().take(200).collect())
}

/// A program to run to its end.
pub(crate) struct Run<'a> {
    /// Its search path, and its own `PATH`.
    pub(crate) path: &'a SearchPath,
    pub(crate) name: &'a str,
    pub(crate) args: &'a [OsString],
    pub(crate) env: &'a [(&'a str, &'a OsStr)],
    /// The folder in which it runs.
    pub(crate) folder: &'a Path,
    pub(crate) limit: Duration,
}

impl Run<'_> {
    /// Runs the program, and returns its stdout up to 1 MiB. Dropping the future kills the program and what it has started.
    pub(crate) async fn output(&self) -> Result<String, RunError> {
        let program = || self.name.to_owned();
        let path = self.path.find(self.name).ok_or_else(|| RunError::Missing(program()))?;
        let mut command = Command::new(path);
        command
            .args(self.args)
            .envs(self.env.iter().copied())
            .env("PATH", self.path.variable())
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let io = |source| RunError::Io { program: program(), source };
        let mut group = Group::spawn(command).map_err(io)?;
        let (stdout, stderr) = group.outputs().map_err(io)?;
        let (mut output, mut last) = (Vec::new(), VecDeque::new());
        let ended = {
            let reads = async {
                tokio::join!(read_start(stdout, &mut output), read_end(stderr, &mut last));
            };
            tokio::pin!(reads);
            let whole = async {
                let mut is_read = false;
                let status = loop {
                    tokio::select! {
                        status = group.wait() => break status,
                        () = &mut reads, if !is_read => is_read = true,
                    }
                };
                if !is_read {
                    // What has escaped may hold its output open.
                    let _rest = tokio::time::timeout(AFTER_END, reads).await;
                }
                status
            };
            tokio::time::timeout(self.limit, whole).await
        };
        let stderr = last_lines(last);
        match ended {
            Err(_) => Err(RunError::TimedOut { program: program(), limit: self.limit, stderr }),
            Ok(Err(source)) => Err(io(source)),
            Ok(Ok(status)) if !status.success() => {
                Err(RunError::Failed { program: program(), status, stderr })
            }
            Ok(Ok(_)) => Ok(String::from_utf8_lossy(&output).into_owned()),
        }
    }
}

/// Reads all, and keeps the first [`MAX_OUTPUT`] bytes.
async fn read_start(stream: Option<impl AsyncRead + Unpin>, output: &mut Vec<u8>) {
    let Some(mut stream) = stream else { return };
    let kept = (&mut stream).take(MAX_OUTPUT).read_to_end(output).await;
    if kept.is_ok() {
        let _rest = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    }
}

/// Reads all, and keeps the last [`MAX_STDERR`] bytes.
async fn read_end(stream: Option<impl AsyncRead + Unpin>, last: &mut VecDeque<u8>) {
    let Some(mut stream) = stream else { return };
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        last.extend(&piece[..length]);
        last.drain(..last.len().saturating_sub(MAX_STDERR));
    }
}

fn last_lines(bytes: VecDeque<u8>) -> String {
    let text = String::from_utf8_lossy(&Vec::from(bytes)).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].join("\n")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn sh(script: &str, folder: &Path, limit: Duration) -> Result<String, RunError> {
        let path = SearchPath::from_environment();
        let args = ["-c".into(), script.into()];
        Run { path: &path, name: "sh", args: &args, env: &[("X_TEST", OsStr::new("1"))], folder, limit }
            .output()
            .await
    }

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn output_status_and_last_lines_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo $X_TEST; pwd";
        let output = sh(script, folder.path(), LONG).await.unwrap();
        assert_eq!(output, format!("1\n{}\n", folder.path().canonicalize().unwrap().display()));
        let script = "for i in 1 2 3; do echo \"line $i\" >&2; done; exit 3";
        let error = sh(script, folder.path(), LONG).await.unwrap_err();
        assert_eq!(error.to_string(), "`sh` failed (exit status: 3):\nline 1\nline 2\nline 3");
        let path = SearchPath::new("relative:.");
        let missing =
            Run { path: &path, name: "sh", args: &[], env: &[], folder: folder.path(), limit: LONG };
        assert!(
            matches!(missing.output().await, Err(RunError::Missing(_))),
            "relative folders are passed over"
        );
    }

    #[tokio::test]
    async fn output_is_bounded_and_never_blocks_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let script = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2";
        let output = sh(script, folder.path(), LONG).await.unwrap();
        assert_eq!(output.len(), MAX_OUTPUT as usize);
    }

    #[test]
    fn a_path_variable_names_no_relative_folder() {
        assert_eq!(SearchPath::new("node_modules/.bin:/usr/bin::.").variable(), "/usr/bin");
        assert_eq!(SearchPath::new(".:").variable(), "/usr/bin:/bin", "an empty one is the current folder");
    }

    #[tokio::test]
    async fn a_program_that_takes_too_long_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let script = "sleep 100 & echo $! > child; wait";
        let error = sh(script, folder.path(), Duration::from_millis(500)).await.unwrap_err();
        assert_eq!(error.to_string(), "`sh` took longer than 0 s");
        ends(folder.path()).await;
    }

    #[tokio::test]
    async fn processes_of_a_program_are_killed() {
        let folder = tempfile::tempdir().unwrap();
        for start in ["sleep 100", "setsid sleep 100"] {
            // With `setsid` it is in another group, as a daemon is.
            let script = format!("{start} > /dev/null 2>&1 & echo $! > child");
            if cfg!(target_os = "linux") || start == "sleep 100" {
                sh(&script, folder.path(), LONG).await.unwrap();
                ends(folder.path()).await;
            }
        }
    }

    /// Waits until the process with the id in the file `child` ends.
    async fn ends(folder: &Path) {
        let child: i32 = std::fs::read_to_string(folder.join("child")).unwrap().trim().parse().unwrap();
        let child = rustix::process::Pid::from_raw(child).unwrap();
        // The kernel ends the process and its new parent reaps it later, without an event that a test can wait for.
        for _ in 0..500 {
            let state =
                std::fs::read_to_string(format!("/proc/{child}/stat", child = child.as_raw_nonzero()));
            if rustix::process::test_kill_process(child).is_err()
                || state.is_ok_and(|state| state.contains(") Z "))
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{child:?} still runs");
    }
}
