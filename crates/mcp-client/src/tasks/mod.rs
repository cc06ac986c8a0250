//! Calls that a server answers later: tasks, which are asked after until they are done. The two eras have two protocols
//! for it, `core` and `extension`; what they have in common is in `run`.

pub(crate) mod core;
pub(crate) mod extension;
pub(crate) mod handle;
mod leftovers;
pub(crate) mod patience;
mod report;
mod run;
mod supports;

use std::sync::Arc;
use std::time::Duration;

use agentwire_sync::Mutex;

pub use self::handle::{Started, Task};
pub(crate) use self::leftovers::{Leave, fresh, side};
pub use self::report::TaskState;
pub(crate) use self::report::{CreatedTask, Report, read_state};
pub(crate) use self::run::{ProgressHooks, decode, follow};
pub(crate) use self::supports::Supports;

/// Hears how a task stands, whenever that is something else than before.
pub(crate) type TaskHook = Arc<Mutex<Box<dyn FnMut(&TaskState) + Send>>>;

/// How tasks are followed; see [`Client::tasks`](crate::Client::tasks).
///
/// See <https://modelcontextprotocol.io/extensions/tasks/overview>, and
/// <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks> for those of 2025-11-25.
#[derive(Clone, Debug)]
pub struct Tasks {
    poll_interval: Duration,
    shortest_interval: Duration,
    longest_interval: Duration,
}

impl Tasks {
    /// With the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long to wait between two questions about a task of which the server does not say it (default 1 s).
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Sets how long to wait at least, also where a server would be asked more often (default 100 ms).
    #[must_use]
    pub fn shortest_interval(mut self, interval: Duration) -> Self {
        self.shortest_interval = interval;
        self
    }

    /// Sets how long to wait at most, also where a server would be left alone for longer (default 1 h).
    #[must_use]
    pub fn longest_interval(mut self, interval: Duration) -> Self {
        self.longest_interval = interval;
        self
    }

    /// How long to wait before the next question.
    pub(crate) fn interval(&self, suggested: Option<Duration>) -> Duration {
        let suggested = suggested.map(|suggested| suggested.min(self.longest_interval));
        suggested.unwrap_or(self.poll_interval).max(self.shortest_interval)
    }
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            poll_interval: Duration::from_secs(1),
            shortest_interval: Duration::from_millis(100),
            longest_interval: Duration::from_secs(3600),
        }
    }
}
