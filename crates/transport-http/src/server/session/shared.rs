//! What a session has where several nodes share it: its record, and numbers for its streams.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use agentwire_jsonrpc::RawJson;
use agentwire_store::{SessionRecord, StreamBlock};
use agentwire_sync::Mutex;

/// How many numbers a node takes at once for the streams of a session.
pub(crate) const NUMBERS: u64 = 64;

/// With so few numbers left the next are taken.
const FEW: u64 = 16;

/// How many changes of a session are kept while the store is away.
const MAX_UNSAVED: usize = 256;

/// A message of the client that changes the record of its session.
#[derive(Clone, Debug)]
pub(crate) struct Change(pub(crate) RawJson);

/// What a session has where several nodes share it.
#[derive(Debug)]
pub(crate) struct SharedSession {
    /// The record, as far as what serves the session here knows it.
    pub(crate) record: Mutex<SessionRecord>,
    numbers: Mutex<Numbers>,
    /// Whether a job takes numbers.
    taking: AtomicBool,
    /// Whether the record may be another.
    stale: AtomicBool,
    /// Whether a job looks at that.
    refreshing: AtomicBool,
    /// The changes that the store has missed.
    unsaved: Mutex<Vec<Change>>,
    /// How many messages the service was given again.
    fed: AtomicU64,
    /// The tick at which the time to live of the record was restarted.
    touched: AtomicU32,
}

#[derive(Debug, Default)]
struct Numbers {
    present: Range<u64>,
    next: Range<u64>,
    /// The store could not be reached for more.
    away: bool,
}

impl SharedSession {
    pub(crate) fn new(record: SessionRecord, now: u32) -> Self {
        Self {
            record: Mutex::new(record),
            numbers: Mutex::default(),
            taking: AtomicBool::new(false),
            stale: AtomicBool::new(false),
            refreshing: AtomicBool::new(false),
            unsaved: Mutex::default(),
            fed: AtomicU64::new(0),
            touched: AtomicU32::new(now),
        }
    }

    /// The next number of a stream, which no other stream of the session has. 0 for a stream that cannot be resumed, because the store is
    /// away. None where one is about to come.
    pub(crate) fn next_number(&self) -> Option<u64> {
        let numbers = &mut *self.numbers.lock();
        if numbers.present.is_empty() {
            numbers.present = std::mem::take(&mut numbers.next);
        }
        numbers.present.next().or(numbers.away.then_some(0))
    }

    /// Whether a job should take numbers, which this then begins.
    pub(crate) fn begins_taking(&self) -> bool {
        let numbers = self.numbers.lock();
        let few = numbers.next.is_empty() && numbers.present.end - numbers.present.start < FEW;
        drop(numbers);
        few && !self.taking.swap(true, Ordering::SeqCst)
    }

    /// Adds numbers that were taken, none where the store is away.
    pub(crate) fn add_numbers(&self, block: Option<StreamBlock>) {
        let mut numbers = self.numbers.lock();
        numbers.away = block.is_none();
        if let Some(block) = block {
            numbers.next = block;
        }
        drop(numbers);
        self.taking.store(false, Ordering::SeqCst);
    }

    /// Counts a message that the service is given again. Returns how many there were before.
    pub(crate) fn count_fed(&self) -> u64 {
        self.fed.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that the record may be another.
    pub(crate) fn set_stale(&self) {
        self.stale.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::SeqCst)
    }

    /// Whether no other job looks at the record, which this then begins.
    pub(crate) fn begins_refresh(&self) -> bool {
        !self.refreshing.swap(true, Ordering::SeqCst)
    }

    pub(crate) fn end_refresh(&self) {
        self.refreshing.store(false, Ordering::SeqCst);
    }

    /// Keeps changes that the store has missed, to be stored later.
    pub(crate) fn keep_unsaved(&self, changes: Vec<Change>) {
        let mut unsaved = self.unsaved.lock();
        unsaved.extend(changes);
        let more = unsaved.len().saturating_sub(MAX_UNSAVED);
        unsaved.drain(..more);
        drop(unsaved);
        self.set_stale();
    }

    pub(crate) fn take_unsaved(&self) -> Vec<Change> {
        std::mem::take(&mut *self.unsaved.lock())
    }

    /// Whether the record may be another, which is looked at after this.
    pub(crate) fn take_stale(&self) -> bool {
        self.stale.swap(false, Ordering::SeqCst)
    }

    /// Whether the time to live should be restarted at tick `now`, because the client was heard at tick `heard`.
    pub(crate) fn is_due(&self, now: u32, heard: u32, every: u32) -> bool {
        let touched = self.touched.load(Ordering::Relaxed);
        let heard_since = heard != touched && heard.wrapping_sub(touched) < u32::MAX / 2;
        let due = self.is_stale() || now.wrapping_sub(touched) >= every && heard_since;
        if due {
            self.touched.store(now, Ordering::Relaxed);
        }
        due
    }
}
