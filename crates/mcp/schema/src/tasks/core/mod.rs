//! The tasks of 2025-11-25, which were part of the protocol itself, as an experiment.
//!
//! The sender of a request of a kind that the other side runs as a task may add `task` to it. The answer is
//! then a [`CreateTaskResult`] at once; [`GetTaskRequest`] gets its state, and [`GetTaskPayloadRequest`]
//! waits for the result. Either side may be the one that runs tasks. A tool that failed makes its task
//! *failed*.
//!
//! The tasks of 2026-07-28 are another protocol with some of the same names:
//! [`task_extension`](crate::tasks::extension).
//!
//! See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks>.

mod capabilities;

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::Wire;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::capabilities::{
    ClientTaskRequests, ClientTasksCapability, ElicitationTasks, SamplingTasks, ServerTaskRequests,
    ServerTasksCapability, ToolTasks,
};
pub use crate::tasks::status::TaskStatus;
use crate::{Cursor, Meta, Paginated};

/// The key in `_meta` under which messages about a task name it, with a [`RelatedTaskMetadata`].
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Asks that a request be run as a task; the member `task` of the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// For how many milliseconds to keep it from its creation on.
    #[wire(optional)]
    pub ttl: Option<u64>,
}

empty!(TaskMetadata);
setters!(TaskMetadata {
    some ttl: u64,
});

task_type! { time to live: ttl, poll interval: poll_interval }

/// The request runs as this task. It comes in place of the request's own result.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    #[wire(required)]
    pub task: Task,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CreateTaskResult {
    /// That task.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

setters!(CreateTaskResult {
    some meta: Meta,
});

task_requests! {
    /// Asks for the status of a task.
    GetTaskRequest;
    /// Waits until a task is done, and asks for its result.
    GetTaskPayloadRequest;
    /// Cancels a task.
    CancelTaskRequest;
}

macro_rules! task_reports {
    ($( $(#[$attribute:meta])* $report:ident; )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, PartialEq, Eq, agentwire_wire_derive::Wire)]
            #[non_exhaustive]
            pub struct $report {
                /// The task.
                #[wire(union)]
                pub task: Task,
                /// Extension metadata.
                #[wire(strict_meta)]
                pub meta: Option<Meta>,
            }

            impl $report {
                /// That task.
                pub fn new(task: Task) -> Self {
                    Self { task, meta: None }
                }
            }

            setters!($report {
                some meta: Meta,
            });

            has_meta!($report);
        )+
    };
}

task_reports! {
    /// The status of a task.
    GetTaskResult;
    /// The status of a cancelled task.
    CancelTaskResult;
    /// The status of a task has changed. The sender of the task's request must not wait for this notification: it may never
    /// be sent.
    TaskStatusNotification;
}

/// The result of a task: the result that the request would have got without a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct GetTaskPayloadResult(
    #[cfg_attr(feature = "schema", schemars(with = "crate::JsonObject"))] RawJson,
);

impl GetTaskPayloadResult {
    /// That result, encoded.
    ///
    /// # Errors
    ///
    /// When its JSON form is not an object.
    pub fn encode<T: Serialize + ?Sized>(result: &T) -> Result<Self, serde_json::Error> {
        crate::wire::encode_object(result).map(Self)
    }

    /// Decodes it into the result that the request has.
    ///
    /// # Errors
    ///
    /// When it is not of the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.0.decode()
    }
}

/// Lists the tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ListTasksRequest {
    /// The cursor of the page. `None` for the first page.
    #[wire(optional)]
    pub cursor: Option<Cursor>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

empty!(ListTasksRequest);
setters!(ListTasksRequest {
    some cursor: Cursor,
    some meta: Meta,
});

/// A page of the tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// The tasks.
    #[wire(required)]
    pub tasks: Vec<Task>,
    /// The cursor of the next page. `None` on the last page.
    #[wire(optional)]
    pub next_cursor: Option<Cursor>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ListTasksResult {
    /// The only page, or the last one.
    pub fn new(tasks: Vec<Task>) -> Self {
        Self { tasks, next_cursor: None, meta: None }
    }
}

setters!(ListTasksResult {
    some next_cursor: Cursor,
    some meta: Meta,
});

impl Paginated for ListTasksRequest {
    type Item = Task;

    const ITEMS: &'static str = "tasks";

    fn page(cursor: Option<Cursor>) -> Self {
        Self { cursor, meta: None }
    }
}

/// Identifies the task that a message is about, in its `_meta`.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct RelatedTaskMetadata {
    /// The task.
    #[wire(required)]
    pub task_id: String,
}

impl RelatedTaskMetadata {
    /// That task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into() }
    }

    /// Reads it out of a `_meta`; `None` if it names no task.
    #[inline]
    pub fn read(meta: Option<&Meta>) -> Option<Self> {
        meta?.decode_member(RELATED_TASK).ok()?
    }

    /// Writes it into a `_meta`, beside what else is there.
    pub fn write_to(&self, meta: &mut Option<Meta>) {
        let value = Meta::from_iter([("taskId", Value::from(&*self.task_id))]);
        meta.get_or_insert_default().insert(RELATED_TASK, value);
    }
}

has_meta!(CreateTaskResult, ListTasksRequest, ListTasksResult);
