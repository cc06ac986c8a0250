use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;
use std::time::Instant;

/// A place among those who wait for room. It is used once, so that nobody can take another's, and kept by one
/// who was woken and came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// Those who wait for room in the queue, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Room {
    waiting: BTreeMap<Ticket, Waiter>,
    deadlines: BTreeSet<(Instant, Ticket)>,
    last: u64,
}

#[derive(Debug)]
struct Waiter {
    waker: Waker,
    deadline: Option<Instant>,
}

impl Room {
    /// Waits, until the deadline at most. Gives the waker that this one replaces.
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

    /// Waits no longer. Gives the waker, if it was not woken meanwhile.
    pub(crate) fn leave(&mut self, ticket: &mut Option<Ticket>) -> Option<Waker> {
        let ticket = ticket.take()?;
        let waiter = self.waiting.remove(&ticket)?;
        if let Some(deadline) = waiter.deadline {
            self.deadlines.remove(&(deadline, ticket));
        }
        Some(waiter.waker)
    }

    /// When the first gives up.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Those to wake because there is room. All at once: whoever comes first fills it.
    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        self.deadlines.clear();
        std::mem::take(&mut self.waiting).into_values().map(|waiter| waiter.waker).collect()
    }

    /// Those to wake because their deadline has come.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some((_, ticket)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            due.extend(self.leave(&mut Some(*ticket)));
        }
        due
    }
}
