//! What waits for time to pass, or for the end of the endpoint.

use std::sync::Arc;
use std::task::{Context, Waker};

use agentwire_sync::Mutex;
use slab::Slab;

use crate::server::response_stream::ResponseStream;
use crate::server::shared::Shared;

/// Everything of an endpoint for which time matters, but for sessions.
#[derive(Debug, Default)]
pub(crate) struct Timed(Mutex<Slab<Entry>>);

#[derive(Debug)]
enum Entry {
    /// A stream that has a reader.
    Stream(Arc<ResponseStream>),
    /// An exchange whose response has not begun, and the tick at which it started.
    Exchange { waker: Waker, since: u32 },
}

/// An entry, which goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    shared: Arc<Shared>,
    key: usize,
}

impl Timed {
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Every stream that has a reader.
    pub(crate) fn streams(&self) -> Vec<Arc<ResponseStream>> {
        let stream = |(_, entry): (_, &Entry)| match entry {
            Entry::Stream(stream) => Some(stream.clone()),
            Entry::Exchange { .. } => None,
        };
        self.0.lock().iter().filter_map(stream).collect()
    }

    /// Wakes the exchanges that fit, by the tick at which they started.
    pub(crate) fn wake_exchanges(&self, fits: impl Fn(u32) -> bool) {
        let waker = |(_, entry): (_, &Entry)| match entry {
            Entry::Exchange { waker, since } if fits(*since) => Some(waker.clone()),
            _ => None,
        };
        let due: Vec<Waker> = self.0.lock().iter().filter_map(waker).collect();
        due.into_iter().for_each(Waker::wake);
    }

    fn add(&self, entry: Entry) -> usize {
        self.0.lock().insert(entry)
    }

    /// Has an exchange woken through this waker from now on.
    fn set_waker(&self, key: usize, new: &Waker) {
        let mut entries = self.0.lock();
        let replaced = match entries.get_mut(key) {
            Some(Entry::Exchange { waker, .. }) if !waker.will_wake(new) => {
                Some(std::mem::replace(waker, new.clone()))
            }
            _ => None,
        };
        drop(entries);
        // It may be the last owner of a task, whose end uses these entries too.
        drop(replaced);
    }

    fn remove(&self, key: usize) {
        let mut entries = self.0.lock();
        let entry = entries.try_remove(key);
        // What a crowd took is given back when it has gone.
        if entries.is_empty() && entries.capacity() > 1024 {
            entries.shrink_to_fit();
        }
        drop(entries);
        drop(entry);
    }
}

impl Shared {
    /// Lets time matter to a stream that has a reader.
    pub(crate) fn register_stream(self: &Arc<Self>, stream: &Arc<ResponseStream>) -> Registration {
        let key = self.timed.add(Entry::Stream(stream.clone()));
        if self.is_closing() {
            stream.begin_shutdown();
        }
        self.start_clock();
        Registration { shared: self.clone(), key }
    }

    /// Has an exchange woken when the head delay has passed, and when the endpoint is about to end.
    pub(crate) fn register_exchange(
        self: &Arc<Self>,
        registration: &mut Option<Registration>,
        since: u32,
        cx: &Context<'_>,
    ) {
        if let Some(Registration { key, .. }) = registration {
            return self.timed.set_waker(*key, cx.waker());
        }
        let key = self.timed.add(Entry::Exchange { waker: cx.waker().clone(), since });
        *registration = Some(Registration { shared: self.clone(), key });
        self.start_clock();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.shared.timed.remove(self.key);
    }
}
