//! Who hears of what changes.

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

/// Somebody who hears of changes, and decides whether they are worth a notification.
pub(crate) trait Listener: Send + Sync {
    fn hear(&self, change: Change<'_>);

    /// The server wants to tell it no more.
    fn dismiss(&self) {}
}

/// Those who listen. Nobody pays for a connection that does not.
#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<There>>);

/// By number. A tree, because what a crowd took of one large piece would not be given back.
#[derive(Default)]
struct There {
    listeners: BTreeMap<u64, Weak<dyn Listener>>,
    next: u64,
}

/// A place among those who listen, given up when it is dropped.
pub(crate) struct Listening {
    listeners: Listeners,
    key: u64,
}

impl Listeners {
    /// Listens from now on.
    pub(crate) fn add(&self, listener: Weak<dyn Listener>) -> Listening {
        let mut there = self.lock();
        let key = there.next;
        there.next += 1;
        there.listeners.insert(key, listener);
        drop(there);
        Listening { listeners: self.clone(), key }
    }

    pub(crate) fn announce(&self, change: Change<'_>) {
        self.each(|listener| listener.hear(change));
    }

    pub(crate) fn dismiss(&self) {
        self.each(|listener| listener.dismiss());
    }

    /// Nobody is told while the list is locked: whoever hears may stop listening at once.
    fn each(&self, mut tell: impl FnMut(&dyn Listener)) {
        let there: Vec<_> = self.lock().listeners.values().filter_map(Weak::upgrade).collect();
        there.iter().for_each(|listener| tell(&**listener));
    }

    fn lock(&self) -> MutexGuard<'_, There> {
        self.0.lock()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.listeners.lock().listeners.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Ear(AtomicUsize);

    impl Listener for Ear {
        fn hear(&self, _change: Change<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_leaves_takes_no_place_and_hears_nothing() {
        let listeners = Listeners::default();
        let ears = [Arc::new(Ear::default()), Arc::new(Ear::default())];
        let [first, second] = &ears;
        let place = |ear: &Arc<Ear>| -> Weak<dyn Listener> { Arc::<Ear>::downgrade(ear) };
        let _stays = listeners.add(place(first));
        drop(listeners.add(place(second)));
        listeners.announce(Change::Tools);
        assert_eq!(ears.map(|ear| ear.0.load(Ordering::Relaxed)), [1, 0]);
        assert_eq!(listeners.lock().listeners.len(), 1);
    }
}
