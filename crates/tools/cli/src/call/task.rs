//! Follows the task of an interrupted call until it is cancelled.

use agentwire_jsonrpc::WithCauses;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::schema::task_extension::TaskStatus;
use agentwire_mcp_client::{CallError, RemoteServer, TaskState};
use agentwire_sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::output::text::{Notes, quoted};

/// The time for the server to cancel the task, after which a note reports that it goes on: 2 s.
const CANCEL_LIMIT: Duration = Duration::from_secs(2);

/// The time between two requests for the state of a task that is being cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The task that a server has made of a call. Clones share it.
#[derive(Clone, Default)]
pub(super) struct LastTask(Arc<Mutex<Option<(String, TaskStatus)>>>);

impl LastTask {
    pub(super) fn set(&self, state: &TaskState) {
        *self.0.lock() = Some((state.id.clone(), state.status.clone()));
    }

    /// Waits for the end of the task, which the server was asked to cancel, and adds a note on it. Does nothing without a task
    /// that may go on.
    pub(super) async fn note_end(&self, server: &RemoteServer, notes: &Notes) {
        let Some((id, status)) = self.0.lock().take() else { return };
        if is_over(&status) {
            return;
        }
        let ended = timeout(CANCEL_LIMIT, end(server, &id)).await;
        let id = quoted(&id);
        notes.add(&match ended {
            Ok(Ok(TaskStatus::Cancelled)) => format!("the task {id} was cancelled"),
            Ok(Ok(status)) => format!("the task {id} had ended already: {status}"),
            Ok(Err(error)) => format!("the task {id} may go on at the server: {}", WithCauses::new(&error)),
            Err(_elapsed) => format!("the task {id} goes on at the server, which was asked to cancel it"),
        });
    }
}

/// The status with which the task ends.
async fn end(server: &RemoteServer, id: &str) -> Result<TaskStatus, CallError> {
    let task = server.task(id)?;
    loop {
        let status = task.state().await?.status;
        if is_over(&status) {
            return Ok(status);
        }
        sleep(POLL_INTERVAL).await;
    }
}

fn is_over(status: &TaskStatus) -> bool {
    matches!(status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
}
