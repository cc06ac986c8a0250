use std::cmp::Reverse;
use std::path::PathBuf;

use agentwire_acp_schema::v1::SessionId;
use serde::{Deserialize, Serialize};

use super::Timestamp;

/// What is known of a session without its records: what a list of sessions shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionHeader {
    /// Names the session.
    pub session_id: SessionId,
    /// The directory it works in, an absolute path.
    pub cwd: PathBuf,
    /// Its further roots in their order, absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<PathBuf>,
    /// What to call it in front of people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When it was created.
    pub created: Timestamp,
    /// When something last happened in it, as whoever writes the header says: a store does not touch it.
    pub updated: Timestamp,
}

impl SessionHeader {
    /// A session that begins now, in this directory.
    pub fn new(session_id: impl Into<SessionId>, cwd: impl Into<PathBuf>) -> Self {
        let now = Timestamp::now();
        Self {
            session_id: session_id.into(),
            cwd: cwd.into(),
            additional_directories: Vec::new(),
            title: None,
            created: now,
            updated: now,
        }
    }

    /// Sets the further roots.
    #[must_use]
    pub fn additional_directories(mut self, directories: impl Into<Vec<PathBuf>>) -> Self {
        self.additional_directories = directories.into();
        self
    }

    /// Sets what to call it.
    #[must_use]
    pub fn title(mut self, title: impl Into<Option<String>>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets when something last happened in it.
    #[must_use]
    pub fn updated(mut self, updated: Timestamp) -> Self {
        self.updated = updated;
        self
    }

    /// Where the session stands in a list.
    pub fn position(&self) -> Position {
        Position { updated: self.updated, session_id: self.session_id.clone() }
    }
}

/// Where a session stands in a list: whatever was updated last comes first, and of two that were updated at once the
/// one whose id is less.
///
/// As a list is gone on with behind a position and not behind a number of sessions, a session that stays as it is
/// is listed exactly once, whatever else is created, updated or deleted between two pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Position {
    /// When something last happened in it.
    pub updated: Timestamp,
    /// Names the session.
    pub session_id: SessionId,
}

impl Position {
    /// The position of a session of this id that was last updated then.
    pub fn new(updated: Timestamp, session_id: impl Into<SessionId>) -> Self {
        Self { updated, session_id: session_id.into() }
    }

    /// What positions are ordered by.
    fn key(&self) -> (Reverse<Timestamp>, &str) {
        (Reverse(self.updated), self.session_id.as_str())
    }
}

/// The order of a list: earlier is less.
impl Ord for Position {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Which sessions to list, in the order of their [`Position`]s. All of them by default.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ListQuery {
    /// Only those whose `cwd` this is.
    pub cwd: Option<PathBuf>,
    /// Only those behind this position.
    pub after: Option<Position>,
    /// At most so many.
    pub limit: Option<usize>,
}

impl ListQuery {
    /// All sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those whose `cwd` this is.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<Option<PathBuf>>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// Only those behind this position, which need not be one of a session that there is.
    #[must_use]
    pub fn after(mut self, after: impl Into<Option<Position>>) -> Self {
        self.after = after.into();
        self
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Chooses and sorts, for stores that have all their headers at hand.
    pub fn select<'a>(&self, headers: impl IntoIterator<Item = &'a SessionHeader>) -> Vec<SessionHeader> {
        let after = self.after.as_ref().map(Position::key);
        let mut chosen: Vec<_> = headers
            .into_iter()
            .filter(|header| self.cwd.as_ref().is_none_or(|cwd| *cwd == header.cwd))
            .map(|header| ((Reverse(header.updated), header.session_id.as_str()), header))
            .filter(|(key, _)| after.is_none_or(|after| *key > after))
            .collect();
        chosen.sort_unstable_by_key(|(key, _)| *key);
        let limit = self.limit.unwrap_or(usize::MAX);
        chosen.into_iter().take(limit).map(|(_, header)| header.clone()).collect()
    }
}
