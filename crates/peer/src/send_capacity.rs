//! Holds the futures that wait for room in the send queue, with their tickets and deadlines.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;
use std::time::Instant;

/// The place of one waiter. It is used once. A waiter that was woken and finds the queue full again keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The futures that wait until the send queue has room, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct SendCapacity {
    waiting: BTreeMap<Ticket, Waiter>,
    deadlines: BTreeSet<(Instant, Ticket)>,
    last: u64,
}

#[derive(Debug)]
struct Waiter {
    waker: Waker,
    deadline: Option<Instant>,
}

impl SendCapacity {
    /// Waits, at most until the deadline. Returns the waker that this one replaces.
    pub(crate) fn wait(
        &mut self,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
        deadline: Option<Instant>,
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
        let waiter = Waiter { waker: waker.clone(), deadline };
        self.waiting.insert(ticket, waiter).map(|waiter| waiter.waker)
    }

    /// Stops waiting. Returns the waker, unless it was woken.
    pub(crate) fn leave(&mut self, ticket: &mut Option<Ticket>) -> Option<Waker> {
        let ticket = ticket.take()?;
        let waiter = self.waiting.remove(&ticket)?;
        if let Some(deadline) = waiter.deadline {
            self.deadlines.remove(&(deadline, ticket));
        }
        Some(waiter.waker)
    }

    /// The earliest deadline of a waiter.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Takes the wakers of all waiters. The first ones that run fill the queue; the others wait again.
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        self.deadlines.clear();
        std::mem::take(&mut self.waiting).into_values().map(|waiter| waiter.waker).collect()
    }

    /// Takes the wakers of the waiters whose deadline has passed.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some((_, ticket)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            due.extend(self.leave(&mut Some(*ticket)));
        }
        due
    }
}
