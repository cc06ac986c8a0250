//! A node's copy of a shared session: the record, block of stream numbers, and responses that wait for the store.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_store::{SessionRecord, StreamBlock};
use agentwire_sync::Mutex;

use crate::server::admission::quota::{QuotaExceeded, Reservation};
use crate::server::admission::record_limits::record_size;
use crate::server::nodes::delivery::Delivery;
use crate::server::nodes::record::message::{Change, changes, has_initialized, messages};
use crate::server::nodes::record::readiness::Readiness;

/// The size of the first block of stream numbers that a node takes for a session. Each further block is twice as large.
const NUMBERS: u64 = 64;

/// The most numbers that a node takes at once.
const MOST_NUMBERS: u64 = 1024;

/// When fewer numbers than this are left, the next block is taken.
const FEW: u64 = 16;

/// A response of the service that is sent once the record has the changes that it confirms.
#[derive(Debug)]
pub(crate) struct WaitingAnswer {
    pub(crate) frame: Frame,
    pub(crate) in_reply_to: Option<RequestId>,
    /// The changes, each with the id of its request.
    pub(crate) changes: Vec<(RequestId, Change)>,
}

/// This node's copy of a session that several nodes share.
#[derive(Debug)]
pub(crate) struct SharedSession {
    /// The record whose messages the service of this node has received.
    record: Mutex<SessionRecord>,
    pub(in crate::server::nodes) readiness: Readiness,
    /// The memory that is reserved for the record.
    reservation: Mutex<Reservation>,
    /// The changes that requests ask the service for and that it has not confirmed.
    requested: Mutex<Vec<(RequestId, Change)>>,
    /// The responses that wait until the record is stored, at most one for each unanswered request.
    answered: Mutex<AnswerQueue>,
    numbers: Mutex<StreamNumbers>,
    /// Whether a job is taking numbers.
    taking: AtomicBool,
    /// Whether the record in the store may have changed.
    stale: AtomicBool,
    /// Whether a job is loading the changed record.
    refreshing: AtomicBool,
    /// Whether the last restart of the record's time to live has failed.
    is_untouched: AtomicBool,
    /// Whether a job of a tick is working on the session.
    looking: AtomicBool,
    /// The number of replayed messages that the service was given.
    fed: AtomicU64,
    /// The tick at which the time to live of the record was restarted.
    touched: AtomicU32,
    /// Whether the record still has the short time to live of an unused session.
    is_short: AtomicBool,
    /// The node that sends the client the notifications of all nodes.
    pub(in crate::server::nodes) delivery: Mutex<Delivery>,
}

#[derive(Debug, Default)]
struct AnswerQueue {
    waiting: VecDeque<WaitingAnswer>,
    /// Whether a job is taking them.
    taken: bool,
}

#[derive(Debug, Default)]
struct StreamNumbers {
    present: Range<u64>,
    next: Range<u64>,
    /// The size of the block that was taken last.
    taken: u64,
    /// Whether the store could not be reached for more.
    away: bool,
}

impl SharedSession {
    /// `is_opener` is whether the session was opened at this node, at tick `now`.
    pub(crate) fn new(
        record: SessionRecord,
        reservation: Reservation,
        (now, is_opener): (u32, bool),
    ) -> Self {
        Self {
            record: Mutex::new(record),
            readiness: Readiness::default(),
            reservation: Mutex::new(reservation),
            requested: Mutex::default(),
            answered: Mutex::default(),
            numbers: Mutex::default(),
            taking: AtomicBool::new(false),
            stale: AtomicBool::new(false),
            refreshing: AtomicBool::new(false),
            is_untouched: AtomicBool::new(false),
            looking: AtomicBool::new(false),
            fed: AtomicU64::new(0),
            touched: AtomicU32::new(now),
            is_short: AtomicBool::new(true),
            delivery: Mutex::new(Delivery::new(is_opener)),
        }
    }

    /// Changes the memory that is reserved for the record to at least `size` bytes.
    pub(crate) fn reserve(&self, size: usize) -> Result<(), QuotaExceeded> {
        self.reservation.lock().grow_to(size)
    }

    /// The record whose messages the service of this node has received.
    pub(crate) fn record(&self) -> SessionRecord {
        self.record.lock().clone()
    }

    /// Replaces the record, for which memory is reserved, unless another job has set a newer one since.
    pub(crate) fn set_newer(&self, record: SessionRecord) {
        self.change_record(|present| {
            if record.version > present.version {
                *present = record;
            }
        });
        self.release_rest();
    }

    /// Changes the record.
    pub(crate) fn change_record<T>(&self, change: impl FnOnce(&mut SessionRecord) -> T) -> T {
        let mut record = self.record.lock();
        let changed = change(&mut record);
        // Under the lock, so that the last change is noted last.
        self.readiness.note_record(has_initialized(&record));
        changed
    }

    /// Compares the record with the readiness of the client. If the record lacks `notifications/initialized`, the next tick reads
    /// it again: another node may have stored it.
    pub(crate) fn compare_readiness(&self) {
        if !self.change_record(|record| has_initialized(record)) {
            self.set_stale();
        }
    }

    /// Gives back the memory that the record does not need.
    fn release_rest(&self) {
        let size = record_size(&self.record.lock());
        self.reservation.lock().shrink_to(size);
    }

    /// Notes the changes that a frame asks the service for. Forgets those whose requests are no longer unanswered.
    pub(crate) fn expect(&self, frame: &Frame, is_unanswered: impl Fn(&RequestId) -> bool) {
        let mut requested = self.requested.lock();
        requested.retain(|(id, _)| is_unanswered(id));
        requested.extend(changes(frame).into_iter().filter_map(|(id, change)| Some((id?, change))));
    }

    /// Takes the changes that a frame of the service confirms.
    pub(crate) fn take_answered(&self, frame: &Frame) -> Vec<(RequestId, Change)> {
        let mut requested = self.requested.lock();
        if requested.is_empty() {
            return Vec::new();
        }
        let (mut made, mut is_refused) = (Vec::new(), false);
        for message in messages(frame) {
            let Message::Response(response) = message else { continue };
            let Some(at) = requested.iter().position(|(id, _)| *id == response.id) else { continue };
            let change = requested.swap_remove(at);
            if response.outcome.is_ok() {
                made.push(change);
            } else {
                is_refused = true;
            }
        }
        drop(requested);
        if is_refused {
            self.release_rest();
        }
        made
    }

    /// Queues a response. Returns whether the caller should start a job that takes it.
    pub(crate) fn push_answered(&self, answered: WaitingAnswer) -> bool {
        let mut queue = self.answered.lock();
        queue.waiting.push_back(answered);
        !std::mem::replace(&mut queue.taken, true)
    }

    /// Takes the next queued response. `None` ends the job.
    pub(crate) fn next_answered(&self) -> Option<WaitingAnswer> {
        let mut queue = self.answered.lock();
        let next = queue.waiting.pop_front();
        queue.taken = next.is_some();
        next
    }

    /// Notes whether the record's time to live was restarted. If not, the next tick tries again.
    pub(crate) fn set_touched(&self, is_touched: bool) {
        self.is_untouched.store(!is_touched, Ordering::Relaxed);
        if is_touched {
            self.is_short.store(false, Ordering::Relaxed);
        }
    }

    /// Takes the next number for a stream, which no other stream of the session has. Returns 0 for a stream that cannot be
    /// resumed because the store is unreachable, and `None` if the next number is about to arrive.
    pub(crate) fn next_number(&self) -> Option<u64> {
        let numbers = &mut *self.numbers.lock();
        if numbers.present.is_empty() {
            numbers.present = std::mem::take(&mut numbers.next);
        }
        numbers.present.next().or(numbers.away.then_some(0))
    }

    /// Returns whether the caller should start a job that takes numbers, and notes that it does.
    pub(crate) fn begins_taking(&self) -> bool {
        let numbers = self.numbers.lock();
        let few = numbers.next.is_empty() && numbers.present.end - numbers.present.start < FEW;
        drop(numbers);
        few && !self.taking.swap(true, Ordering::SeqCst)
    }

    /// The size of the next block of numbers.
    pub(crate) fn numbers_to_take(&self) -> u64 {
        self.numbers.lock().taken.saturating_mul(2).clamp(NUMBERS, MOST_NUMBERS)
    }

    /// Adds a block of numbers that was taken. `None` means that the store is unreachable.
    pub(crate) fn add_numbers(&self, block: Option<StreamBlock>) {
        let mut numbers = self.numbers.lock();
        numbers.away = block.is_none();
        if let Some(block) = block {
            numbers.taken = block.end.saturating_sub(block.start);
            numbers.next = block;
        }
        drop(numbers);
        self.taking.store(false, Ordering::SeqCst);
    }

    /// Counts a replayed message for the service. Returns how many there were before.
    pub(crate) fn count_fed(&self) -> u64 {
        self.fed.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that the record in the store may have changed.
    pub(crate) fn set_stale(&self) {
        self.stale.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::SeqCst)
    }

    /// Returns whether the caller may load the changed record, and notes that it does. False while another job does.
    pub(crate) fn begins_refresh(&self) -> bool {
        !self.refreshing.swap(true, Ordering::SeqCst)
    }

    pub(crate) fn end_refresh(&self) {
        self.refreshing.store(false, Ordering::SeqCst);
    }

    /// Returns whether the record may have changed, and resets that. The caller then loads the record.
    pub(crate) fn take_stale(&self) -> bool {
        self.stale.swap(false, Ordering::SeqCst)
    }

    /// Notes that the job of a tick has finished with the session.
    pub(crate) fn end_check(&self) {
        self.looking.store(false, Ordering::SeqCst);
    }

    /// Returns whether a job should check the record at tick `now`, and notes that it does. The record is due if it may have
    /// changed, if the session is used for the first time, or if its time to live must be restarted because the client has been
    /// active (at tick `active`) since the last time.
    pub(crate) fn is_due(&self, now: u32, (active, is_used): (u32, bool), every: u32) -> bool {
        let touched = self.touched.load(Ordering::Relaxed);
        let was_active = active != touched && active.wrapping_sub(touched) < u32::MAX / 2;
        let is_first = is_used && self.is_short.load(Ordering::Relaxed);
        let is_wanted =
            was_active || self.readiness.is_unrecorded() || self.is_untouched.load(Ordering::Relaxed);
        let due = self.is_stale() || is_first || now.wrapping_sub(touched) >= every && is_wanted;
        let begins = due && !self.looking.swap(true, Ordering::SeqCst);
        if begins {
            self.touched.store(now, Ordering::Relaxed);
        }
        begins
    }
}
