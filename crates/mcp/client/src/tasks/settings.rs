//! `Tasks`: the settings by which the client follows tasks.

use std::time::Duration;

use agentwire_wire_derive::Build;

/// How tasks are followed; see [`Client::tasks`](crate::Client::tasks).
///
/// See <https://modelcontextprotocol.io/extensions/tasks/overview>, and
/// <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks> for those of 2025-11-25.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_mcp_client::{Client, Tasks};
///
/// let client = Client::new("my-host", "1.0.0").tasks(Tasks::new().longest_interval(Duration::from_secs(30)));
/// # let _ = client;
/// ```
#[derive(Clone, Debug, Build)]
#[build(default)]
pub struct Tasks {
    /// Sets the interval between two requests for a task's state if the server suggests none (default 1 s).
    #[build(default = Duration::from_secs(1))]
    poll_interval: Duration,
    /// Sets the shortest interval, whatever the server suggests (default 100 ms).
    #[build(default = Duration::from_millis(100))]
    shortest_interval: Duration,
    /// Sets the longest interval, whatever the server suggests (default 1 h).
    #[build(default = Duration::from_secs(3600))]
    longest_interval: Duration,
}

impl Tasks {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The interval before the next request.
    pub(crate) fn interval(&self, suggested: Option<Duration>) -> Duration {
        let suggested = suggested.map(|suggested| suggested.min(self.longest_interval));
        suggested.unwrap_or(self.poll_interval).max(self.shortest_interval)
    }
}
