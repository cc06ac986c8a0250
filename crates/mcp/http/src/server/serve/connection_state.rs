//! Counts the begun and answered requests of a TCP connection, and closes it at once or after its last response.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::task::AtomicWaker;
use hyper::body::Incoming;

use crate::sync::Mutex;

/// The connection takes requests.
const OPEN: u8 = 0;
/// The connection finishes the requests that have begun, and takes no more.
const FINISHING: u8 = 1;
/// The connection closes at once.
const CLOSED: u8 = 2;

/// The state of a connection: whether it waits for a request or answers some, and whether it is to be closed.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    begun: AtomicU32,
    ended: AtomicU32,
    /// Whether the client speaks HTTP/2, in which several requests are answered at once.
    http2: AtomicBool,
    opened: Instant,
    /// When it began to wait for a request: milliseconds since it was opened.
    waiting: AtomicU64,
    close: AtomicU8,
    /// The connection's own task.
    task: AtomicWaker,
    /// HTTP/1 only.
    unread: Mutex<Unread>,
}

/// The unread rest of the body of the request that is being answered.
#[derive(Debug, Default)]
struct Unread {
    body: Option<Incoming>,
    /// Whether the response has looked for it. A rest that comes later is dropped, because hyper waits as long as it is held.
    was_taken: bool,
}

/// Held from the head of a request to the end of the response.
#[derive(Debug)]
pub(crate) struct RequestGuard(Arc<ConnectionState>);

impl ConnectionState {
    pub(crate) fn new(opened: Instant) -> Arc<Self> {
        Arc::new(Self {
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            http2: AtomicBool::new(false),
            opened,
            waiting: AtomicU64::new(0),
            close: AtomicU8::new(OPEN),
            task: AtomicWaker::new(),
            unread: Mutex::default(),
        })
    }

    /// Counts a request that has come.
    pub(crate) fn begin(self: &Arc<Self>) -> RequestGuard {
        self.begun.fetch_add(1, Ordering::Relaxed);
        if !self.is_http2() {
            *self.unread.lock() = Unread::default();
        }
        RequestGuard(self.clone())
    }

    /// How many requests have been answered. `None` while one is unanswered.
    pub(crate) fn waits(&self) -> Option<u32> {
        let begun = self.begun.load(Ordering::Relaxed);
        (begun == self.ended.load(Ordering::Relaxed)).then_some(begun)
    }

    /// Notes that the client speaks HTTP/2. Returns whether that was known.
    pub(crate) fn set_http2(&self) -> bool {
        self.http2.swap(true, Ordering::Relaxed)
    }

    /// Whether the client speaks HTTP/2.
    pub(crate) fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }

    /// Notes that the connection waits for a request from `now` on.
    pub(crate) fn rest(&self, now: Instant) {
        let since = now.saturating_duration_since(self.opened).as_millis();
        self.waiting.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Since when it waits for a request, if it does.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        self.waits()?;
        let waiting = Duration::from_millis(self.waiting.load(Ordering::Relaxed));
        Some(self.opened + waiting)
    }

    /// Makes the connection close, at once or after the requests that have begun.
    pub(crate) fn close(&self, at_once: bool) {
        self.close.fetch_max(if at_once { CLOSED } else { FINISHING }, Ordering::Relaxed);
        self.task.wake();
    }

    /// Keeps the rest of a body that was dropped before its end.
    pub(crate) fn set_unread(&self, body: Incoming) {
        let mut unread = self.unread.lock();
        unread.body = Some(body).filter(|_| !unread.was_taken);
    }

    pub(crate) fn is_to_close(&self) -> bool {
        self.close.load(Ordering::Relaxed) != OPEN
    }

    /// Runs a connection until it ends or is closed. `finish` makes it finish what has begun.
    /// The connection is boxed, because each future that wraps it would otherwise contain it.
    pub(crate) async fn run<C: Future>(&self, mut connection: Pin<Box<C>>, finish: impl Fn(Pin<&mut C>)) {
        let mut finishing = false;
        std::future::poll_fn(|cx| {
            self.task.register(cx.waker());
            loop {
                match self.close.load(Ordering::Relaxed) {
                    CLOSED => return Poll::Ready(()),
                    FINISHING if !finishing => {
                        finishing = true;
                        finish(connection.as_mut());
                    }
                    _ => {}
                }
                // The result is ignored: the client sees how its connection ended.
                if connection.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(());
                }
                // It may have found while it was polled that it should close.
                if finishing || !self.is_to_close() {
                    return Poll::Pending;
                }
            }
        })
        .await;
    }
}

impl RequestGuard {
    /// Takes the unread rest of the body of the request.
    pub(crate) fn take_unread(&self) -> Option<Incoming> {
        let mut unread = self.0.unread.lock();
        unread.was_taken = true;
        unread.body.take()
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
        // A stream of HTTP/2 ends in a task of its own. The task of the connection starts its idle timer.
        if self.0.is_http2() && self.0.waits().is_some() {
            self.0.task.wake();
        }
    }
}
