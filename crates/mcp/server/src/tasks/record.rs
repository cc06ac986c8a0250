//! `TaskRecord`: the stored data of a task, with its owner, node and place in lists.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_schema::{InputRequests, Revision};
use agentwire_store::NodeId;
use serde::{Deserialize, Serialize};

/// The stored data of a task: an entry of a [`TaskStore`](crate::TaskStore).
///
/// It has a JSON form, which a later version of this crate reads too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskRecord {
    /// Its name: 32 characters of `A-Z a-z 0-9 _ -`, too random to guess.
    pub id: String,
    /// Who may ask for it.
    pub owner: TaskOwner,
    /// The revision that its client speaks, in which its questions and its result are written.
    pub revision: Revision,
    /// When it was created, in milliseconds since the beginning of 1970 in UTC.
    pub created_at: u64,
    /// When it last changed, likewise.
    pub updated_at: u64,
    /// For how many milliseconds it is kept from its creation on; none: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// The state of the task.
    pub status: TaskStatus,
    /// The status message for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Its open questions.
    #[serde(default, skip_serializing_if = "InputRequests::is_empty")]
    pub input_requests: InputRequests,
    /// The result of the call. That of a failed tool has `isError`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<RawJson>,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
    /// The node that runs it, or ran it. `None` for a server that is not a [node](crate::Server::node).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<TaskRun>,
}

/// The node of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskRun {
    /// The node. Once that [is dead](agentwire_store::Node::is_dead), the task has ended.
    pub node: NodeId,
}

impl TaskRun {
    /// Creates the value for a task that runs at that node.
    pub fn new(node: NodeId) -> Self {
        Self { node }
    }
}

/// Who may ask for a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum TaskOwner {
    /// The caller of that name, as [`InputConfig::principal`](crate::InputConfig::principal) finds out.
    Principal(String),
    /// The client of that session, for as long as it lasts. The name is random. Where several nodes serve a session it is the
    /// session's id, which is a secret.
    Session(String),
    /// Every client that knows the task's id.
    Bearer,
}

impl TaskRecord {
    /// Creates the record of a task that begins now, with that time to live.
    pub fn new(id: impl Into<String>, owner: TaskOwner, revision: Revision, ttl: Option<Duration>) -> Self {
        let now = now();
        Self {
            id: id.into(),
            owner,
            revision,
            created_at: now,
            updated_at: now,
            ttl: ttl.map(millis),
            status: TaskStatus::Working,
            status_message: None,
            input_requests: InputRequests::new(),
            result: None,
            error: None,
            run: None,
        }
    }

    /// Whether the task has ended, and so cannot change.
    pub fn is_final(&self) -> bool {
        self.status.is_final()
    }

    /// Whether its time is over, by the system's clock.
    pub fn is_expired(&self) -> bool {
        self.ttl.is_some_and(|ttl| self.created_at.saturating_add(ttl) <= now())
    }

    /// Its position in a list.
    pub fn cursor(&self) -> TaskCursor {
        TaskCursor::new(self.created_at, self.id.clone())
    }

    /// Ends the task with that error.
    pub(crate) fn fail(&mut self, error: ErrorObject) {
        self.status = TaskStatus::Failed;
        self.status_message = Some(error.message.to_string());
        self.error = Some(error);
        self.input_requests.clear();
    }

    /// Sets the time of the last change to now.
    pub(crate) fn touch(&mut self) {
        self.updated_at = now().max(self.updated_at);
    }
}

/// The position of a task in a list. Lists are ordered by the time of creation, and then by the id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct TaskCursor {
    /// See [`TaskRecord::created_at`].
    pub created_at: u64,
    /// See [`TaskRecord::id`].
    pub id: String,
}

impl TaskCursor {
    /// The position of the task with that id, created at that time.
    pub fn new(created_at: u64, id: impl Into<String>) -> Self {
        Self { created_at, id: id.into() }
    }
}

/// Milliseconds since the beginning of 1970. A clock before 1970 counts as 1970.
fn now() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The milliseconds of a time, at most the greatest integer that every JSON parser keeps.
pub(crate) fn millis(time: Duration) -> u64 {
    const LONGEST: u64 = (1 << 53) - 1;
    u64::try_from(time.as_millis()).unwrap_or(LONGEST).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_being_written_down() {
        let owner = TaskOwner::Principal("ada".into());
        let mut record = TaskRecord::new("a", owner, Revision::V2026_07_28, Some(Duration::from_secs(1)));
        record.fail(ErrorObject::internal_error("no"));
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<TaskRecord>(&text).unwrap(), record);
        let least = r#"{"id":"a","owner":"bearer","revision":"2025-11-25","createdAt":1,"updatedAt":1,
            "status":"working"}"#;
        assert!(serde_json::from_str::<TaskRecord>(least).unwrap().result.is_none());
    }

    #[test]
    fn a_ttl_counts_from_the_creation() {
        let mut record = TaskRecord::new("a", TaskOwner::Bearer, Revision::V2025_11_25, None);
        record.created_at = 0;
        assert!(!record.is_expired());
        record.ttl = Some(1);
        assert!(record.is_expired());
        record.ttl = Some(u64::MAX);
        assert!(!record.is_expired());
    }
}
