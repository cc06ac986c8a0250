//! Waits for the end of a process: by a pidfd on Linux, and by a check every 10 ms on other systems.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};
use tokio::time::Sleep;

/// The interval of the checks on a system without descriptors for processes.
const INTERVAL: Duration = Duration::from_millis(10);

/// Completes when a process may have ended: by a descriptor of the process on Linux, else at intervals.
#[derive(Debug, Default)]
pub(super) enum Watch {
    #[default]
    Fresh,
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>),
    Interval(Pin<Box<Sleep>>),
}

impl Watch {
    /// Waits until `process`, which must not be reaped yet, has ended or may have.
    pub(super) fn poll(&mut self, process: u32, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match self {
                Self::Fresh => *self = Self::of(process),
                #[cfg(target_os = "linux")]
                Self::Descriptor(fd) => match ready!(fd.poll_read_ready(cx)) {
                    Ok(mut ready) => {
                        ready.clear_ready();
                        return Poll::Ready(());
                    }
                    Err(_) => *self = Self::interval(),
                },
                Self::Interval(sleep) => {
                    ready!(sleep.as_mut().poll(cx));
                    *self = Self::interval();
                    return Poll::Ready(());
                }
            }
        }
    }

    /// As [`poll`](Self::poll), but never completes on a system that needs checks at intervals.
    pub(super) fn poll_reported(&mut self, process: u32, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::Fresh = self
            && let Some(descriptor) = Self::descriptor(process)
        {
            *self = descriptor;
        }
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(_) => self.poll(process, cx),
            _ => {
                let _ = cx; // looked at with a descriptor only
                Poll::Pending
            }
        }
    }

    fn of(process: u32) -> Self {
        Self::descriptor(process).unwrap_or_else(Self::interval)
    }

    #[cfg(target_os = "linux")]
    fn descriptor(process: u32) -> Option<Self> {
        let process = rustix::process::Pid::from_raw(process.try_into().ok()?)?;
        let fd = rustix::process::pidfd_open(process, rustix::process::PidfdFlags::empty()).ok()?;
        crate::descriptor::register(fd, Interest::READABLE).ok().map(Self::Descriptor)
    }

    #[cfg(not(target_os = "linux"))]
    fn descriptor(_process: u32) -> Option<Self> {
        None
    }

    fn interval() -> Self {
        Self::Interval(Box::pin(tokio::time::sleep(INTERVAL)))
    }
}
