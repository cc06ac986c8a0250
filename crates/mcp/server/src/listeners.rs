//! Listeners for changes of tools, resources, prompts and tasks, at this node and at others.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};

use agentwire_store::{BusEvent, BusMessage, Node, NodeListener};
use agentwire_sync::{Mutex, MutexGuard};

/// The kind of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Tools,
    Prompts,
    Resources,
    /// The contents of the resource at a URI.
    Resource(&'a str),
    /// The state of the task with that id.
    Task(&'a str),
    /// Messages of other nodes may be lost, so any of these may have changed.
    Anything,
}

impl<'a> Change<'a> {
    /// The change that another node reports. `None` if it reports something else.
    fn of(event: &'a BusEvent) -> Option<Self> {
        Some(match event {
            BusEvent::Missed => Self::Anything,
            BusEvent::Message(BusMessage::Tools) => Self::Tools,
            BusEvent::Message(BusMessage::Prompts) => Self::Prompts,
            BusEvent::Message(BusMessage::Resources) => Self::Resources,
            BusEvent::Message(BusMessage::Resource(uri)) => Self::Resource(uri),
            _ => return None,
        })
    }

    fn message(self) -> BusMessage {
        match self {
            Self::Tools => BusMessage::Tools,
            Self::Prompts => BusMessage::Prompts,
            Self::Resources => BusMessage::Resources,
            Self::Resource(uri) => BusMessage::Resource(uri.to_owned()),
            Self::Task(id) => BusMessage::Task(id.to_owned()),
            Self::Anything => BusMessage::Anything,
        }
    }
}

/// Called on changes. It decides whether to send a notification.
pub(crate) trait Listener: Send + Sync {
    fn on_change(&self, change: Change<'_>);

    /// The server ends the subscription.
    fn dismiss(&self) {}
}

/// The registered listeners. A connection without a listener costs nothing.
#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Inner>);

#[derive(Default)]
struct Inner {
    table: Mutex<ListenerTable>,
    /// The node that shares changes with other nodes.
    node: OnceLock<Node>,
}

/// By number. A tree, because a hash table would keep its memory after many listeners have gone.
#[derive(Default)]
struct ListenerTable {
    listeners: BTreeMap<u64, Weak<dyn Listener>>,
    next: u64,
}

/// Keeps a listener registered until it is dropped.
pub(crate) struct ListenerGuard {
    listeners: Listeners,
    key: u64,
}

impl Listeners {
    /// Registers a listener.
    pub(crate) fn add(&self, listener: Weak<dyn Listener>) -> ListenerGuard {
        let mut there = self.lock();
        let key = there.next;
        there.next += 1;
        there.listeners.insert(key, listener);
        drop(there);
        ListenerGuard { listeners: self.clone(), key }
    }

    /// Announces changes to other nodes too, from now on. The first node stays.
    pub(crate) fn share(&self, node: &Node) {
        self.0.node.get_or_init(|| node.clone());
    }

    /// Notifies the listeners of changes at other nodes too.
    pub(crate) fn receive(&self, node: &Node) {
        let listener: Weak<dyn NodeListener> = Arc::<Inner>::downgrade(&self.0);
        node.listen(listener);
    }

    /// Announces a change that was made here.
    pub(crate) fn announce(&self, change: Change<'_>) {
        self.announce_here(change);
        if let Some(node) = self.0.node.get() {
            node.announce(change.message());
        }
    }

    /// Announces a change that other nodes know.
    pub(crate) fn announce_here(&self, change: Change<'_>) {
        self.0.each(|listener| listener.on_change(change));
    }

    pub(crate) fn dismiss(&self) {
        self.0.each(|listener| listener.dismiss());
    }

    fn lock(&self) -> MutexGuard<'_, ListenerTable> {
        self.0.table.lock()
    }
}

impl Inner {
    /// Calls each listener outside the lock, because a listener may unregister at once.
    fn each(&self, mut tell: impl FnMut(&dyn Listener)) {
        let there: Vec<_> = self.table.lock().listeners.values().filter_map(Weak::upgrade).collect();
        there.iter().for_each(|listener| tell(&**listener));
    }
}

impl NodeListener for Inner {
    fn on_event(&self, event: &BusEvent) {
        if let Some(change) = Change::of(event) {
            self.each(|listener| listener.on_change(change));
        }
    }
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        self.listeners.lock().listeners.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Listener for Counter {
        fn on_change(&self, _change: Change<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_leaves_takes_no_place_and_hears_nothing() {
        let listeners = Listeners::default();
        let counters = [Arc::new(Counter::default()), Arc::new(Counter::default())];
        let [first, second] = &counters;
        let place = |counter: &Arc<Counter>| -> Weak<dyn Listener> { Arc::<Counter>::downgrade(counter) };
        let _stays = listeners.add(place(first));
        drop(listeners.add(place(second)));
        listeners.announce(Change::Tools);
        assert_eq!(counters.map(|counter| counter.0.load(Ordering::Relaxed)), [1, 0]);
        assert_eq!(listeners.lock().listeners.len(), 1);
    }
}
