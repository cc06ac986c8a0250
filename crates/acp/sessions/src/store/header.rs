//! The header of a stored session, its position in a list, and the selection of a list.

use std::cmp::Reverse;
use std::path::PathBuf;

use agentwire_acp_schema::v1::{ContentBlock, SessionId, SessionUpdate};
use agentwire_wire_derive::Build;
use serde::{Deserialize, Serialize};

use super::Timestamp;

/// The data of a session that a list returns, without its records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Build)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionHeader {
    /// The id of the session.
    #[build(skip)]
    pub session_id: SessionId,
    /// The working directory, an absolute path.
    #[build(skip)]
    pub cwd: PathBuf,
    /// The additional directories in their order, absolute paths.
    #[build(into)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<PathBuf>,
    /// The title that users see.
    #[build(optional)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The first words of the first prompt, up to 60 characters on one line. Users see them if the session has no title.
    #[build(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_words: Option<String>,
    /// When it was created.
    #[build(skip)]
    pub created: Timestamp,
    /// When the session last changed. The writer of the header sets it; a store does not.
    pub updated: Timestamp,
}

impl SessionHeader {
    /// Returns the header of a session that is created now.
    pub fn new(session_id: impl Into<SessionId>, cwd: impl Into<PathBuf>) -> Self {
        let now = Timestamp::now();
        Self {
            session_id: session_id.into(),
            cwd: cwd.into(),
            additional_directories: Vec::new(),
            title: None,
            first_words: None,
            created: now,
            updated: now,
        }
    }

    /// Returns the title or, without one, the first words of the first prompt.
    pub fn shown_title(&self) -> Option<&str> {
        self.title.as_deref().or(self.first_words.as_deref())
    }

    /// Sets the first words from a prompt, unless they are set.
    pub(crate) fn note_first_words(&mut self, update: &SessionUpdate) {
        if let (None, Some(words)) = (&self.first_words, first_words(update)) {
            self.first_words = Some(words);
        }
    }

    /// Returns the position of the session in a list.
    pub fn position(&self) -> Position {
        Position { updated: self.updated, session_id: self.session_id.clone() }
    }
}

/// The most characters of the first words.
const FIRST_WORDS: usize = 60;

/// Returns the beginning of a prompt's text, cut after a whole word if possible.
pub(crate) fn first_words(update: &SessionUpdate) -> Option<String> {
    let SessionUpdate::UserMessageChunk(chunk) = update else { return None };
    let ContentBlock::Text(text) = &chunk.content else { return None };
    let mut shown = String::new();
    for word in text.text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty())
    {
        let room = FIRST_WORDS - shown.chars().count();
        let space = usize::from(!shown.is_empty());
        if word.chars().count() + space < room {
            shown.extend((space > 0).then_some(' '));
            shown.push_str(word);
            continue;
        }
        if shown.is_empty() {
            shown.extend(word.chars().take(room - 1));
        }
        shown.push('…');
        break;
    }
    (!shown.is_empty()).then_some(shown)
}

/// The position of a session in a list. The session that changed last comes first; of two that changed at the same time, the
/// one with the lesser id.
///
/// A page begins after a position, not after a number of sessions. So a session that does not change is listed exactly once,
/// even if others are created, changed or deleted between two pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Position {
    /// When the session last changed.
    pub updated: Timestamp,
    /// The id of the session.
    pub session_id: SessionId,
}

impl Position {
    /// Returns the position of a session.
    pub fn new(updated: Timestamp, session_id: impl Into<SessionId>) -> Self {
        Self { updated, session_id: session_id.into() }
    }

    /// Returns the key by which positions are ordered.
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

/// A selection of sessions to list, in the order of their [`Position`]s. The default is all.
///
/// ```
/// use agentwire_acp_sessions::{ListQuery, SessionStore, StoreError};
///
/// async fn titles(store: &dyn SessionStore) -> Result<Vec<String>, StoreError> {
///     let mut titles = Vec::new();
///     let mut query = ListQuery::new().limit(50);
///     loop {
///         let page = store.list(&query).await?;
///         titles.extend(page.iter().filter_map(|session| session.title.clone()));
///         let Some(last) = page.last() else { return Ok(titles) };
///         query = query.after(last.position());
///     }
/// }
/// ```
#[derive(Debug, Clone, Default, Build)]
#[non_exhaustive]
pub struct ListQuery {
    /// Queries only sessions with this working directory.
    #[build(optional)]
    pub cwd: Option<PathBuf>,
    /// Queries only sessions after this position, which need not be that of an existing session.
    #[build(optional)]
    pub after: Option<Position>,
    /// Sets the limit of sessions.
    #[build(optional)]
    pub limit: Option<usize>,
}

impl ListQuery {
    /// Queries all sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects and sorts headers, for stores that have all headers in memory.
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
