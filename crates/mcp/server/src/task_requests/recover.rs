//! Fails the unfinished tasks of processes that have ended.

use agentwire_jsonrpc::ErrorObject;

use super::remote;
use crate::tasks::Tasks;
use crate::{TaskOwner, TaskStoreError};

/// How many records are read at once.
const PAGE: usize = 100;

impl Tasks {
    /// Marks the unfinished tasks in the store that do not run in any process as failed, and removes those of sessions that ended
    /// with a process. Returns how many there were.
    ///
    /// Call it at the start of a program: the tasks ended with the process before. Tasks of [nodes](crate::Server::node) stay as
    /// they are unless the server with these tasks is a node too, and the node that ran them [is
    /// dead](agentwire_store::Node::is_dead), which a node cannot tell before it has held its lease for a while. They have
    /// failed, too, once a client asks for them.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub async fn recover(&self) -> Result<usize, TaskStoreError> {
        let (mut count, mut after) = (0, None);
        loop {
            let records = self.store.list(None, after.as_ref(), PAGE).await?;
            let Some(last) = records.last() else { return Ok(count) };
            after = Some(last.cursor());
            for mut record in records {
                if self.registry.find(&record.id).is_some() {
                    continue;
                }
                if record.run.is_some() {
                    let was_final = record.is_final();
                    let current = remote::current(self, record).await.map_err(TaskStoreError::new)?;
                    count += usize::from(!was_final && current.is_some_and(|current| current.is_final()));
                    continue;
                }
                if matches!(record.owner, TaskOwner::Session(_)) {
                    self.store.remove(&record.id).await?;
                } else if !record.is_final() {
                    record.touch();
                    record.fail(ErrorObject::internal_error("the server was started anew"));
                    if !self.store.update(record).await? {
                        continue;
                    }
                } else {
                    continue;
                }
                count += 1;
            }
        }
    }
}
