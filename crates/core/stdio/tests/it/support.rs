use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags};

/// Long enough for a busy machine; a test that needs it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Runs a test, which must end.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LONG, test).await.expect("the test hangs") })
}

pub(crate) const HELLO: &str = r#"{"jsonrpc":"2.0","method":"hello"}"#;

/// The program of an example, which cargo builds with the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples");
    path.push(name);
    assert!(path.exists(), "{} is missing: run `cargo build --examples`", path.display());
    path
}

/// A process, to wait for although it is not a child of ours.
#[derive(Debug)]
pub(crate) struct Stranger(Option<rustix::fd::OwnedFd>);

impl Stranger {
    /// Takes hold of a process before something happens to it.
    pub(crate) fn of(id: u32) -> Self {
        let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        Self(rustix::process::pidfd_open(id, PidfdFlags::empty()).ok())
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&self) {
        assert!(self.ends_within(LONG), "the process lives on");
    }

    fn ends_within(&self, time: Duration) -> bool {
        // If it could not be opened it was gone by then.
        let Some(fd) = &self.0 else { return true };
        let mut polled = [rustix::event::PollFd::new(fd, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut polled, Some(&time.try_into().unwrap())).unwrap() == 1
    }
}

/// Kills a process that takes too long, so that a test which waits for it fails.
pub(crate) fn watch(process: &std::process::Child) {
    let stranger = Stranger::of(process.id());
    std::thread::spawn(move || {
        if !stranger.ends_within(LONG)
            && let Some(fd) = &stranger.0
        {
            rustix::process::pidfd_send_signal(fd, rustix::process::Signal::KILL).unwrap();
        }
    });
}
