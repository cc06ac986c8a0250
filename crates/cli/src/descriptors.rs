//! The limit of open files: whether it leaves enough for the command.

use std::error::Error;
use std::io;

/// How many descriptors a command needs besides those that it was started with: of the runtime, of signals, and of the pipes
/// to one program while that starts.
pub(crate) const NEEDED: usize = 20;

/// Fails if fewer descriptors are free than are needed. tokio panics without those of signals.
#[cfg(unix)]
pub(crate) fn check(needed: usize) -> anyhow::Result<()> {
    use std::fs::File;

    use anyhow::Context as _;

    let opened: io::Result<Vec<File>> = (0..needed).map(|_| File::open("/dev/null")).collect();
    match opened {
        Err(error) if is_too_many_files(&error) => {
            Err(error).with_context(|| format!("this command needs {needed} more open files"))
        }
        // Without the device nothing is known.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(crate) fn check(_: usize) -> anyhow::Result<()> {
    Ok(())
}

/// Whether the process, or the system, has as many files open as it may have.
pub(crate) fn is_too_many_files(error: &(dyn Error + 'static)) -> bool {
    // 23 and 24 on every Unix: `ENFILE` and `EMFILE`.
    let is_limit = |code| matches!(code, Some(23 | 24)) && cfg!(unix);
    error.downcast_ref::<io::Error>().is_some_and(|error| is_limit(error.raw_os_error()))
}

/// The limit of open files, for people.
pub(crate) fn files_text() -> String {
    #[cfg(unix)]
    if let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        return format!("the limit of open files is {limit} (`ulimit -n`)");
    }
    "the limit of open files is reached".to_owned()
}
