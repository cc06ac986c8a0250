//! An open `subscriptions/listen`.

use std::collections::BTreeSet;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use agentwire_jsonrpc::ErrorObject;
use agentwire_jsonrpc::RequestId;
use agentwire_mcp_schema::task_extension::TaskSubscription;
use agentwire_mcp_schema::{
    Meta, NotificationMeta, PromptListChangedNotification, ResourceListChangedNotification,
    ResourceUpdatedNotification, SubscriptionFilter, SubscriptionsAcknowledgedNotification,
    ToolListChangedNotification,
};
use agentwire_peer::{CallError, Shutdown};
use agentwire_sync::{Monitor, Waiter};
use futures::FutureExt;

use crate::Context;
use crate::listeners::{Change, Listener, ListenerGuard, Listeners};
use crate::request::watch_list::WatchList;
use crate::scope::RequestScope;
use crate::tasks::WatchedTasks;

/// A subscription. The client is notified until this is dropped.
pub(crate) struct Subscription {
    id: RequestId,
    /// The filter of the acknowledgement, which is sent first.
    honoured: SubscriptionFilter,
    changes: Arc<ChangeQueue>,
    _listening: ListenerGuard,
    tasks: Option<Box<(WatchedTasks, ListenerGuard)>>,
}

/// The changes that were not sent yet. Several changes of the same thing are one, so a client that reads slowly makes
/// nothing grow.
struct ChangeQueue {
    tools: bool,
    prompts: bool,
    resources: bool,
    watched: WatchList,
    news: Monitor<PendingChanges>,
}

#[derive(Default)]
struct PendingChanges {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// The URIs of resources.
    updated: BTreeSet<Arc<str>>,
    /// The ids of tasks, and of all tasks that this is about.
    tasks: BTreeSet<String>,
    followed: BTreeSet<String>,
    dismissed: bool,
}

/// The next notification.
enum PendingNotification {
    Tools,
    Prompts,
    Resources,
    Resource(Arc<str>),
    Task(String),
}

impl Subscription {
    /// Collects the changes in the filter from now on. Its URIs are those in `watched`.
    pub(crate) fn open(
        listeners: &Listeners,
        id: RequestId,
        honoured: SubscriptionFilter,
        watched: WatchList,
        tasks: Option<WatchedTasks>,
    ) -> Self {
        let changes = Arc::new(ChangeQueue {
            tools: honoured.tools_list_changed,
            prompts: honoured.prompts_list_changed,
            resources: honoured.resources_list_changed,
            watched,
            news: Monitor::default(),
        });
        if let Some(tasks) = &tasks {
            changes.news.with(|news| news.followed.clone_from(&tasks.ids));
        }
        let listener: Arc<dyn Listener> = changes.clone();
        let listening = listeners.add(Arc::downgrade(&listener));
        Self {
            id,
            honoured,
            changes,
            _listening: listening,
            tasks: tasks.map(|tasks| {
                let listening = tasks.listen(Arc::downgrade(&listener));
                Box::new((tasks, listening))
            }),
        }
    }

    /// Finds out which of the tasks exist. Those that have ended or wait for the client are sent at once, because they
    /// do not change by themselves.
    pub(crate) async fn look_at_tasks(&mut self) -> Result<(), ErrorObject> {
        if let Some((tasks, _)) = self.tasks.as_deref_mut() {
            let still = tasks.look().await?;
            if !tasks.ids.is_empty() {
                TaskSubscription::new(tasks.ids.iter()).write_to(&mut self.honoured);
            }
            self.changes.news.update(|news| {
                news.followed.retain(|id| tasks.ids.contains(id));
                news.tasks.extend(still);
            });
        }
        Ok(())
    }

    /// Acknowledges the filter and then sends every change, until the client leaves, or the server ends the subscription or
    /// shuts down.
    pub(crate) async fn run(self, context: &Context) -> Result<(), CallError> {
        let scope = context.scope();
        // The filter is not kept beside its text while that waits for room, nor later.
        let acknowledging = {
            let acknowledged = SubscriptionsAcknowledgedNotification::new(self.id.clone(), self.honoured);
            scope.notify(&acknowledged)
        };
        acknowledging.await?;
        let meta = NotificationMeta::new(self.id).to_meta();
        let mut closing = scope.closing();
        let shutdown = context.settings().connection.0.shutdown.as_ref();
        let mut shutdown = shutdown.map_or_else(|| pending().boxed(), Shutdown::signal);
        let mut waiter = Waiter::new(&self.changes.news);
        let mut next = poll_fn(|cx| {
            if Pin::new(&mut closing).poll(cx).is_ready() || shutdown.poll_unpin(cx).is_ready() {
                return Poll::Ready(None);
            }
            waiter.poll(cx, PendingChanges::next)
        });
        while let Some(told) = (&mut next).await {
            if let (PendingNotification::Task(id), Some((tasks, _))) = (&told, self.tasks.as_deref()) {
                tasks.tell(scope, id, meta.clone()).await?;
                continue;
            }
            tell(scope, told, meta.clone()).await?;
        }
        Ok(())
    }
}

async fn tell(scope: &RequestScope, told: PendingNotification, meta: Meta) -> Result<(), CallError> {
    match told {
        PendingNotification::Tools => scope.notify(&ToolListChangedNotification::default().meta(meta)).await,
        PendingNotification::Prompts => {
            scope.notify(&PromptListChangedNotification::default().meta(meta)).await
        }
        PendingNotification::Resources => {
            scope.notify(&ResourceListChangedNotification::default().meta(meta)).await
        }
        PendingNotification::Resource(uri) => {
            scope.notify(&ResourceUpdatedNotification::new(&*uri).meta(meta)).await
        }
        // Sent by `WatchedTasks`.
        PendingNotification::Task(_) => Ok(()),
    }
}

impl PendingChanges {
    /// Takes the next notification: none while there is none, and `Some(None)` once the subscription has ended.
    fn next(&mut self) -> Option<Option<PendingNotification>> {
        if let Some(id) = self.tasks.pop_first() {
            return Some(Some(PendingNotification::Task(id)));
        }
        if std::mem::take(&mut self.tools) {
            Some(Some(PendingNotification::Tools))
        } else if std::mem::take(&mut self.prompts) {
            Some(Some(PendingNotification::Prompts))
        } else if std::mem::take(&mut self.resources) {
            Some(Some(PendingNotification::Resources))
        } else if let Some(uri) = self.updated.pop_first() {
            Some(Some(PendingNotification::Resource(uri)))
        } else {
            self.dismissed.then_some(None)
        }
    }
}

impl Listener for ChangeQueue {
    fn on_change(&self, change: Change<'_>) {
        match change {
            Change::Tools if self.tools => self.news.update(|news| news.tools = true),
            Change::Prompts if self.prompts => self.news.update(|news| news.prompts = true),
            Change::Resources if self.resources => self.news.update(|news| news.resources = true),
            Change::Resource(uri) => {
                if let Some(uri) = self.watched.find(uri) {
                    self.news.update(|news| _ = news.updated.insert(uri.clone()));
                }
            }
            Change::Task(id) if self.news.with(|news| news.followed.contains(id)) => {
                self.news.update(|news| _ = news.tasks.insert(id.to_owned()));
            }
            Change::Anything => self.news.update(|news| {
                news.tools |= self.tools;
                news.prompts |= self.prompts;
                news.resources |= self.resources;
                news.updated.extend(self.watched.iter().cloned());
                news.tasks.extend(news.followed.iter().cloned());
            }),
            _ => {}
        }
    }

    fn dismiss(&self) {
        self.news.update(|news| news.dismissed = true);
    }
}
