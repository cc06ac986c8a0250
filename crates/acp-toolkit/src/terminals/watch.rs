use std::time::Duration;

/// How often to check where the system has no notification.
const INTERVAL: Duration = Duration::from_millis(10);

/// Completes when it is time to check whether a process has ended.
#[derive(Debug)]
pub(super) struct Watch {
    #[cfg(target_os = "linux")]
    descriptor: Option<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>>,
}

impl Watch {
    /// Watches `process`, which must be a child that was not waited for. Must be called in a runtime.
    #[cfg(target_os = "linux")]
    pub(super) fn new(process: u32) -> Self {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        use tokio::io::Interest;
        use tokio::io::unix::AsyncFd;

        #[allow(
            deprecated,
            reason = "the successor is unsafe because of types that can exchange their descriptor, which an OwnedFd cannot"
        )]
        let register = |fd| AsyncFd::with_interest(fd, Interest::READABLE).ok();
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        let descriptor = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).and_then(register);
        Self { descriptor }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new(_: u32) -> Self {
        Self {}
    }

    /// Waits until the process has ended, or may have.
    pub(super) async fn wait(&self) {
        #[cfg(target_os = "linux")]
        if let Some(descriptor) = &self.descriptor
            && let Ok(mut ready) = descriptor.readable().await
        {
            ready.clear_ready();
            return;
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
