//! Counts open TCP connections per caller against three limits. At a limit it closes the connection that has waited longest for a
//! request.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_sync::{Mutex, MutexGuard};
use slab::Slab;

use crate::server::Caller;
use crate::server::serve::connection_state::ConnectionState;

/// The open connections and their limits: in total, for each caller, and for the HTTP/2 connections of each caller.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: ConnectionLimits,
    known: Mutex<OpenConnections>,
}

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// Of all callers.
    pub(crate) all: usize,
    /// Of one caller. From `all` on, callers are not distinguished.
    pub(crate) caller: usize,
    /// Of one caller, of HTTP/2.
    pub(crate) caller_http2: usize,
}

#[derive(Debug, Default)]
struct OpenConnections {
    open: Slab<Entry>,
    /// How many each caller has.
    callers: HashMap<Caller, Count>,
    /// How many evicted connections are still among the open ones.
    evicted: usize,
    /// The task that waits until no connection is open.
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    open: usize,
    /// How many of them speak HTTP/2.
    http2: usize,
}

#[derive(Debug)]
struct Entry {
    caller: Caller,
    state: Arc<ConnectionState>,
    evicted: bool,
}

/// The slot of a connection among those that are open. The connection counts as open until this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: usize,
}

/// Every connection that could make room is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The caller has as many as it may have.
    OfCaller,
    /// All callers have as many as they may have.
    OfAll,
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, known: Mutex::default() })
    }

    /// Whether one more connection can be taken, if necessary in place of another.
    pub(crate) fn has_room(&self) -> bool {
        let known = self.known();
        known.len() < self.limits.all || known.longest_waiting(|_| true).is_some()
    }

    /// Takes a connection. Where its caller or all callers have too many, one that waits for a request is closed for it:
    /// of this caller, or of the one that has most.
    pub(crate) fn admit(
        self: &Arc<Self>,
        caller: &Caller,
        state: &Arc<ConnectionState>,
    ) -> Result<ConnectionSlot, Full> {
        let known = &mut *self.known();
        let limits = &self.limits;
        let own = known.callers.get(caller).copied().unwrap_or_default().open;
        if own >= limits.caller && limits.caller < limits.all {
            let own = known.longest_waiting(|entry| entry.caller == *caller).ok_or(Full::OfCaller)?;
            known.evict(own);
        } else if known.len() >= limits.all {
            let waiting = known.largest_waiting().ok_or(Full::OfAll)?;
            known.evict(waiting);
        }
        known.callers.entry(caller.clone()).or_default().open += 1;
        let entry = Entry { caller: caller.clone(), state: state.clone(), evicted: false };
        Ok(ConnectionSlot { connections: self.clone(), number: known.open.insert(entry) })
    }

    /// Makes each connection finish the requests that have begun, and take no more.
    pub(crate) fn close(&self) {
        self.known().open.iter().for_each(|(_, entry)| entry.state.close(false));
    }

    /// Ready when none is open.
    pub(crate) fn poll_empty(&self, cx: &Context<'_>) -> Poll<()> {
        let mut known = self.known();
        if known.open.is_empty() {
            return Poll::Ready(());
        }
        known.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn known(&self) -> MutexGuard<'_, OpenConnections> {
        self.known.lock()
    }
}

impl OpenConnections {
    fn len(&self) -> usize {
        self.open.len() - self.evicted
    }

    /// The connection that has waited longest for a request, of those that fit.
    fn longest_waiting(&self, fits: impl Fn(&Entry) -> bool) -> Option<usize> {
        let waiting = self.open.iter().filter(|(_, entry)| !entry.evicted && fits(entry));
        let waiting = waiting.filter_map(|(number, entry)| Some((entry.state.waits_since()?, number)));
        waiting.min().map(|(_, number)| number)
    }

    /// The same, of the caller that has most connections and one that waits.
    fn largest_waiting(&self) -> Option<usize> {
        let mut callers: Vec<_> = self.callers.iter().map(|(caller, count)| (count.open, caller)).collect();
        callers.sort_unstable();
        callers.iter().rev().find_map(|(_, caller)| self.longest_waiting(|entry| entry.caller == **caller))
    }

    fn evict(&mut self, number: usize) {
        let Some(entry) = self.open.get_mut(number) else { return };
        entry.evicted = true;
        self.evicted += 1;
        entry.state.close(true);
        let (caller, http2) = (entry.caller.clone(), entry.state.is_http2());
        self.leave(&caller, http2);
    }

    /// A caller has one connection less.
    fn leave(&mut self, caller: &Caller, http2: bool) {
        if let Some(count) = self.callers.get_mut(caller) {
            count.open -= 1;
            count.http2 -= usize::from(http2);
            if count.open == 0 {
                self.callers.remove(caller);
            }
        }
    }
}

impl ConnectionSlot {
    /// Counts the connection as one of HTTP/2. If its caller has too many of those, closes the one that has waited longest for
    /// a request, or this one if none waits. Returns false if this one is closed.
    pub(crate) fn set_http2(&self) -> bool {
        let limits = &self.connections.limits;
        let known = &mut *self.connections.known();
        let Some(entry) = known.open.get(self.number).filter(|entry| !entry.evicted) else {
            return false;
        };
        let caller = entry.caller.clone();
        let Some(own) = known.callers.get(&caller) else { return false };
        let is_full = own.http2 >= limits.caller_http2 && limits.caller < limits.all;
        let other =
            known.longest_waiting(|entry| is_full && entry.state.is_http2() && entry.caller == caller);
        let closed = if is_full { Some(other.unwrap_or(self.number)) } else { None };
        if let Some(entry) = known.open.get(self.number)
            && !entry.state.set_http2()
            && let Some(own) = known.callers.get_mut(&caller)
        {
            own.http2 += 1;
        }
        closed.into_iter().for_each(|closed| known.evict(closed));
        closed != Some(self.number)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut known = self.connections.known();
        let Some(entry) = known.open.try_remove(self.number) else { return };
        if entry.evicted {
            known.evicted -= 1;
        } else {
            known.leave(&entry.caller, entry.state.is_http2());
        }
        if !known.open.is_empty() {
            return;
        }
        // Releases the memory of many connections once the last has closed.
        known.open.shrink_to_fit();
        known.callers.shrink_to_fit();
        let waker = known.waker.take();
        drop(known);
        waker.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn admit(
        connections: &Arc<Connections>,
        caller: u8,
        busy: bool,
    ) -> Result<(ConnectionSlot, Arc<ConnectionState>), Full> {
        let state = ConnectionState::new(Instant::now());
        if busy {
            std::mem::forget(state.begin());
        }
        let place = connections.admit(&Caller::at([127, 0, 0, caller].into()), &state)?;
        Ok((place, state))
    }

    fn connections(all: usize, caller: usize) -> Arc<Connections> {
        Connections::new(ConnectionLimits { all, caller, caller_http2: 2 })
    }

    #[test]
    fn a_caller_has_fewer_of_http2() {
        let connections = connections(9, 8);
        let open = |caller, busy| {
            let (place, state) = admit(&connections, caller, busy).unwrap();
            let stays = place.set_http2();
            assert_ne!(stays, state.is_to_close());
            (place, state)
        };
        let (idle, busy) = (open(1, false), open(1, true));
        let _other = (open(2, true), admit(&connections, 1, true).unwrap());
        assert!(!idle.1.is_to_close() && !busy.1.is_to_close());
        let third = open(1, true);
        assert!(idle.1.is_to_close() && !busy.1.is_to_close() && !third.1.is_to_close());
        let fourth = open(1, true);
        assert!(fourth.1.is_to_close() && !busy.1.is_to_close(), "all others are in use");
        drop((idle, busy, third, fourth));
        assert!(!open(1, true).1.is_to_close());
    }

    #[test]
    fn longest_waiting_connection_of_the_largest_caller_makes_room() {
        let connections = connections(4, 3);
        let hostile: Vec<_> = (0..3).map(|_| admit(&connections, 1, false).unwrap()).collect();
        let _two = admit(&connections, 2, false).unwrap();
        assert!(hostile.iter().all(|(_, state)| !state.is_to_close()));
        let _three = admit(&connections, 3, false).unwrap();
        assert!(hostile[0].1.is_to_close() && !hostile[1].1.is_to_close(), "the one that has waited longest");
        assert_eq!(connections.known().len(), 4);
        drop(hostile);
        assert_eq!(connections.known().len(), 2);
        assert_eq!(connections.known().evicted, 0);
    }

    #[test]
    fn only_idle_connections_make_room() {
        let connections = connections(4, 2);
        let first = (admit(&connections, 1, true).unwrap(), admit(&connections, 1, false).unwrap());
        let _again = admit(&connections, 1, true).unwrap();
        assert!(!first.0.1.is_to_close() && first.1.1.is_to_close());
        assert_eq!(admit(&connections, 1, false).unwrap_err(), Full::OfCaller, "both are in use");
        let _others = (admit(&connections, 2, true).unwrap(), admit(&connections, 3, true).unwrap());
        assert!(!connections.has_room());
        assert_eq!(admit(&connections, 4, false).unwrap_err(), Full::OfAll);
        connections.close();
        assert!(first.0.1.is_to_close());
    }
}
