//! Checks that the limit of open files leaves enough descriptors for a command.

use std::error::Error;
use std::io;

/// The descriptors that a command opens itself: for the runtime, for signals, and for the pipes of one program while it starts.
pub(crate) const NEEDED: usize = 20;

/// Fails if fewer than `needed` descriptors are free. tokio panics if it gets none for signals.
#[cfg(unix)]
pub(crate) fn check(needed: usize) -> anyhow::Result<()> {
    use std::fs::File;

    use anyhow::Context as _;

    let opened: io::Result<Vec<File>> = (0..needed).map(|_| File::open("/dev/null")).collect();
    match opened {
        Err(error) if is_too_many_files(&error) => {
            Err(error).with_context(|| format!("this command needs {needed} more open files"))
        }
        // Without the device, the limit cannot be checked.
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(crate) fn check(_: usize) -> anyhow::Result<()> {
    Ok(())
}

/// Whether the process or the system has reached its limit of open files.
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
