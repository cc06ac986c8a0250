//! ^C, and the wish of others that we end.

use std::io;

/// Has a write fail that would make a file larger than the limit (`RLIMIT_FSIZE`), where the system would end the process.
///
/// The signal is handled and not ignored: programs that are started later would inherit that.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // It stays handled although nobody waits for it.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

#[cfg(not(unix))]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}

/// Interrupts that arrive from now on. They no longer end the process by themselves.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    /// When it is looked whether the terminal at stdin is there, where that matters.
    looks: Option<tokio::time::Interval>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            looks: None,
        })
    }

    /// Counts a terminal at stdin that has gone as an interrupt, again and again: who has no terminal of their own hears of
    /// that by no signal, and whoever reads keys from it never stops reading.
    pub(crate) fn or_terminal_gone(mut self) -> Self {
        const STEP: std::time::Duration = std::time::Duration::from_millis(200);
        self.looks = io::IsTerminal::is_terminal(&io::stdin()).then(|| tokio::time::interval(STEP));
        self
    }

    /// Completes at the next one.
    pub(crate) async fn next(&mut self) {
        let Self { interrupt, terminate, hang_up, looks } = self;
        let gone = async {
            match looks {
                Some(looks) => {
                    while !is_terminal_gone() {
                        looks.tick().await;
                    }
                    looks.tick().await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
            () = gone => {}
        }
    }
}

/// Whether the terminal at stdin was hung up.
#[cfg(unix)]
pub(crate) fn is_terminal_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    // These are told whatever is asked for.
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
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
