//! Watches the tasks that a subscription names, and sends their states.

use std::collections::BTreeSet;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::Meta;
use agentwire_mcp_schema::task_extension::{TaskStatus, TaskSubscription};
use agentwire_peer::CallError;

use super::client::{has_opted_in, not_opted_in, owner};
use super::report;
use super::requests::{find, may_see};
use crate::capability::Capability;
use crate::listeners::{Listener, ListenerGuard};
use crate::scope::RequestScope;
use crate::server::ServerParts;
use crate::tasks::Tasks;
use crate::{Context, TaskOwner};

/// The tasks that a subscription watches.
pub(crate) struct WatchedTasks {
    tasks: Tasks,
    owner: TaskOwner,
    context: Context,
    pub(crate) ids: BTreeSet<String>,
}

/// Returns the tasks to watch; `None` if the client names none, or the server has none.
///
/// # Errors
///
/// When the client does not take tasks.
pub(crate) fn watch_tasks(
    server: &ServerParts,
    context: &Context,
    wanted: TaskSubscription,
) -> Result<Option<WatchedTasks>, ErrorObject> {
    let settings = &server.settings;
    let offered = |tasks: &&Tasks| server.offers(Capability::Tasks) || tasks.registry.has_any();
    let Some(tasks) = settings.tasks.as_ref().filter(offered) else { return Ok(None) };
    if wanted.task_ids.is_empty() {
        return Ok(None);
    }
    if !has_opted_in(context.client_context()) {
        return Err(not_opted_in());
    }
    settings.subscription_limits.check_count(wanted.task_ids.len())?;
    let owner = owner(settings, context.client_context(), context.source().map(|source| &**source))?;
    let ids = wanted.task_ids.into_iter().collect();
    Ok(Some(WatchedTasks { tasks: tasks.clone(), owner, context: context.clone(), ids }))
}

impl WatchedTasks {
    /// Removes the tasks that the client must not see. Returns those that do not change again, or not until the client
    /// answers.
    pub(crate) async fn look(&mut self) -> Result<Vec<String>, ErrorObject> {
        let mut still = Vec::new();
        for id in std::mem::take(&mut self.ids) {
            let seen = |record: &_| may_see(&self.owner, self.context.revision(), record);
            if let Some((record, _)) = find(&self.tasks, &id, seen).await? {
                if record.is_final() || record.status == TaskStatus::InputRequired {
                    still.push(id.clone());
                }
                self.ids.insert(id);
            }
        }
        Ok(still)
    }

    pub(crate) fn listen(&self, listener: std::sync::Weak<dyn Listener>) -> ListenerGuard {
        self.tasks.registry.listeners().add(listener)
    }

    /// Sends the current state of a task, if it still exists.
    pub(crate) async fn tell(&self, scope: &RequestScope, id: &str, meta: Meta) -> Result<(), CallError> {
        let found =
            find(&self.tasks, id, |record| may_see(&self.owner, self.context.revision(), record)).await;
        match found {
            Ok(Some((record, _))) => {
                scope.notify(&report::status_notification(&self.tasks, record).meta(meta)).await
            }
            // The next change may be readable again.
            Ok(None) | Err(_) => Ok(()),
        }
    }
}
