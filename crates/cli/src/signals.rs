//! Signals that interrupt a command.

use std::io;

use crate::failure::Interrupted;

/// Handles SIGXFSZ, so that a write beyond the limit of a file's size (`RLIMIT_FSIZE`) fails and does not end the process.
///
/// The signal is not ignored: child processes would inherit that.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when its stream is dropped.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

#[cfg(not(unix))]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}

/// SIGINT, SIGTERM and SIGHUP. They no longer end the process by themselves.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    /// When to check whether stdin was hung up. None if that does not count.
    checks: Option<tokio::time::Interval>,
}

#[cfg(unix)]
impl Signals {
    /// Signals that arrive from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            checks: None,
        })
    }

    /// Counts a hung-up terminal at stdin as a signal, every 200 ms. A process without a controlling terminal gets no SIGHUP,
    /// and its reads of keys never end.
    pub(crate) fn or_terminal_gone(mut self) -> Self {
        const STEP: std::time::Duration = std::time::Duration::from_millis(200);
        self.checks = io::IsTerminal::is_terminal(&io::stdin()).then(|| tokio::time::interval(STEP));
        self
    }

    /// Completes at the next signal, with the error for a command that it ends.
    pub(crate) async fn interrupted(&mut self) -> Interrupted {
        use rustix::process::Signal;
        let Self { interrupt, terminate, hang_up, checks } = self;
        let gone = async {
            match checks {
                Some(checks) => {
                    while !is_terminal_gone() {
                        checks.tick().await;
                    }
                    checks.tick().await;
                }
                None => std::future::pending().await,
            }
        };
        let signal = tokio::select! {
            _ = interrupt.recv() => Signal::INT,
            _ = terminate.recv() => Signal::TERM,
            _ = hang_up.recv() => Signal::HUP,
            () = gone => Signal::HUP,
        };
        Interrupted(u8::try_from(128 + signal.as_raw()).unwrap_or(1))
    }
}

/// Whether the terminal at stdin was hung up.
#[cfg(unix)]
pub(crate) fn is_terminal_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    // `poll` reports these events unasked.
    let mut terminal = [PollFd::new(&stdin, PollFlags::empty())];
    let polled = poll(&mut terminal, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    polled.is_ok() && terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

#[cfg(not(unix))]
pub(crate) fn is_terminal_gone() -> bool {
    false
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn or_terminal_gone(self) -> Self {
        self
    }

    pub(crate) async fn next(&mut self) {
        self.interrupted().await;
    }

    pub(crate) async fn interrupted(&mut self) -> Interrupted {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        // What a shell reports for an interrupted program elsewhere.
        Interrupted(130)
    }
}
