//! Listeners for changes of tools, resources, prompts and tasks.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use agentwire_sync::{Mutex, MutexGuard};

/// What changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Tools,
    Prompts,
    Resources,
    /// What there is to read at a URI.
    Resource(&'a str),
    /// How the task of that id stands.
    Task(&'a str),
}

/// Called on changes. It decides whether to send a notification.
pub(crate) trait Listener: Send + Sync {
    fn on_change(&self, change: Change<'_>);

    /// The server ends the subscription.
    fn dismiss(&self) {}
}

/// The registered listeners. A connection without a listener costs nothing.
#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<ListenerTable>>);

/// By number. A tree, because what a crowd took of one large piece would not be given back.
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

    pub(crate) fn announce(&self, change: Change<'_>) {
        self.each(|listener| listener.on_change(change));
    }

    pub(crate) fn dismiss(&self) {
        self.each(|listener| listener.dismiss());
    }

    /// Calls each listener outside the lock, because a listener may unregister at once.
    fn each(&self, mut tell: impl FnMut(&dyn Listener)) {
        let there: Vec<_> = self.lock().listeners.values().filter_map(Weak::upgrade).collect();
        there.iter().for_each(|listener| tell(&**listener));
    }

    fn lock(&self) -> MutexGuard<'_, ListenerTable> {
        self.0.lock()
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
