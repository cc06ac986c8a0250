//! The tasks that a subscription is about.

use std::collections::BTreeSet;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::Meta;
use agentwire_mcp_schema::task_extension::{TaskStatus, TaskSubscription};
use agentwire_peer::CallError;

use super::owner::owner;
use super::requests::{find, may_see};
use super::{Tasks, has_opted_in, not_opted_in, report};
use crate::kind::Kind;
use crate::listeners::{Listener, Listening};
use crate::scope::RequestScope;
use crate::{Context, Server, TaskOwner};

/// Tasks that a client may follow.
pub(crate) struct Followed {
    tasks: Tasks,
    owner: TaskOwner,
    context: Context,
    pub(crate) ids: BTreeSet<String>,
}

/// Which tasks a client wants to follow; none where it names none, or there are none.
///
/// # Errors
///
/// When the client does not take tasks.
pub(crate) fn follow(
    server: &Server,
    context: &Context,
    wanted: TaskSubscription,
) -> Result<Option<Followed>, ErrorObject> {
    let Some(tasks) =
        server.tasks_settings().filter(|tasks| server.offers(Kind::Tasks) || tasks.boards.has_any())
    else {
        return Ok(None);
    };
    if wanted.task_ids.is_empty() {
        return Ok(None);
    }
    if !has_opted_in(context.caller()) {
        return Err(not_opted_in());
    }
    server.subscription_limits_value().check_count(wanted.task_ids.len())?;
    let owner = owner(server, context.caller(), context.source().map(|source| &**source))?;
    let ids = wanted.task_ids.into_iter().collect();
    Ok(Some(Followed { tasks: tasks.clone(), owner, context: context.clone(), ids }))
}

impl Followed {
    /// Leaves out those that the client does not have. Gives those that change no more, or not until the client answers.
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

    pub(crate) fn listen(&self, listener: std::sync::Weak<dyn Listener>) -> Listening {
        self.tasks.boards.listeners().add(listener)
    }

    /// Tells how a task stands now, if it is still there.
    pub(crate) async fn tell(&self, scope: &RequestScope, id: &str, meta: Meta) -> Result<(), CallError> {
        let found =
            find(&self.tasks, id, |record| may_see(&self.owner, self.context.revision(), record)).await;
        match found {
            Ok(Some((record, _))) => scope.notify(&report::news(&self.tasks, record).meta(meta)).await,
            // What cannot be read now may be told later.
            Ok(None) | Err(_) => Ok(()),
        }
    }
}
