//! Who hears of what changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use slab::Slab;

/// What changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Tools,
    Prompts,
    Resources,
    /// What there is to read at a URI.
    Resource(&'a str),
}

/// Somebody who hears of changes, and decides whether they are worth a notification.
pub(crate) trait Listener: Send + Sync {
    fn hear(&self, change: Change<'_>);

    /// The server wants to tell it no more.
    fn dismiss(&self) {}
}

/// Those who listen. Nobody pays for a connection that does not.
#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<Slab<Weak<dyn Listener>>>>);

/// A place among those who listen, given up when it is dropped.
pub(crate) struct Listening {
    listeners: Listeners,
    key: usize,
}

impl Listeners {
    /// Listens from now on.
    pub(crate) fn add(&self, listener: Weak<dyn Listener>) -> Listening {
        Listening { listeners: self.clone(), key: self.lock().insert(listener) }
    }

    pub(crate) fn announce(&self, change: Change<'_>) {
        self.each(|listener| listener.hear(change));
    }

    pub(crate) fn dismiss(&self) {
        self.each(|listener| listener.dismiss());
    }

    /// Nobody is told while the list is locked: whoever hears may stop listening at once.
    fn each(&self, mut tell: impl FnMut(&dyn Listener)) {
        let there: Vec<_> = self.lock().iter().filter_map(|(_, listener)| listener.upgrade()).collect();
        there.iter().for_each(|listener| tell(&**listener));
    }

    fn lock(&self) -> MutexGuard<'_, Slab<Weak<dyn Listener>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.listeners.lock().try_remove(self.key);
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
        assert_eq!(listeners.lock().len(), 1);
    }
}
