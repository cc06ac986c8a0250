//! Holds the futures that wait for room in the send queue, and gives freed room to them in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;
use std::time::{Duration, Instant};

/// How long room is held for a future that was woken. A program may keep a future that it no longer polls.
const HOLD: Duration = Duration::from_millis(50);

/// The place of one waiter. A waiter whose room was given to others keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The futures that wait until the send queue has room, in the order in which they came.
///
/// Waking all of them for each freed place would cost n² polls for n waiters: the first fill the queue, and the others wait
/// again. So room is given to as many as fit into it, and held until they are polled.
#[derive(Debug, Default)]
pub(crate) struct SendCapacity {
    waiting: BTreeMap<Ticket, Waiter>,
    deadlines: BTreeSet<(Instant, Ticket)>,
    last: u64,
    /// The waiters that were woken, with the size of their messages in bytes.
    woken: BTreeMap<Ticket, usize>,
    /// The sum of those sizes.
    woken_bytes: usize,
    /// When the room of those that were woken is given to others.
    held_until: Option<Instant>,
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
        let size = self.woken.remove(&ticket);
        self.woken_bytes -= size.unwrap_or(0);
        if self.woken.is_empty() {
            self.held_until = None;
        }
        size.is_some()
    }

    fn give_up_held(&mut self) {
        self.woken.clear();
        (self.woken_bytes, self.held_until) = (0, None);
    }

    fn has_room(&self, queued: usize, limit: usize) -> bool {
        let taken = queued.saturating_add(self.woken_bytes);
        taken == 0 || taken < limit
    }

    /// When the event loop must act for a waiter.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
        let held_until = self.held_until.filter(|_| !self.waiting.is_empty());
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
            self.woken.insert(ticket, size);
            self.woken_bytes += size;
            self.held_until = now.checked_add(HOLD);
            wakers.push(waiter.waker);
        }
        wakers
    }

    /// Takes the wakers of all waiters, because nothing can be sent any more.
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        self.deadlines.clear();
        self.give_up_held();
        std::mem::take(&mut self.waiting).into_values().map(|waiter| waiter.waker).collect()
    }

    /// Takes the wakers of the waiters whose deadline has passed, and gives up the room that was held too long.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Waker> {
        if self.held_until.is_some_and(|until| until <= now) {
            self.give_up_held();
        }
        let mut due = Vec::new();
        while let Some((_, ticket)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            due.extend(self.leave(&mut Some(*ticket)));
        }
        due
    }
}
