//! Writes the ends of tasks. If other nodes may end a task too, the store decides which end counts.

use agentwire_jsonrpc::ErrorObject;

use super::Tasks;
use super::handle::TaskHandle;
use crate::TaskRecord;
use crate::listeners::Change;

/// Writes the end of a task, and returns that which counts. `None` if its record is gone.
pub(crate) async fn write(tasks: &Tasks, record: TaskRecord) -> Result<Option<TaskRecord>, ErrorObject> {
    if tasks.store.update(record.clone()).await? {
        tasks.registry.listeners().announce(Change::Task(&record.id));
        return Ok(Some(record));
    }
    read(tasks, &record.id).await
}

pub(crate) async fn read(tasks: &Tasks, id: &str) -> Result<Option<TaskRecord>, ErrorObject> {
    Ok(tasks.store.read(id).await?)
}

/// The record of a task that has ended here, once it may be reported. With other nodes that is when the store has it: this
/// node may die, and another end may have come first. A failed write is repeated at once.
pub(crate) async fn reportable_record(tasks: &Tasks, handle: &TaskHandle) -> Result<TaskRecord, ErrorObject> {
    let is_stored = handle.written().await;
    if !is_stored && tasks.registry.node().is_some() {
        let record = write(tasks, handle.record()).await?;
        handle.adopt(record.ok_or_else(no_task)?);
    }
    Ok(handle.record())
}

pub(crate) fn no_task() -> ErrorObject {
    ErrorObject::invalid_params("there is no such task")
}
