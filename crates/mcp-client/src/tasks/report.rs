use std::collections::BTreeMap;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RawJson, read};
use agentwire_mcp_schema::task_extension::TaskStatus;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::era::input::Question;

/// How a task stands, in whichever revision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskState {
    /// The task's name, by which it can be [found again](crate::Server::task), also on another connection.
    pub id: String,
    /// How it stands.
    pub status: TaskStatus,
    /// The same for people.
    pub message: Option<String>,
    /// When it was created, in ISO 8601 by the server's clock.
    pub created_at: String,
    /// When it last changed, likewise.
    pub last_updated_at: String,
    /// For how long the server keeps it from its creation on; none for ever.
    pub ttl: Option<Duration>,
    /// How long the server wants to be left alone between two questions about it.
    pub poll_interval: Option<Duration>,
}

/// What a server says of a task, in the words of either protocol. Only what cannot be done without must be there.
#[derive(Debug, Deserialize)]
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

/// What a notification says of a task.
pub(crate) fn read_state(params: &RawJson) -> Option<TaskState> {
    params.decode::<Report>().ok().map(|report| report.state())
}

/// The answer to a call that was to run as a task, in 2025-11-25.
#[derive(Debug)]
pub(crate) enum CreatedTask {
    Task(Box<Report>),
    /// The server did not take it as one, and answers at once.
    Done(RawJson),
}

impl<'de> Deserialize<'de> for CreatedTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Created {
            task: Option<Box<Report>>,
        }

        let result = RawJson::deserialize(deserializer)?;
        let created: Created = result.decode().map_err(D::Error::custom)?;
        Ok(created.task.map_or(Self::Done(result), Self::Task))
    }
}

/// What is no number of milliseconds is none: a task is not lost for it.
fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    let number = read::<f64>(text.get()).ok();
    Ok(number.and_then(|number| Duration::try_from_secs_f64(number / 1000.0).ok()))
}
