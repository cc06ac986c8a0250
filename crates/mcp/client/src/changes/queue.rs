//! The changes that a server announces, queued for the readers of `Changes`.

use std::collections::VecDeque;
use std::sync::Arc;

use agentwire_jsonrpc::{Notification, NotificationMethod, RawJson};
use agentwire_mcp_schema::{
    PromptListChangedNotification, ResourceListChangedNotification, ResourceUpdatedNotification,
    SubscriptionFilter, ToolListChangedNotification,
};
use agentwire_sync::{Monitor, Mutex};
use agentwire_transport::TransportError;

use crate::Warning;

/// The maximum length of a queue of changes. On overflow the queue is emptied and reports [`Change::Missed`].
const LIMIT: usize = 1024;

/// The maximum of their bytes: 1 MiB. A server chooses how long the URI of a part of a resource is.
const BYTES_LIMIT: usize = 1 << 20;

/// A change at a server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// Changes may have been missed, so everything that the filter names may have changed. The queue overflowed; or the stream of
    /// a session over HTTP broke off and could not be resumed; or, in a hub, the server was restarted, its session was opened
    /// again, or the subscription broke off.
    Missed,
    /// The server reports no changes of a session by itself, from the beginning or from now on: it has refused the stream
    /// for them, by HTTP status 405, 401 or 403 for example, or the stream was given up. Changes may still arrive while a
    /// call runs, but a program that must not miss any reads again from time to time. This comes once for a connection, and
    /// the stream of changes goes on.
    /// [`Warning::ChangesOnlyWithCalls`](crate::Warning::ChangesOnlyWithCalls) has the reason.
    Unreported,
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// A resource: the subscribed one or, if the server reports that, a part of it.
    #[non_exhaustive]
    Resource {
        /// Its URI.
        uri: String,
    },
    /// A notification of an extension, as it arrived.
    Other(Notification),
}

impl Change {
    /// The change that a notification announces. `None` if its params cannot be decoded, as leniently as for the hooks.
    fn of(notification: Notification) -> Option<Self> {
        Some(match &*notification.method {
            ToolListChangedNotification::NAME => Self::Tools,
            PromptListChangedNotification::NAME => Self::Prompts,
            ResourceListChangedNotification::NAME => Self::Resources,
            ResourceUpdatedNotification::NAME => {
                let update: ResourceUpdatedNotification = notification.params?.decode_leniently().ok()?;
                Self::Resource { uri: update.uri }
            }
            _ => Self::Other(notification),
        })
    }

    /// Whether both are the same text. `==` would parse both and compare values.
    fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Other(one), Self::Other(other)) => {
                let (params, others) = (one.params.as_ref(), other.params.as_ref());
                one.method == other.method && params.map(RawJson::as_str) == others.map(RawJson::as_str)
            }
            _ => self == other,
        }
    }

    /// Its approximate size in bytes.
    fn cost(&self) -> usize {
        let text = match self {
            Self::Resource { uri } => uri.len(),
            Self::Other(Notification { method, params, .. }) => {
                method.len() + params.as_ref().map_or(0, RawJson::len)
            }
            _ => 0,
        };
        size_of::<Self>() + text
    }

    /// Whether a change of a session matches a filter. The server may name a part of a subscribed resource.
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

/// Whether a resource is `whole` or, judging by its URI, a part of it.
fn is_part(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole)
        .is_some_and(|rest| rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#']))
}

/// The received changes that the reader of `Changes` has not taken. Each change is queued once.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue(Monitor<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    changes: VecDeque<Change>,
    bytes: usize,
    /// Whether [`Change::Missed`] is due.
    missed: bool,
    /// Whether [`Change::Unreported`] is due.
    unreported: bool,
}

impl ChangeQueue {
    pub(crate) fn add(&self, notification: Notification) {
        if let Some(change) = Change::of(notification) {
            self.push(change);
        }
    }

    /// Returns the next change. Dropping the future loses none.
    pub(crate) async fn next(&self) -> Change {
        self.0.wait_until(Waiting::take).await
    }

    fn push(&self, change: Change) {
        self.0.update(|waiting| match change {
            Change::Missed => waiting.missed = true,
            Change::Unreported => waiting.unreported = true,
            change if waiting.changes.iter().any(|queued| queued.is_identical(&change)) => {}
            change => waiting.add(change),
        });
    }
}

impl Waiting {
    fn add(&mut self, change: Change) {
        let cost = change.cost();
        if self.changes.len() == LIMIT || self.bytes + cost > BYTES_LIMIT {
            *self = Self { missed: true, unreported: self.unreported, ..Self::default() };
        }
        if cost <= BYTES_LIMIT {
            self.bytes += cost;
            self.changes.push_back(change);
        }
    }

    fn take(&mut self) -> Option<Change> {
        if std::mem::take(&mut self.missed) {
            return Some(Change::Missed);
        }
        if std::mem::take(&mut self.unreported) {
            return Some(Change::Unreported);
        }
        let change = self.changes.pop_front()?;
        self.bytes -= change.cost();
        Some(change)
    }
}

/// The queues of the [`Changes`](super::Changes) of one session, each with its filter. A session's notifications name no
/// subscription, so each queue gets those that its filter matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionQueues(Arc<Mutex<SessionQueueList>>);

#[derive(Debug, Default)]
struct SessionQueueList {
    queues: Vec<FilteredQueue>,
    /// Whether the server reports changes only while calls run, if at all.
    is_unreported: bool,
    /// The reason why it is unreported, until a queue exists and the warning is given.
    unwarned: Option<Arc<TransportError>>,
}

#[derive(Debug)]
struct FilteredQueue {
    filter: SubscriptionFilter,
    queue: Arc<ChangeQueue>,
}

impl SessionQueues {
    /// Queues the changes that match the filter, and gaps, until the registration is dropped.
    pub(crate) fn open(&self, filter: SubscriptionFilter, queue: &Arc<ChangeQueue>) -> QueueRegistration {
        let mut list = self.0.lock();
        if list.is_unreported {
            queue.push(Change::Unreported);
        }
        list.queues.push(FilteredQueue { filter, queue: queue.clone() });
        QueueRegistration { session_queues: self.clone(), queue: queue.clone() }
    }

    /// Queues the change that a notification announces in each queue whose filter matches.
    pub(crate) fn add(&self, notification: &Notification) {
        let list = self.0.lock();
        if list.queues.is_empty() {
            return;
        }
        let Some(change) = Change::of(notification.clone()) else { return };
        for open in list.queues.iter().filter(|open| change.is_wanted(&open.filter)) {
            open.queue.push(change.clone());
        }
    }

    /// Queues in each queue [`Change::Missed`], or [`Change::Unreported`] if the reports have ended.
    pub(crate) fn gap(&self, end: Option<Arc<TransportError>>) {
        let mut list = self.0.lock();
        let change = if end.is_some() { Change::Unreported } else { Change::Missed };
        list.is_unreported |= end.is_some();
        list.unwarned = end.or(list.unwarned.take());
        list.queues.iter().for_each(|open| open.queue.push(change.clone()));
    }

    /// Takes the warning that is due, once for all queues.
    pub(crate) fn take_warning(&self) -> Option<Warning> {
        let mut list = self.0.lock();
        let error = if list.queues.is_empty() { None } else { list.unwarned.take() };
        error.map(|error| Warning::ChangesOnlyWithCalls { error })
    }
}

/// Keeps a queue subscribed until it is dropped.
pub(crate) struct QueueRegistration {
    session_queues: SessionQueues,
    queue: Arc<ChangeQueue>,
}

impl Drop for QueueRegistration {
    fn drop(&mut self) {
        self.session_queues.0.lock().queues.retain(|open| !Arc::ptr_eq(&open.queue, &self.queue));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::json;

    use super::*;

    fn updated(uri: &str) -> Notification {
        let update = RawJson::encode(&ResourceUpdatedNotification::new(uri)).unwrap();
        Notification::new(ResourceUpdatedNotification::NAME, Some(update))
    }

    fn next(queue: &ChangeQueue) -> Option<Change> {
        queue.next().now_or_never()
    }

    #[test]
    fn queued_change_is_not_queued_again_and_overflow_is_a_gap() {
        let queue = ChangeQueue::default();
        for uri in ["a:", "b:", "a:"] {
            queue.add(updated(uri));
        }
        let resource = |uri: &str| Some(Change::Resource { uri: uri.into() });
        let told = [(); 3].map(|()| next(&queue));
        assert_eq!(told, [resource("a:"), resource("b:"), None]);
        for number in 0..=LIMIT {
            queue.add(updated(&format!("{number}:")));
        }
        let told = [(); 3].map(|()| next(&queue));
        assert_eq!(told, [Some(Change::Missed), resource(&format!("{LIMIT}:")), None]);
    }

    #[test]
    fn end_of_reports_survives_an_overflow() {
        let queue = ChangeQueue::default();
        queue.push(Change::Unreported);
        for number in 0..=LIMIT {
            queue.add(updated(&format!("{number}:")));
        }
        assert_eq!([(); 2].map(|()| next(&queue)), [Some(Change::Missed), Some(Change::Unreported)]);
    }

    /// The hook `on_resource_updated` accepts such an update too.
    #[test]
    fn update_with_a_malformed_member_is_a_change() {
        let queue = ChangeQueue::default();
        let update = RawJson::encode(&json!({ "uri": "a:", "_meta": 7 })).unwrap();
        queue.add(Notification::new(ResourceUpdatedNotification::NAME, Some(update)));
        assert_eq!(next(&queue), Some(Change::Resource { uri: "a:".into() }));
    }

    /// A comparison of values would parse up to 1,024 notifications for each that arrives.
    #[test]
    fn queued_notifications_are_compared_as_text() {
        let queue = ChangeQueue::default();
        let other = |text: &str| Notification::new("x", Some(RawJson::parse(text.into()).unwrap()));
        let texts = [r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#];
        for text in texts.into_iter().chain(texts) {
            queue.add(other(text));
        }
        let queued: Vec<_> = std::iter::from_fn(|| next(&queue)).collect();
        assert_eq!(queued.len(), 2, "{queued:?}");
    }

    #[test]
    fn long_changes_are_bounded_in_bytes() {
        let queue = ChangeQueue::default();
        let long = |number: usize| format!("{number}:{}", "x".repeat(BYTES_LIMIT / 4));
        for number in 0..40 {
            queue.add(updated(&long(number)));
            queue.add(Notification::new("x", Some(RawJson::encode(&long(number)).unwrap())));
        }
        assert_eq!(next(&queue), Some(Change::Missed));
        let left = std::iter::from_fn(|| next(&queue)).map(|change| change.cost()).sum::<usize>();
        assert!((1..=BYTES_LIMIT).contains(&left), "{left}");
        // A taken change makes room. A change that alone exceeds the limit is missed.
        for number in 0..9 {
            queue.add(updated(&long(number)));
            assert_eq!(next(&queue), Some(Change::Resource { uri: long(number) }));
        }
        queue.add(updated(&"x".repeat(BYTES_LIMIT)));
        assert_eq!([next(&queue), next(&queue)], [Some(Change::Missed), None]);
    }

    #[test]
    fn session_queue_gets_the_changes_of_its_filter() {
        let session_queues = SessionQueues::default();
        let queue = Arc::<ChangeQueue>::default();
        let filter: SubscriptionFilter =
            serde_json::from_value(json!({ "promptsListChanged": true, "resourceSubscriptions": ["a:1"] }))
                .unwrap();
        let registration = session_queues.open(filter, &queue);
        for uri in ["b:", "a:10", "a:1/part"] {
            session_queues.add(&updated(uri));
        }
        assert_eq!(next(&queue), Some(Change::Resource { uri: "a:1/part".into() }));
        drop(registration);
        session_queues.add(&updated("a:1"));
        assert_eq!(next(&queue), None);
    }
}
