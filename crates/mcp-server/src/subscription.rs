//! An open `subscriptions/listen`.

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
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
use agentwire_peer::CallError;
use agentwire_sync::{Monitor, Waiter};

use crate::Server;
use crate::listeners::{Change, Listener, Listening};
use crate::scope::RequestScope;
use crate::tasks::Followed;
use crate::watch_list::WatchList;

/// A client that listens. It is told for as long as this is there.
pub(crate) struct Subscription {
    id: RequestId,
    /// What the client is told first that it will hear of.
    honoured: SubscriptionFilter,
    changes: Arc<Changes>,
    _listening: Listening,
    tasks: Option<Box<(Followed, Listening)>>,
}

/// What a client has not been told yet. However often something changes before it takes the news, they are one: so a
/// client that reads slowly makes nothing grow.
struct Changes {
    tools: bool,
    prompts: bool,
    resources: bool,
    watched: WatchList,
    news: Monitor<News>,
}

#[derive(Default)]
struct News {
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

/// What a client is told next.
enum Told {
    Tools,
    Prompts,
    Resources,
    Resource(Arc<str>),
    Task(String),
}

impl Subscription {
    /// Listens from now on to what is in the filter. The URIs in it are those that are watched.
    pub(crate) fn open(
        server: &Server,
        id: RequestId,
        honoured: SubscriptionFilter,
        watched: WatchList,
        tasks: Option<Followed>,
    ) -> Self {
        let changes = Arc::new(Changes {
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
        let listening = server.listeners().add(Arc::downgrade(&listener));
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

    /// Finds out which of the tasks there are. Of those that are done, or wait for the client, there is news already: by
    /// themselves they give none.
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

    /// Tells the client what it agreed to hear of, and then of every change, until it has left or is told no more.
    pub(crate) async fn run(self, scope: &RequestScope) -> Result<(), CallError> {
        // The filter is not kept beside its text while that waits for room, nor later.
        let acknowledging = {
            let acknowledged = SubscriptionsAcknowledgedNotification::new(self.id.clone(), self.honoured);
            scope.notify(&acknowledged)
        };
        acknowledging.await?;
        let meta = NotificationMeta::new(self.id).to_meta();
        let mut closing = scope.closing();
        let mut waiter = Waiter::new(&self.changes.news);
        let mut next = poll_fn(|cx| match Pin::new(&mut closing).poll(cx) {
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => waiter.poll(cx, News::next),
        });
        while let Some(told) = (&mut next).await {
            if let (Told::Task(id), Some((tasks, _))) = (&told, self.tasks.as_deref()) {
                tasks.tell(scope, id, meta.clone()).await?;
                continue;
            }
            tell(scope, told, meta.clone()).await?;
        }
        Ok(())
    }
}

async fn tell(scope: &RequestScope, told: Told, meta: Meta) -> Result<(), CallError> {
    match told {
        Told::Tools => scope.notify(&ToolListChangedNotification::default().meta(meta)).await,
        Told::Prompts => scope.notify(&PromptListChangedNotification::default().meta(meta)).await,
        Told::Resources => scope.notify(&ResourceListChangedNotification::default().meta(meta)).await,
        Told::Resource(uri) => scope.notify(&ResourceUpdatedNotification::new(&*uri).meta(meta)).await,
        // Somebody else does, who knows them.
        Told::Task(_) => Ok(()),
    }
}

impl News {
    /// What the client is told next: none while there is nothing, and none inside once it is told no more.
    fn next(&mut self) -> Option<Option<Told>> {
        if let Some(id) = self.tasks.pop_first() {
            return Some(Some(Told::Task(id)));
        }
        if std::mem::take(&mut self.tools) {
            Some(Some(Told::Tools))
        } else if std::mem::take(&mut self.prompts) {
            Some(Some(Told::Prompts))
        } else if std::mem::take(&mut self.resources) {
            Some(Some(Told::Resources))
        } else if let Some(uri) = self.updated.pop_first() {
            Some(Some(Told::Resource(uri)))
        } else {
            self.dismissed.then_some(None)
        }
    }
}

impl Listener for Changes {
    fn hear(&self, change: Change<'_>) {
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
            _ => {}
        }
    }

    fn dismiss(&self) {
        self.news.update(|news| news.dismissed = true);
    }
}
