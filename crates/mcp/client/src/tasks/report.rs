//! Reads the state of a task from a response or a notification, in any revision.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson, read};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_sync::Mutex;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::handler::answers::{Question, questions};
use crate::handler::hooks::ProgressRegistration;

/// Gets each new state of a task.
pub(crate) type TaskHook = Arc<Mutex<dyn FnMut(&TaskState) + Send>>;

/// The state of a task, in any revision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskState {
    /// The task's id, by which [`RemoteServer::task`](crate::RemoteServer::task) finds it again, also on another connection.
    pub id: String,
    /// The state: working, waiting for input, or ended.
    pub status: TaskStatus,
    /// The status in words.
    pub message: Option<String>,
    /// When it was created: ISO 8601, by the server's clock.
    pub created_at: String,
    /// When it last changed: ISO 8601, by the server's clock.
    pub last_updated_at: String,
    /// How long the server keeps it from its creation on; `None` for ever.
    pub ttl: Option<Duration>,
    /// The interval between two requests for its state that the server suggests.
    pub poll_interval: Option<Duration>,
}

/// A server's report on a task, in either protocol. Only the members that the client needs are required.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) task_id: String,
    pub(crate) status: TaskStatus,
    status_message: Option<String>,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    last_updated_at: String,
    #[serde(default, alias = "ttl", deserialize_with = "milliseconds")]
    ttl_ms: Option<Duration>,
    #[serde(default, alias = "pollInterval", deserialize_with = "milliseconds")]
    poll_interval_ms: Option<Duration>,
    #[serde(default, deserialize_with = "questions")]
    pub(crate) input_requests: Option<BTreeMap<String, Question>>,
    pub(crate) result: Option<RawJson>,
    pub(crate) error: Option<ErrorObject>,
}

impl Report {
    pub(crate) fn state(&self) -> TaskState {
        TaskState {
            id: self.task_id.clone(),
            status: self.status.clone(),
            message: self.status_message.clone(),
            created_at: self.created_at.clone(),
            last_updated_at: self.last_updated_at.clone(),
            ttl: self.ttl_ms,
            poll_interval: self.poll_interval_ms,
        }
    }
}

/// The state of a task in a notification.
pub(crate) fn read_state(params: &RawJson) -> Option<TaskState> {
    params.decode::<Report>().ok().map(|report| report.state())
}

/// The answer to a call that asks for a task, in 2025-11-25.
#[derive(Debug)]
pub(crate) enum CreatedTask {
    Task {
        report: Box<Report>,
        result: RawJson,
    },
    /// The result itself: the server made no task of it.
    Done(RawJson),
}

/// A task that a call has started, for its [handle](super::Task).
pub(crate) struct StartedTask {
    pub(crate) report: Report,
    /// Keeps the progress hook of the call.
    pub(crate) registration: Option<ProgressRegistration>,
}

impl fmt::Debug for StartedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartedTask").field("report", &self.report).finish_non_exhaustive()
    }
}

impl<'de> Deserialize<'de> for CreatedTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Created {
            task: Option<Box<Report>>,
        }

        let result = RawJson::deserialize(deserializer)?;
        let created: Created = result.decode().map_err(D::Error::custom)?;
        Ok(match created.task {
            Some(report) => Self::Task { report, result },
            None => Self::Done(result),
        })
    }
}

/// Reads anything that is not a number of milliseconds as `None`, so that no task is lost for it.
fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    let number = read::<f64>(text.get()).ok();
    Ok(number.and_then(|number| Duration::try_from_secs_f64(number / 1000.0).ok()))
}
