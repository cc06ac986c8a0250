//! Tests of the crate from outside.

#[cfg(all(feature = "client", feature = "hyper"))]
mod both;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod login;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "client")]
mod store;

use std::time::Duration;

/// The longest that a test waits for something that happens at once on an idle machine.
const DEADLINE: Duration = Duration::from_secs(20);

/// The processor time of this thread, to which other tests and other programs add nothing.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("a time is not negative")
}

/// The time since the first call, where no clock of the thread is known.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
