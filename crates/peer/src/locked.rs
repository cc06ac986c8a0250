use std::ops::{Deref, DerefMut};
use std::task::Waker;

use crate::call_slots::{AnswerHook, CallSlot};
use crate::cancellations::Cancellation;
use crate::state::State;
use crate::sync::MutexGuard;

/// Exclusive access to the state.
///
/// Values that the state lets go of are dropped after the lock is released. A waker may be the last owner of a task, and
/// a hook may own anything; their destructors may use this connection.
pub(crate) struct Locked<'a> {
    // Dropped in this order.
    state: MutexGuard<'a, State>,
    deferred_drops: Vec<DeferredDrop>,
}

/// A value whose destructor may run code of the user's.
pub(crate) enum DeferredDrop {
    Waker(#[expect(dead_code, reason = "it waits to be dropped")] Waker),
    AnswerHook(#[expect(dead_code, reason = "it waits to be dropped")] AnswerHook),
    CallSlot(#[expect(dead_code, reason = "it waits to be dropped")] CallSlot),
    Cancellation(#[expect(dead_code, reason = "it waits to be dropped")] Cancellation),
}

impl<'a> Locked<'a> {
    #[inline]
    pub(crate) fn new(state: MutexGuard<'a, State>) -> Self {
        Self { state, deferred_drops: Vec::new() }
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.state.deferred_drops.is_empty() {
            self.deferred_drops = std::mem::take(&mut self.state.deferred_drops);
        }
    }
}
