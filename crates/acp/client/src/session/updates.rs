//! The queues of updates for the streams of turns.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context;

use agentwire_acp_schema::v1::SessionId;
use agentwire_peer::CallError;
use agentwire_sync::{Mutex, MutexGuard, Wakers};

/// The limits of one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) updates: usize,
    /// The bytes of the queued updates as JSON. Decoded they take a multiple of that.
    pub(crate) bytes: usize,
}

impl Default for Limit {
    fn default() -> Self {
        Self { updates: 65_536, bytes: 64 << 20 }
    }
}

/// Sees each update of a reader's session, even if the reader queues none.
pub(crate) trait Observer<U> {
    /// Called for each update. Returns whether to wake the reader.
    fn observe(&mut self, update: &U) -> bool;
}

impl<U> Observer<U> for () {
    fn observe(&mut self, _: &U) -> bool {
        false
    }
}

/// The readers of a connection, by session.
pub(crate) struct Readers<U, O>(Arc<Inner<U, O>>);

struct Inner<U, O> {
    /// How many readers there are. A connection without readers checks only this.
    count: AtomicUsize,
    by_session: Mutex<BySession<U, O>>,
}

type BySession<U, O> = HashMap<SessionId, Vec<Arc<Inbox<U, O>>>>;

impl<U, O> Clone for Readers<U, O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<U, O> Default for Readers<U, O> {
    fn default() -> Self {
        Self(Arc::new(Inner { count: AtomicUsize::new(0), by_session: Mutex::default() }))
    }
}

impl<U, O> fmt::Debug for Readers<U, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers").field("count", &self.0.count).finish()
    }
}

impl<U: Clone, O: Observer<U>> Readers<U, O> {
    /// Queues an update with the length of its JSON for the readers of its session.
    pub(crate) fn publish(&self, session: &SessionId, update: &U, bytes: usize) {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let by_session = self.0.lock();
        let readers = by_session.get(session).map(Vec::as_slice).unwrap_or_default();
        let woken: Vec<_> = readers.iter().filter(|inbox| inbox.put(update, bytes)).cloned().collect();
        drop(by_session);
        woken.iter().for_each(|inbox| inbox.reader.wake_all());
    }

    /// Changes all observers of a session because of an event other than an update.
    #[cfg(feature = "v2")]
    pub(crate) fn update_observers(&self, session: &SessionId, change: impl Fn(&mut O)) {
        let by_session = self.0.lock();
        let readers = by_session.get(session).map(Vec::as_slice).unwrap_or_default();
        let woken = readers.to_vec();
        woken.iter().for_each(|inbox| change(&mut inbox.lock().observer));
        drop(by_session);
        woken.iter().for_each(|inbox| inbox.reader.wake_all());
    }

    /// Starts to read a session. Without a limit no updates are queued.
    pub(crate) fn read(&self, session: &SessionId, limit: Option<Limit>, observer: O) -> Reader<U, O> {
        let queue = Queue { updates: VecDeque::new(), bytes: 0, limit, excess: None, observer };
        let inbox = Arc::new(Inbox { queue: Mutex::new(queue), reader: Wakers::default() });
        let mut by_session = self.0.lock();
        by_session.entry(session.clone()).or_default().push(inbox.clone());
        self.0.count.fetch_add(1, Ordering::Release);
        drop(by_session);
        Reader { readers: self.clone(), session: session.clone(), inbox }
    }
}

impl<U, O> Inner<U, O> {
    fn lock(&self) -> MutexGuard<'_, BySession<U, O>> {
        self.by_session.lock()
    }
}

/// The queue of one reader.
pub(crate) struct Inbox<U, O> {
    queue: Mutex<Queue<U, O>>,
    reader: Wakers<1>,
}

struct Queue<U, O> {
    /// Updates, each with the length of its JSON.
    updates: VecDeque<(U, usize)>,
    /// The sum of their lengths.
    bytes: usize,
    /// `None` if no updates are queued, or no more of them.
    limit: Option<Limit>,
    /// The limit that an update exceeded. From then on no update is queued.
    excess: Option<Excess>,
    observer: O,
}

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug)]
enum Excess {
    Updates(usize),
    Bytes(usize),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Updates(limit) => {
                write!(f, "more than {limit} updates of the turn wait to be read, which is the limit")
            }
            Self::Bytes(limit) => {
                write!(
                    f,
                    "more than {limit} bytes of updates of the turn wait to be read, which is the limit"
                )
            }
        }
    }
}

impl<U, O> Inbox<U, O> {
    /// Reads or changes the observer.
    #[cfg(feature = "v2")]
    pub(crate) fn with_observer<R>(&self, look: impl FnOnce(&mut O) -> R) -> R {
        look(&mut self.lock().observer)
    }

    fn lock(&self) -> MutexGuard<'_, Queue<U, O>> {
        self.queue.lock()
    }
}

impl<U: Clone, O: Observer<U>> Inbox<U, O> {
    /// Queues an update. Returns whether to wake the reader.
    fn put(&self, update: &U, bytes: usize) -> bool {
        let queue = &mut *self.lock();
        let wakes = queue.observer.observe(update);
        let Some(limit) = queue.limit else { return wakes };
        queue.excess = match queue.bytes.checked_add(bytes).filter(|bytes| *bytes <= limit.bytes) {
            _ if queue.updates.len() >= limit.updates => Some(Excess::Updates(limit.updates)),
            None => Some(Excess::Bytes(limit.bytes)),
            Some(all) => {
                queue.updates.push_back((update.clone(), bytes));
                queue.bytes = all;
                None
            }
        };
        if queue.excess.is_some() {
            queue.limit = None;
        }
        true
    }
}

/// Reads the updates of a session until it is dropped.
pub(crate) struct Reader<U, O> {
    readers: Readers<U, O>,
    session: SessionId,
    inbox: Arc<Inbox<U, O>>,
}

impl<U, O> Reader<U, O> {
    /// Registers the task for the next update, and for the wake-ups of the observer. Must be called before either is checked.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        self.inbox.reader.register(0, cx.waker());
    }

    /// Takes the oldest update. If an update exceeded the limit, returns an error after the last queued one.
    pub(crate) fn take(&self, method: &'static str) -> Option<Result<U, CallError>> {
        let mut queue = self.inbox.lock();
        if let Some((update, bytes)) = queue.updates.pop_front() {
            queue.bytes -= bytes;
            return Some(Ok(update));
        }
        let excess = queue.excess?;
        Some(Err(CallError::unusable(method, excess.to_string())))
    }

    /// Stops queueing updates.
    pub(crate) fn close(&self) {
        self.inbox.lock().limit = None;
    }

    /// Reads or changes the observer.
    #[cfg(feature = "v2")]
    pub(crate) fn with_observer<R>(&self, look: impl FnOnce(&mut O) -> R) -> R {
        self.inbox.with_observer(look)
    }

    /// Returns the inbox, which gives access to the observer without the reader.
    #[cfg(feature = "v2")]
    pub(crate) fn inbox(&self) -> Arc<Inbox<U, O>> {
        self.inbox.clone()
    }
}

impl<U, O> Drop for Reader<U, O> {
    fn drop(&mut self) {
        let mut by_session = self.readers.0.lock();
        if let Some(readers) = by_session.get_mut(&self.session) {
            readers.retain(|inbox| !Arc::ptr_eq(inbox, &self.inbox));
            if readers.is_empty() {
                by_session.remove(&self.session);
            }
        }
        self.readers.0.count.fetch_sub(1, Ordering::Release);
    }
}
