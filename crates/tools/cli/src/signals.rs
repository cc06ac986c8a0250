//! Handles signals that interrupt a command.

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

/// The timeout for this job to be stopped and continued: 1 s, without the time in which it is stopped. The kernel ignores the
/// signal if no shell can continue the process group.
#[cfg(unix)]
const STOP_LIMIT: std::time::Duration = std::time::Duration::from_secs(1);

/// Stops this job, as ^Z does at a terminal outside of raw mode. Returns when the shell continues it. Does nothing if no
/// shell can.
#[cfg(unix)]
pub(crate) async fn stop_process() {
    use rustix::process::Signal;
    use tokio::signal::unix::{SignalKind, signal};
    // `kill` returns before the stop if another thread takes the signal, so only SIGCONT shows that the stop is over.
    let continued = signal(SignalKind::from_raw(Signal::CONT.as_raw()));
    // Stops the whole job, as the terminal would: it may be a pipeline. The agent has its own process group, and continues.
    let stopped = rustix::process::kill_current_process_group(Signal::TSTP);
    if let (Ok(mut continued), Ok(())) = (continued, stopped) {
        let _stop_ignored = tokio::time::timeout(STOP_LIMIT, continued.recv()).await;
    }
}

/// Other systems have no jobs.
#[cfg(not(unix))]
pub(crate) async fn stop_process() {}

/// Streams of SIGINT, SIGTERM and SIGHUP, which no longer end the process by themselves. A signal that the command does not notice
/// within [`NOTICE_LIMIT`] still does: the command no longer listens, or is in a blocking call, such as a write to a full pipe.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    /// The interval of checks whether stdin was hung up. `None` without such checks.
    checks: Option<tokio::time::Interval>,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen for signals.
    pub(crate) fn listen() -> io::Result<Self> {
        unnoticed::watch();
        Self::streams()
    }

    fn streams() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            checks: None,
        })
    }

    /// Counts a hung-up terminal at stdin, which is checked every 200 ms, as a signal. A process without a controlling terminal gets
    /// no SIGHUP, and its reads of keys never end.
    pub(crate) fn or_terminal_gone(mut self) -> Self {
        const STEP: std::time::Duration = std::time::Duration::from_millis(200);
        self.checks = io::IsTerminal::is_terminal(&io::stdin()).then(|| tokio::time::interval(STEP));
        self
    }

    /// Completes at the next signal, with the error of the interrupted command.
    pub(crate) async fn interrupted(&mut self) -> Interrupted {
        let interrupted = self.next().await;
        unnoticed::notice();
        interrupted
    }

    async fn next(&mut self) -> Interrupted {
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

/// Completes at the next signal, and never if signals cannot be handled.
pub(crate) async fn interrupted() -> Interrupted {
    match Signals::listen() {
        Ok(mut signals) => signals.interrupted().await,
        Err(_) => std::future::pending().await,
    }
}

/// The time for a command to notice a signal: 3 s.
#[cfg(unix)]
const NOTICE_LIMIT: std::time::Duration = std::time::Duration::from_secs(3);

/// Ends the process at a signal that the command does not notice.
#[cfg(unix)]
mod unnoticed {
    use std::sync::Once;
    use std::time::{Duration, Instant};
    use std::{io, process, thread};

    use agentwire_sync::Mutex;
    use tokio::time::timeout_at;

    use super::{NOTICE_LIMIT, Signals};
    use crate::failure::Interrupted;

    /// The time at which a command last noticed a signal.
    static NOTICED: Mutex<Option<Instant>> = Mutex::new(None);

    /// The time by which a command may notice a signal earlier than this thread: 1 s, because either may be delayed.
    const SLACK: Duration = Duration::from_secs(1);

    static WATCH: Once = Once::new();

    pub(super) fn notice() {
        *NOTICED.lock() = Some(Instant::now());
    }

    /// Starts the watching thread once. If it cannot start, a signal that is not noticed does not end the process.
    pub(super) fn watch() {
        WATCH.call_once(|| {
            let _unwatched = thread::Builder::new().name("signals".into()).spawn(run);
        });
    }

    fn run() -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(end_unnoticed())
    }

    async fn end_unnoticed() -> io::Result<()> {
        let mut signals = Signals::streams()?;
        loop {
            let mut interrupted = signals.next().await;
            let mut newest = Instant::now();
            // A later signal still ends a command that notices one signal and then blocks.
            loop {
                let (deadline, since) = (newest + NOTICE_LIMIT, newest);
                while let Ok(next) = timeout_at(deadline.into(), signals.next()).await {
                    (interrupted, newest) = (next, Instant::now());
                }
                if NOTICED.lock().is_some_and(|noticed| noticed + SLACK >= newest) {
                    break;
                }
                if newest == since {
                    let Interrupted(code) = interrupted;
                    process::exit(code.into());
                }
            }
        }
    }
}

/// Whether the terminal at stdin was hung up.
#[cfg(unix)]
pub(crate) fn is_terminal_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    // `poll` always reports a hang-up, without a request for it.
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

    pub(crate) async fn interrupted(&mut self) -> Interrupted {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        // The code that a shell reports on Unix for an interrupted program.
        Interrupted(130)
    }
}
