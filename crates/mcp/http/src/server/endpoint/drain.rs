//! The phases of an endpoint's shutdown: it refuses new requests, then it cuts those that have not finished.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, code};
use agentwire_sync::{Monitor, Waiter};

/// How long clients may take, after the grace, to read that their requests were cut.
pub(crate) const CUT_TIME: Duration = Duration::from_secs(1);

const OPEN: u8 = 0;
const CLOSING: u8 = 1;
const CUT: u8 = 2;

/// How far an endpoint has shut down. The phases only go forward.
#[derive(Debug)]
pub struct Drain {
    phase: AtomicU8,
    /// Wakes those that wait for the end of the work.
    progress: Monitor<()>,
}

impl Drain {
    /// The endpoint is open.
    pub fn new() -> Self {
        Self { phase: AtomicU8::new(OPEN), progress: Monitor::new(()) }
    }

    /// Whether new requests are refused.
    pub fn is_closing(&self) -> bool {
        self.phase.load(Ordering::SeqCst) != OPEN
    }

    /// Whether the grace is over, so that unfinished work ends.
    pub fn is_cut(&self) -> bool {
        self.phase.load(Ordering::SeqCst) == CUT
    }

    /// Refuses new requests from now on.
    pub fn close(&self) {
        self.phase.fetch_max(CLOSING, Ordering::SeqCst);
    }

    /// Notes that a part of the work has ended. Costs one load unless the endpoint closes.
    pub fn note_end(&self) {
        if self.is_closing() {
            self.progress.update(|()| ());
        }
    }

    /// Waits until `is_idle`, for up to `grace`. Then cuts the rest by `cut`, which sends errors to the clients, and lets them
    /// read these for up to 1 s. Needs a tokio runtime with time.
    pub async fn finish(&self, grace: Duration, is_idle: impl Fn() -> bool, cut: impl FnOnce()) {
        if self.is_idle_within(grace, &is_idle).await {
            return;
        }
        self.phase.store(CUT, Ordering::SeqCst);
        cut();
        self.is_idle_within(CUT_TIME, &is_idle).await;
    }

    async fn is_idle_within(&self, time: Duration, is_idle: impl Fn() -> bool) -> bool {
        let mut waiter = Waiter::new(&self.progress);
        // The condition is checked outside the monitor's lock, because work that ends calls `note_end` under locks of its own.
        let idle = poll_fn(|cx| {
            let noted = waiter.poll(cx, |()| None::<()>);
            if is_idle() { Poll::Ready(()) } else { noted.map(|()| ()) }
        });
        tokio::time::timeout(time, pin!(idle)).await.is_ok()
    }
}

/// The error that answers a request which is cut.
pub fn cut_error() -> ErrorObject {
    let why = "the server is shutting down, and the request was not finished in the time that was left";
    ErrorObject::new(code::INTERNAL_ERROR, why)
}

impl Default for Drain {
    fn default() -> Self {
        Self::new()
    }
}
