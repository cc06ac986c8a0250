//! The revisions of MCP, as far as a transport can tell them apart.

/// A revision, in the order in which they appeared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Revision {
    /// The first; it has no Streamable HTTP, but may be agreed on over it.
    November2024,
    /// Brought Streamable HTTP, and batches.
    March2025,
    /// Brought the version header, and took batches away.
    June2025,
    /// Brought events that carry only an id, so that a stream can be resumed before its first message.
    November2025,
    /// Has no sessions.
    July2026,
}

impl Revision {
    /// Every revision, oldest first.
    pub(crate) const ALL: [Self; 5] =
        [Self::November2024, Self::March2025, Self::June2025, Self::November2025, Self::July2026];

    /// Reads the date that names a revision.
    pub(crate) fn parse(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// The date that names it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::November2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }

    /// Whether each request stands alone, without a session.
    pub(crate) fn is_stateless(self) -> bool {
        self >= Self::July2026
    }

    /// Whether a body may be an array of messages.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::March2025
    }

    /// Whether a stream begins with an event that has an id and no data.
    pub(crate) fn primes_streams(self) -> bool {
        self >= Self::November2025 && !self.is_stateless()
    }
}
