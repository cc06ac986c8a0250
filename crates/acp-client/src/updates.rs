//! Who reads the updates of turns beside the client itself.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use agentwire_acp_schema::v1::SessionId;
use agentwire_peer::CallError;
use agentwire_sync::{Mutex, MutexGuard};

/// How much may wait to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) updates: usize,
    /// As they came, in JSON. What is made of them in memory is some times that.
    pub(crate) bytes: usize,
}

impl Default for Limit {
    fn default() -> Self {
        Self { updates: 65_536, bytes: 64 << 20 }
    }
}

/// Sees every update that a reader is for, also when the reader keeps none.
pub(crate) trait Watch<U> {
    /// Looks at an update. Says whether the reader is to be woken.
    fn hear(&mut self, update: &U) -> bool;
}

impl<U> Watch<U> for () {
    fn hear(&mut self, _: &U) -> bool {
        false
    }
}

/// The readers of a connection, by session.
pub(crate) struct Readers<U, W>(Arc<Inner<U, W>>);

struct Inner<U, W> {
    /// How many there are, so that a connection without any pays nothing for them.
    count: AtomicUsize,
    by_session: Mutex<BySession<U, W>>,
}

type BySession<U, W> = HashMap<SessionId, Vec<Arc<Inbox<U, W>>>>;

impl<U, W> Clone for Readers<U, W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<U, W> Default for Readers<U, W> {
    fn default() -> Self {
        Self(Arc::new(Inner { count: AtomicUsize::new(0), by_session: Mutex::default() }))
    }
}

impl<U, W> fmt::Debug for Readers<U, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers").field("count", &self.0.count).finish()
    }
}

impl<U: Clone, W: Watch<U>> Readers<U, W> {
    /// Gives an update, which came in so many bytes, to those who read its session.
    pub(crate) fn hear(&self, session: &SessionId, update: &U, bytes: usize) {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let by_session = self.0.lock();
        let readers = by_session.get(session).map(Vec::as_slice).unwrap_or_default();
        let wakers: Vec<Waker> = readers.iter().filter_map(|inbox| inbox.put(update, bytes)).collect();
        drop(by_session);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Tells all who watch a session something that is no update.
    #[cfg(feature = "v2")]
    pub(crate) fn tell(&self, session: &SessionId, tell: impl Fn(&mut W)) {
        let by_session = self.0.lock();
        let readers = by_session.get(session).map(Vec::as_slice).unwrap_or_default();
        let told = |inbox: &Arc<Inbox<U, W>>| {
            let mut state = inbox.lock();
            tell(&mut state.watch);
            state.waker.take()
        };
        let wakers: Vec<Waker> = readers.iter().filter_map(told).collect();
        drop(by_session);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Reads a session from now on. `limit` is how much may wait; nothing is kept without one.
    pub(crate) fn read(&self, session: &SessionId, limit: Option<Limit>, watch: W) -> Reader<U, W> {
        let state = State { queue: VecDeque::new(), bytes: 0, limit, excess: None, waker: None, watch };
        let inbox = Arc::new(Inbox(Mutex::new(state)));
        let mut by_session = self.0.lock();
        by_session.entry(session.clone()).or_default().push(inbox.clone());
        self.0.count.fetch_add(1, Ordering::Release);
        drop(by_session);
        Reader { readers: self.clone(), session: session.clone(), inbox }
    }
}

impl<U, W> Inner<U, W> {
    fn lock(&self) -> MutexGuard<'_, BySession<U, W>> {
        self.by_session.lock()
    }
}

/// One place where updates wait to be read.
pub(crate) struct Inbox<U, W>(Mutex<State<U, W>>);

struct State<U, W> {
    /// Updates, each with the number of bytes in which it came.
    queue: VecDeque<(U, usize)>,
    /// How many bytes those are.
    bytes: usize,
    /// None where nobody wants the updates themselves, or any more of them.
    limit: Option<Limit>,
    /// What there is too much of, once an update came that there was no room for. From then on none is kept.
    excess: Option<Excess>,
    waker: Option<Waker>,
    watch: W,
}

/// The limit that was reached.
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

impl<U, W> Inbox<U, W> {
    /// What the watch knows.
    #[cfg(feature = "v2")]
    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut W) -> R) -> R {
        look(&mut self.lock().watch)
    }

    fn lock(&self) -> MutexGuard<'_, State<U, W>> {
        self.0.lock()
    }
}

impl<U: Clone, W: Watch<U>> Inbox<U, W> {
    /// Keeps an update. Gives who is to be woken for it.
    fn put(&self, update: &U, bytes: usize) -> Option<Waker> {
        let mut state = self.lock();
        let state = &mut *state;
        let mut wakes = state.watch.hear(update);
        if let Some(limit) = state.limit {
            wakes = true;
            state.excess = match state.bytes.checked_add(bytes).filter(|bytes| *bytes <= limit.bytes) {
                _ if state.queue.len() >= limit.updates => Some(Excess::Updates(limit.updates)),
                None => Some(Excess::Bytes(limit.bytes)),
                Some(all) => {
                    state.queue.push_back((update.clone(), bytes));
                    state.bytes = all;
                    None
                }
            };
            if state.excess.is_some() {
                state.limit = None;
            }
        }
        if wakes { state.waker.take() } else { None }
    }
}

/// Reads the updates of a session until it is dropped.
pub(crate) struct Reader<U, W> {
    readers: Readers<U, W>,
    session: SessionId,
    inbox: Arc<Inbox<U, W>>,
}

impl<U, W> Reader<U, W> {
    /// Is woken for the next update, and when the watch says so. To be called before looking at either.
    pub(crate) fn listen(&self, cx: &Context<'_>) {
        let mut state = self.inbox.lock();
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
    }

    /// The oldest update that waits, or an error where there was no room for one.
    pub(crate) fn take(&self, method: &'static str) -> Option<Result<U, CallError>> {
        let mut state = self.inbox.lock();
        if let Some((update, bytes)) = state.queue.pop_front() {
            state.bytes -= bytes;
            return Some(Ok(update));
        }
        let excess = state.excess?;
        Some(Err(CallError::unusable(method, excess.to_string())))
    }

    /// What waits is all that is wanted.
    pub(crate) fn close(&self) {
        self.inbox.lock().limit = None;
    }

    /// What the watch knows.
    #[cfg(feature = "v2")]
    pub(crate) fn watch<R>(&self, look: impl FnOnce(&mut W) -> R) -> R {
        self.inbox.look(look)
    }

    /// Where the watch can be reached without the reader.
    #[cfg(feature = "v2")]
    pub(crate) fn inbox(&self) -> Arc<Inbox<U, W>> {
        self.inbox.clone()
    }
}

impl<U, W> Drop for Reader<U, W> {
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
