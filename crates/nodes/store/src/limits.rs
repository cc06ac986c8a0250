//! The limits of stores that keep everything in memory.

/// The limits of a store in memory, in bytes. Each item counts with the memory around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    pub(crate) session_events: usize,
    pub(crate) events: usize,
    pub(crate) records: usize,
    pub(crate) names: usize,
}

impl StoreLimits {
    /// The default of [`session_events`](Self::session_events): 4 MiB.
    pub const SESSION_EVENTS: usize = 4 << 20;
    /// The default of [`events`](Self::events): 16 MiB.
    pub const EVENTS: usize = 16 << 20;
    /// The default of [`records`](Self::records): 64 MiB.
    pub const RECORDS: usize = 64 << 20;
    /// The default of [`names`](Self::names): 16 MiB.
    pub const NAMES: usize = 16 << 20;

    /// The defaults.
    pub const fn new() -> Self {
        Self {
            session_events: Self::SESSION_EVENTS,
            events: Self::EVENTS,
            records: Self::RECORDS,
            names: Self::NAMES,
        }
    }

    /// Sets the limit for the events of one session. Beyond it the session's oldest events are forgotten. A larger event is
    /// refused.
    pub const fn session_events(mut self, bytes: usize) -> Self {
        self.session_events = bytes;
        self
    }

    /// Sets the limit for the events of all sessions. Beyond it the owner with the most bytes loses the oldest events of its
    /// largest session, until a sixteenth is free.
    pub const fn events(mut self, bytes: usize) -> Self {
        self.events = bytes;
        self
    }

    /// Sets the limit for the records of sessions, of which one owner gets up to a quarter. Beyond it new records are refused.
    pub const fn records(mut self, bytes: usize) -> Self {
        self.records = bytes;
        self
    }

    /// Sets the limit for the names that are used once, of which one owner gets up to a quarter. Beyond it new names are refused.
    pub const fn names(mut self, bytes: usize) -> Self {
        self.names = bytes;
        self
    }
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self::new()
    }
}
