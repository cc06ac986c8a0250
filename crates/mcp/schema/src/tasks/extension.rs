//! The tasks of 2026-07-28, an extension: the server decides which calls become tasks, and asks questions through the task.
//!
//! A client names the extension among its capabilities. A server may then answer a request with a
//! [`CreateTaskResult`] of its own accord; [`GetTaskRequest`] gets the state of the task, its result or error
//! included, and [`UpdateTaskRequest`] answers its questions. Only servers run tasks. A tool that failed makes
//! its task *completed*, with a result that is an error.
//!
//! The tasks of 2025-11-25 are another protocol with some of the same names:
//! [`core_tasks`](crate::tasks::core).
//!
//! See <https://modelcontextprotocol.io/extensions/tasks/overview>.

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_wire_derive::Wire;
use serde_json::Value;

pub use crate::tasks::status::TaskStatus;
use crate::{InputRequests, InputResponses, JsonObject, Meta, ResultType, SubscriptionFilter};

/// The extension's name, a key of `capabilities.extensions`.
pub const NAME: &str = "io.modelcontextprotocol/tasks";

const TASK_IDS: &str = "taskIds";

task_type! { time to live: ttl_ms, poll interval: poll_interval_ms }

/// The request runs as this task. It comes in place of the request's own result.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// Always [`ResultType::Task`].
    #[wire(required)]
    pub result_type: ResultType,
    /// The task.
    #[wire(union)]
    pub task: Task,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CreateTaskResult {
    /// That task.
    pub fn new(task: Task) -> Self {
        Self { result_type: ResultType::Task, task, meta: None }
    }
}

setters!(CreateTaskResult {
    some meta: Meta,
});

task_requests! {
    /// Asks for the state of a task.
    GetTaskRequest;
    /// Cancels a task, as far as its server can. A final status does not change.
    CancelTaskRequest;
}

/// Answers some of the questions of a task. Answers under other keys are ignored.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct UpdateTaskRequest {
    /// The id of the task.
    #[wire(required)]
    pub task_id: String,
    /// The answers, under the keys of its `input_requests`.
    #[wire(required, schema(with = "crate::schema::InputResponsesSchema"))]
    pub input_responses: std::collections::BTreeMap<String, crate::InputResponse>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl UpdateTaskRequest {
    /// These answers to that task.
    pub fn new(task_id: impl Into<String>, input_responses: InputResponses) -> Self {
        Self { task_id: task_id.into(), input_responses, meta: None }
    }
}

setters!(UpdateTaskRequest {
    some meta: Meta,
});

macro_rules! task_reports {
    ($( $(#[$attribute:meta])* $report:ident { $( $(#[$first_attribute:meta])* $first:ident: $kind:ty, )? } )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
            #[non_exhaustive]
            pub struct $report {
                $(
                    $(#[$first_attribute])*
                    pub $first: Option<$kind>,
                )?
                /// The task.
                #[wire(union)]
                pub task: Task,
                /// Its open questions, while it is [`TaskStatus::InputRequired`].
                #[wire(optional, schema(with = "Option<crate::schema::InputRequestsSchema>"))]
                pub input_requests: Option<std::collections::BTreeMap<String, crate::InputRequest>>,
                /// The result of the request, once it is [`TaskStatus::Completed`].
                #[wire(optional, schema(with = "Option<crate::JsonObject>"))]
                pub result: Option<RawJson>,
                /// Why it ended, once it is [`TaskStatus::Failed`].
                #[wire(optional, schema(with = "Option<crate::schema::ErrorSchema>"))]
                pub error: Option<ErrorObject>,
                /// Extension metadata.
                #[wire(strict_meta)]
                pub meta: Option<Meta>,
            }

            impl $report {
                /// That task, without what its status may add.
                pub fn new(task: Task) -> Self {
                    Self {
                        $( $first: None, )?
                        task,
                        input_requests: None,
                        result: None,
                        error: None,
                        meta: None,
                    }
                }
            }

            setters!($report {
                $( some $first: $kind, )?
                some input_requests: InputRequests,
                some result: RawJson,
                some error: ErrorObject,
                some meta: Meta,
            });

            has_meta!($report);
        )+
    };
}

task_reports! {
    /// The state of a task, with its open questions, its result or its error.
    GetTaskResult {
        /// The kind of this result; absent means complete.
        #[wire(optional)]
        result_type: ResultType,
    }
    /// The state of a task has changed. It is sent on a subscription that named the task; the client must
    /// not wait for it, because it may never be sent.
    TaskStatusNotification {}
}

/// The tasks that a subscription is about: what the extension adds to a [`SubscriptionFilter`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskSubscription {
    /// Their ids.
    pub task_ids: Vec<String>,
}

impl TaskSubscription {
    /// These tasks.
    pub fn new<T: Into<String>>(task_ids: impl IntoIterator<Item = T>) -> Self {
        Self { task_ids: task_ids.into_iter().map(T::into).collect() }
    }

    /// Reads it out of a filter. Without such a member it has no tasks.
    pub fn read(filter: &SubscriptionFilter) -> Self {
        let ids = filter.other.get(TASK_IDS).and_then(Value::as_array);
        Self::new(ids.into_iter().flatten().filter_map(Value::as_str))
    }

    /// Writes it into a filter.
    pub fn write_to(&self, filter: &mut SubscriptionFilter) {
        filter.other.insert(TASK_IDS.to_owned(), self.task_ids.clone().into());
    }
}

/// The capabilities of a client or server that has the extension, for `extensions`.
pub fn extensions() -> JsonObject {
    JsonObject::from_iter([(NAME.to_owned(), JsonObject::new().into())])
}

has_meta!(CreateTaskResult, UpdateTaskRequest);
