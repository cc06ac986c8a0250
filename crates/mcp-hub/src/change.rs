//! What servers tell of changes, on its way to who listens.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use agentwire_jsonrpc::{Notification, NotificationMethod};
use agentwire_mcp_schema::{
    PromptListChangedNotification, ResourceListChangedNotification, ResourceUpdatedNotification,
    SubscriptionFilter, ToolListChangedNotification,
};
use agentwire_sync::{Monitor, Mutex, MutexGuard};

/// How many changes wait for who listens. What comes on top is missed, and that is told.
const LIMIT: usize = 1024;

/// What has changed at a server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// For a while nothing was heard: the server was started again, its session was begun again, the subscription broke
    /// off, or more has changed than waits to be heard. Whatever is listened for may be other than it was.
    Missed,
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// A resource: the one that was listened for or, where the server says so, a part of it.
    #[non_exhaustive]
    Resource {
        /// Where it is.
        uri: String,
    },
    /// What an extension tells on a subscription, as it came.
    Other(Notification),
}

impl Change {
    /// What a notification tells; none if that cannot be read.
    fn of(notification: Notification) -> Option<Self> {
        Some(match &*notification.method {
            ToolListChangedNotification::NAME => Self::Tools,
            PromptListChangedNotification::NAME => Self::Prompts,
            ResourceListChangedNotification::NAME => Self::Resources,
            ResourceUpdatedNotification::NAME => {
                let update: ResourceUpdatedNotification = notification.params?.decode().ok()?;
                Self::Resource { uri: update.uri }
            }
            _ => Self::Other(notification),
        })
    }

    /// Whether a session's change is what somebody listens for. The server may name a part of what it was asked for.
    fn is_wanted(&self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource { uri } => filter.resource_subscriptions.iter().any(|whole| is_part(uri, whole)),
            _ => false,
        }
    }
}

/// Whether a resource is another one, or a part of it by the looks of its URI.
fn is_part(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole)
        .is_some_and(|rest| rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#']))
}

/// What was heard and not taken yet. The same change does not wait twice.
#[derive(Debug, Default)]
pub(crate) struct Heard(Monitor<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    changes: VecDeque<Change>,
    missed: bool,
}

impl Heard {
    pub(crate) fn add(&self, notification: Notification) {
        if let Some(change) = Change::of(notification) {
            self.push(change);
        }
    }

    /// Nothing was heard for a while.
    pub(crate) fn miss(&self) {
        self.0.update(|waiting| waiting.missed = true);
    }

    /// The next change. Dropping this loses none.
    pub(crate) async fn next(&self) -> Change {
        let next = |waiting: &mut Waiting| match std::mem::take(&mut waiting.missed) {
            true => Some(Change::Missed),
            false => waiting.changes.pop_front(),
        };
        self.0.wait_until(next).await
    }

    fn push(&self, change: Change) {
        self.0.update(|waiting| {
            if waiting.changes.len() == LIMIT {
                *waiting = Waiting { missed: true, ..Waiting::default() };
            }
            if !waiting.changes.contains(&change) {
                waiting.changes.push_back(change);
            }
        });
    }
}

/// Who listens to the sessions with one server: there nobody says for whom a change is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ears(Arc<Mutex<Vec<Ear>>>);

#[derive(Debug)]
struct Ear {
    filter: SubscriptionFilter,
    heard: Weak<Heard>,
}

impl Ears {
    /// Hears what the filter has, for as long as somebody else keeps `heard`.
    pub(crate) fn open(&self, filter: SubscriptionFilter, heard: &Arc<Heard>) {
        let mut ears = self.lock();
        ears.retain(|ear| ear.heard.strong_count() > 0 && !ear.heard.ptr_eq(&Arc::downgrade(heard)));
        ears.push(Ear { filter, heard: Arc::downgrade(heard) });
    }

    pub(crate) fn close(&self, heard: &Arc<Heard>) {
        self.lock().retain(|ear| !ear.heard.ptr_eq(&Arc::downgrade(heard)));
    }

    pub(crate) fn add(&self, notification: Notification) {
        let ears = self.lock();
        if ears.is_empty() {
            return;
        }
        let Some(change) = Change::of(notification) else { return };
        for heard in
            ears.iter().filter(|ear| change.is_wanted(&ear.filter)).filter_map(|ear| ear.heard.upgrade())
        {
            heard.push(change.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Ear>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use agentwire_jsonrpc::RawJson;
    use futures::FutureExt;
    use serde_json::json;

    use super::*;

    fn updated(uri: &str) -> Notification {
        let update = RawJson::encode(&ResourceUpdatedNotification::new(uri)).unwrap();
        Notification::new(ResourceUpdatedNotification::NAME, Some(update))
    }

    fn next(heard: &Heard) -> Option<Change> {
        heard.next().now_or_never()
    }

    #[test]
    fn what_waits_is_told_once_and_what_is_too_much_is_missed() {
        let heard = Heard::default();
        for uri in ["a:", "b:", "a:"] {
            heard.add(updated(uri));
        }
        heard.miss();
        let resource = |uri: &str| Some(Change::Resource { uri: uri.into() });
        let told = [(); 4].map(|()| next(&heard));
        assert_eq!(told, [Some(Change::Missed), resource("a:"), resource("b:"), None]);
        for number in 0..=LIMIT {
            heard.add(updated(&format!("{number}:")));
        }
        let told = [(); 3].map(|()| next(&heard));
        assert_eq!(told, [Some(Change::Missed), resource(&format!("{LIMIT}:")), None]);
    }

    #[test]
    fn in_a_session_each_hears_what_it_wants() {
        let ears = Ears::default();
        let heard = Arc::<Heard>::default();
        let filter: SubscriptionFilter =
            serde_json::from_value(json!({ "promptsListChanged": true, "resourceSubscriptions": ["a:1"] }))
                .unwrap();
        ears.open(filter, &heard);
        for uri in ["b:", "a:10", "a:1/part"] {
            ears.add(updated(uri));
        }
        assert_eq!(next(&heard), Some(Change::Resource { uri: "a:1/part".into() }));
        ears.close(&heard);
        ears.add(updated("a:1"));
        assert_eq!(next(&heard), None);
    }
}
