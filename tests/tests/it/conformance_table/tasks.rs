//! Calls that run as tasks.

use std::time::Duration;

use agentwire_mcp_client::schema::task_extension::TaskStatus;
use agentwire_mcp_client::{BoxError, CallError, RemoteServer, TaskOrResult};
use serde_json::json;
use tokio::time::sleep;

use super::{Cell, check, works};

/// One that is found by its id, one that asks, and one that is cancelled.
pub(super) async fn tasks(server: &RemoteServer) -> Cell {
    let job = json!({ "seconds": 0.4, "label": "job" });
    match server.call_tool("slow_compute", job).start().await {
        Ok(TaskOrResult::Task(task)) => works(follow(server, task.id())).await,
        // The revision has none.
        Err(CallError::NotAllowed { .. }) => Cell::Absent,
        other => Cell::Fails(format!("{other:?}")),
    }
}

async fn follow(server: &RemoteServer, id: &str) -> Result<(), BoxError> {
    let found = server.task(id)?;
    check(found.state().await?.status == TaskStatus::Working, &found)?;
    let result = found.result().await?;
    check(result.text() == "job: done after 0.4 s", result)?;

    let asks = server.call_tool("confirm_delete", json!({ "filename": "old.txt" })).start().await?;
    check(matches!(asks, TaskOrResult::Task(_)), &asks)?;
    let result = asks.result().await?;
    check(result.text() == "Deleted old.txt", result)?;

    let TaskOrResult::Task(long) =
        server.call_tool("slow_compute", json!({ "seconds": 600.0, "label": "long" })).start().await?
    else {
        return Err("it was no task".into());
    };
    long.cancel().await?;
    loop {
        match long.state().await?.status {
            TaskStatus::Cancelled => return Ok(()),
            TaskStatus::Working => sleep(Duration::from_millis(20)).await,
            other => return Err(format!("it is {other:?}").into()),
        }
    }
}
