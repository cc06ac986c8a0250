//! Converts a task's record to the types of either protocol.

use std::time::{Duration, UNIX_EPOCH};

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::task_extension::TaskStatus;
use agentwire_mcp_schema::{core_tasks, task_extension};

use crate::tasks::Tasks;
use crate::tasks::record::millis;
use crate::{Context, TaskRecord};

/// The last moment of the year 9999, beyond which no date has four digits for its year.
const LAST: u64 = 253_402_300_799_999;

/// The answer to a call that has become a task.
pub(crate) fn created(tasks: &Tasks, context: &Context, record: TaskRecord) -> Result<RawJson, ErrorObject> {
    if context.in_session() {
        context.encode_plain(core_tasks::CreateTaskResult::new(core(tasks, &record)))
    } else {
        context.encode_plain(task_extension::CreateTaskResult::new(extension(tasks, &record)))
    }
}

/// The task for clients of 2025-11-25, where tasks are part of the core protocol.
pub(crate) fn core(tasks: &Tasks, record: &TaskRecord) -> core_tasks::Task {
    let mut task = core_tasks::Task::new(&*record.id, iso(record.created_at))
        .status(record.status.as_str())
        .last_updated_at(iso(record.updated_at))
        .poll_interval(millis(tasks.poll_interval));
    task.status_message = record.status_message.clone();
    task.ttl = record.ttl;
    task
}

pub(crate) fn status(tasks: &Tasks, record: &TaskRecord) -> core_tasks::TaskStatusNotification {
    core_tasks::TaskStatusNotification::new(core(tasks, record))
}

/// The task for clients of 2026-07-28, where tasks are an extension.
fn extension(tasks: &Tasks, record: &TaskRecord) -> task_extension::Task {
    let mut task = task_extension::Task::new(&*record.id, iso(record.created_at))
        .status(record.status.clone())
        .last_updated_at(iso(record.updated_at))
        .poll_interval_ms(millis(tasks.poll_interval));
    task.status_message = record.status_message.clone();
    task.ttl_ms = record.ttl;
    task
}

/// A task with what its status adds.
pub(crate) fn details(tasks: &Tasks, record: TaskRecord) -> task_extension::GetTaskResult {
    let mut details = task_extension::GetTaskResult::new(extension(tasks, &record));
    match record.status {
        TaskStatus::InputRequired => details.input_requests = Some(record.input_requests),
        TaskStatus::Completed => details.result = record.result,
        TaskStatus::Failed => details.error = record.error,
        _ => {}
    }
    details
}

pub(crate) fn status_notification(
    tasks: &Tasks,
    record: TaskRecord,
) -> task_extension::TaskStatusNotification {
    let details = details(tasks, record);
    let mut notification = task_extension::TaskStatusNotification::new(details.task);
    notification.input_requests = details.input_requests;
    notification.result = details.result;
    notification.error = details.error;
    notification
}

/// A moment in ISO 8601, in UTC: `2026-07-28T09:05:00.250Z`.
fn iso(millis: u64) -> String {
    let moment = UNIX_EPOCH + Duration::from_millis(millis.min(LAST));
    humantime::format_rfc3339_millis(moment).to_string()
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn moments_are_written_as_the_protocol_wants_them() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_785_229_500_250), "2026-07-28T09:05:00.250Z");
        assert_eq!(iso(u64::MAX), "9999-12-31T23:59:59.999Z");
    }
}
