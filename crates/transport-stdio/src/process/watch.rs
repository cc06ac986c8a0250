use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};
use tokio::time::Sleep;

/// How often to look where the system cannot be asked to tell.
const INTERVAL: Duration = Duration::from_millis(10);

/// Says when it is time to look whether a process has ended.
#[derive(Debug, Default)]
pub(super) enum Watch {
    #[default]
    Fresh,
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>),
    Interval(Pin<Box<Sleep>>),
}

impl Watch {
    /// Waits until `process`, which must not have been waited for, has ended or may have.
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

    fn of(process: u32) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(fd) = i32::try_from(process)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .and_then(|pid| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok())
            .and_then(|fd| crate::descriptor::register(fd, Interest::READABLE).ok())
        {
            return Self::Descriptor(fd);
        }
        let _ = process;
        Self::interval()
    }

    fn interval() -> Self {
        Self::Interval(Box::pin(tokio::time::sleep(INTERVAL)))
    }
}
