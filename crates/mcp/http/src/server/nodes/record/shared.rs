//! The parts of a session that several nodes share: its record, and numbers for its streams.

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

/// How many numbers a node takes at first for the streams of a session. Each further time it takes twice as many.
const NUMBERS: u64 = 64;

/// How many it takes at most.
const MOST_NUMBERS: u64 = 1024;

/// With so few numbers left the next are taken.
const FEW: u64 = 16;

/// An answer of the service that is sent once the record of the session has what it answers.
#[derive(Debug)]
pub(crate) struct WaitingAnswer {
    pub(crate) frame: Frame,
    pub(crate) in_reply_to: Option<RequestId>,
    /// The changes, by the ids of their requests.
    pub(crate) changes: Vec<(RequestId, Change)>,
}

/// The parts of a session that several nodes share.
#[derive(Debug)]
pub(crate) struct SharedSession {
    /// The record, as far as what serves the session here knows it.
    record: Mutex<SessionRecord>,
    pub(in crate::server::nodes) readiness: Readiness,
    /// The memory of the record.
    reservation: Mutex<Reservation>,
    /// The changes that the service has been asked for and has not answered.
    requested: Mutex<Vec<(RequestId, Change)>>,
    /// The answers that wait until the record is stored, at most one for each unanswered request.
    answered: Mutex<AnswerQueue>,
    numbers: Mutex<Numbers>,
    /// Whether a job takes numbers.
    taking: AtomicBool,
    /// Whether the record may be another.
    stale: AtomicBool,
    /// Whether a job looks at that.
    refreshing: AtomicBool,
    /// Whether the store could not be reached to restart the time to live of the record.
    is_untouched: AtomicBool,
    /// Whether a job of a tick has the session.
    looking: AtomicBool,
    /// How many messages the service was given again.
    fed: AtomicU64,
    /// The tick at which the time to live of the record was restarted.
    touched: AtomicU32,
    /// Whether the record has the short time to live of one that is not used yet.
    is_short: AtomicBool,
    /// The node that sends the client the notifications of all nodes.
    pub(in crate::server::nodes) delivery: Mutex<Delivery>,
}

#[derive(Debug, Default)]
struct AnswerQueue {
    waiting: VecDeque<WaitingAnswer>,
    /// Whether a job takes them.
    taken: bool,
}

#[derive(Debug, Default)]
struct Numbers {
    present: Range<u64>,
    next: Range<u64>,
    /// How many were taken the last time.
    taken: u64,
    /// The store could not be reached for more.
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

    /// Reserves the memory of a record of that size.
    pub(crate) fn reserve(&self, size: usize) -> Result<(), QuotaExceeded> {
        self.reservation.lock().grow_to(size)
    }

    /// The record, as far as what serves the session here knows it.
    pub(crate) fn record(&self) -> SessionRecord {
        self.record.lock().clone()
    }

    /// Replaces the record by one for which memory is reserved, unless another job has brought a newer one since.
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

    /// Compares the record with the messages that the service has received. If the record lacks that the client is ready, it is read in the
    /// next tick: another node may have stored it.
    pub(crate) fn compare_readiness(&self) {
        if !self.change_record(|record| has_initialized(record)) {
            self.set_stale();
        }
    }

    /// Gives memory back that the record does not need.
    fn release_rest(&self) {
        let size = record_size(&self.record.lock());
        self.reservation.lock().shrink_to(size);
    }

    /// Notes the changes that a frame asks the service for, in place of those whose requests wait for no answer any more.
    pub(crate) fn expect(&self, frame: &Frame, is_unanswered: impl Fn(&RequestId) -> bool) {
        let mut requested = self.requested.lock();
        requested.retain(|(id, _)| is_unanswered(id));
        requested.extend(changes(frame).into_iter().filter_map(|(id, change)| Some((id?, change))));
    }

    /// The changes that a frame answers with success.
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

    /// Adds an answer that waits. Returns whether a job should take it.
    pub(crate) fn push_answered(&self, answered: WaitingAnswer) -> bool {
        let mut queue = self.answered.lock();
        queue.waiting.push_back(answered);
        !std::mem::replace(&mut queue.taken, true)
    }

    /// The next answer that waits. None ends the job.
    pub(crate) fn next_answered(&self) -> Option<WaitingAnswer> {
        let mut queue = self.answered.lock();
        let next = queue.waiting.pop_front();
        queue.taken = next.is_some();
        next
    }

    /// Notes whether the record has got the time to live of one that is used. If not, it is tried again.
    pub(crate) fn set_touched(&self, is_touched: bool) {
        self.is_untouched.store(!is_touched, Ordering::Relaxed);
        if is_touched {
            self.is_short.store(false, Ordering::Relaxed);
        }
    }

    /// The next number of a stream, which no other stream of the session has. 0 for a stream that cannot be resumed, because the store is
    /// away. `None` if one is about to come.
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

    /// How many numbers are taken next.
    pub(crate) fn numbers_to_take(&self) -> u64 {
        self.numbers.lock().taken.saturating_mul(2).clamp(NUMBERS, MOST_NUMBERS)
    }

    /// Adds numbers that were taken; `None` means that the store is away.
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

    /// Whether the record may be another, which is looked at after this.
    pub(crate) fn take_stale(&self) -> bool {
        self.stale.swap(false, Ordering::SeqCst)
    }

    /// The job that found the session due has done with it.
    pub(crate) fn end_look(&self) {
        self.looking.store(false, Ordering::SeqCst);
    }

    /// Whether the record is due: it may be stale, or its time to live has to be restarted at tick `now`, because the client has sent
    /// something since the last time (at tick `active`) or uses the session for the first time. The caller then begins.
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
