//! The lock guard of the state. It drops unused wakers after the lock is released.

use std::ops::{Deref, DerefMut};
use std::task::Waker;

use crate::state::PeerState;
use crate::sync::MutexGuard;

/// Exclusive access to the state.
///
/// Wakers that the state no longer needs are dropped after the lock is released. A waker may be the last owner of a task,
/// whose destructor may use this connection.
pub(crate) struct StateGuard<'a> {
    // Dropped in this order.
    state: MutexGuard<'a, PeerState>,
    unused_wakers: Vec<Waker>,
}

impl<'a> StateGuard<'a> {
    #[inline]
    pub(crate) fn new(state: MutexGuard<'a, PeerState>) -> Self {
        Self { state, unused_wakers: Vec::new() }
    }
}

impl Deref for StateGuard<'_> {
    type Target = PeerState;

    #[inline]
    fn deref(&self) -> &PeerState {
        &self.state
    }
}

impl DerefMut for StateGuard<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut PeerState {
        &mut self.state
    }
}

impl Drop for StateGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.state.unused_wakers.is_empty() {
            self.unused_wakers = std::mem::take(&mut self.state.unused_wakers);
        }
    }
}
