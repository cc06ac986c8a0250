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
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Completes at the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
