use std::ops::{Deref, DerefMut};
use std::task::Waker;

use crate::shared::{AnswerHook, Cancel, Slot, State};
use crate::sync::MutexGuard;

/// The state, as long as nobody else may change it.
///
/// What the state lets go of is dropped after the lock is released: a waker may be the last owner of a task,
/// and a hook of anything, whose destructors then use this very connection.
pub(crate) struct Locked<'a> {
    // Dropped in this order.
    state: MutexGuard<'a, State>,
    litter: Vec<Litter>,
}

/// What may run code of a user's when it is dropped.
pub(crate) enum Litter {
    Waker(#[expect(dead_code, reason = "it waits to be dropped")] Waker),
    AnswerHook(#[expect(dead_code, reason = "it waits to be dropped")] AnswerHook),
    Slot(#[expect(dead_code, reason = "it waits to be dropped")] Slot),
    Cancel(#[expect(dead_code, reason = "it waits to be dropped")] Cancel),
}

impl<'a> Locked<'a> {
    #[inline]
    pub(crate) fn new(state: MutexGuard<'a, State>) -> Self {
        Self { state, litter: Vec::new() }
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
        if !self.state.litter.is_empty() {
            self.litter = std::mem::take(&mut self.state.litter);
        }
    }
}
