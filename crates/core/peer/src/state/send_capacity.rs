//! Holds the futures that wait for room in the send queue, and gives freed room to them in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;
use std::time::{Duration, Instant};

/// How long room is held for a future that was woken. A program may keep a future that it does not poll.
const HOLD: Duration = Duration::from_millis(50);

/// How long no room is held after a woken future was not polled within [`HOLD`]. A loop over `buffer_unordered` whose
/// body also waits polls such futures rarely, and would wait for a hold in each pass.
const HOLD_PAUSE: Duration = Duration::from_secs(10);

/// The place of one waiter. A waiter whose room was given to others keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The futures that wait until the send queue has room, in the order in which they came.
///
/// Waking all of them for each freed place would cost n² polls for n waiters: the first fill the queue, and the others wait
/// again. So room is given to as many as fit into it, and held until they are polled. If one of them is not polled in time, they
/// all lose their room, and for a while the event loop gives room to the next waiters in each round.
#[derive(Debug, Default)]
pub(crate) struct SendCapacity {
    waiting: BTreeMap<Ticket, Waiter>,
    deadlines: BTreeSet<(Instant, Ticket)>,
    last: u64,
    /// The waiters that were woken, and for which room is held.
    woken: BTreeMap<Ticket, Hold>,
    /// The sum of their sizes.
    woken_bytes: usize,
    /// A time at or before the first [`Hold::since`] of them.
    held_since: Option<Instant>,
    /// When a woken waiter was last not polled in time.
    expired_at: Option<Instant>,
}

#[derive(Debug)]
struct Hold {
    /// The size of the message in bytes.
    size: usize,
    since: Instant,
}

#[derive(Debug)]
struct Waiter {
    waker: Waker,
    deadline: Option<Instant>,
    size: usize,
}

impl SendCapacity {
    /// Whether a future may send now. `queued` and `limit` are bytes. Others that wait come first.
    #[inline]
    pub(crate) fn admits(&mut self, ticket: &mut Option<Ticket>, queued: usize, limit: usize) -> bool {
        if self.waiting.is_empty() && self.woken.is_empty() {
            *ticket = None;
            return queued == 0 || queued < limit;
        }
        let is_woken = ticket.is_some_and(|ticket| self.take_woken(ticket));
        let comes_first = || {
            self.waiting.first_key_value().is_none_or(|(first, _)| ticket.is_some_and(|own| own <= *first))
        };
        let is_admitted = is_woken || comes_first() && self.has_room(queued, limit);
        if is_admitted {
            drop(self.leave(ticket));
        }
        is_admitted
    }

    /// Waits, at most until the deadline. Returns the waker that this one replaces.
    pub(crate) fn wait(
        &mut self,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
        deadline: Option<Instant>,
        size: usize,
    ) -> Option<Waker> {
        let ticket = *ticket.get_or_insert_with(|| {
            self.last += 1;
            Ticket(self.last)
        });
        if let Some(waiter) = self.waiting.get(&ticket)
            && waiter.waker.will_wake(waker)
        {
            return None;
        }
        self.deadlines.extend(deadline.map(|deadline| (deadline, ticket)));
        let waiter = Waiter { waker: waker.clone(), deadline, size };
        self.waiting.insert(ticket, waiter).map(|waiter| waiter.waker)
    }

    /// Stops waiting. Returns the waker, unless it was woken.
    pub(crate) fn leave(&mut self, ticket: &mut Option<Ticket>) -> Option<Waker> {
        let ticket = ticket.take()?;
        self.take_woken(ticket);
        self.remove(ticket).map(|waiter| waiter.waker)
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Waiter> {
        let waiter = self.waiting.remove(&ticket)?;
        if let Some(deadline) = waiter.deadline {
            self.deadlines.remove(&(deadline, ticket));
        }
        Some(waiter)
    }

    fn take_woken(&mut self, ticket: Ticket) -> bool {
        let hold = self.woken.remove(&ticket);
        self.woken_bytes -= hold.as_ref().map_or(0, |hold| hold.size);
        if self.woken.is_empty() {
            self.held_since = None;
        }
        hold.is_some()
    }

    fn give_up_held(&mut self) {
        self.woken.clear();
        (self.woken_bytes, self.held_since) = (0, None);
    }

    fn has_room(&self, queued: usize, limit: usize) -> bool {
        let taken = queued.saturating_add(self.woken_bytes);
        taken == 0 || taken < limit
    }

    /// When the event loop must act for a waiter.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
        let held_since = self.held_since.filter(|_| !self.waiting.is_empty());
        let held_until = held_since.and_then(|since| since.checked_add(HOLD));
        deadline.into_iter().chain(held_until).min()
    }

    /// Whether [`take_next`](Self::take_next) may return wakers.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes the wakers of the waiters whose messages fit into the room.
    pub(crate) fn take_next(&mut self, now: Instant, queued: usize, limit: usize) -> Vec<Waker> {
        let mut wakers = Vec::new();
        while self.has_room(queued, limit)
            && let Some((&ticket, _)) = self.waiting.first_key_value()
            && let Some(waiter) = self.remove(ticket)
        {
            // A size of 0 would never fill the room.
            let size = waiter.size.max(1);
            self.woken.insert(ticket, Hold { size, since: now });
            self.woken_bytes += size;
            self.held_since.get_or_insert(now);
            wakers.push(waiter.waker);
        }
        if self.expired_at.is_some_and(|at| now.duration_since(at) < HOLD_PAUSE) {
            self.give_up_held();
        }
        wakers
    }

    /// Takes the wakers of all waiters, because nothing can be sent any more.
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        self.deadlines.clear();
        self.give_up_held();
        std::mem::take(&mut self.waiting).into_values().map(|waiter| waiter.waker).collect()
    }

    /// Takes the wakers of the waiters whose deadline has passed. Gives up all held room if some was held too long.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Waker> {
        let has_expired = |since: &Instant| now.duration_since(*since) >= HOLD;
        if self.held_since.as_ref().is_some_and(has_expired) {
            self.held_since = self.woken.values().map(|hold| hold.since).min();
            if self.held_since.as_ref().is_some_and(has_expired) {
                self.give_up_held();
                self.expired_at = Some(now);
            }
        }
        let mut due = Vec::new();
        while let Some((_, ticket)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            due.extend(self.leave(&mut Some(*ticket)));
        }
        due
    }
}
