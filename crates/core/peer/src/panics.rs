//! Catches panics of user callbacks, so that a panic does not end the event loop.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls code of the user and drops a panic in it. The panic hook has reported the panic.
pub(crate) fn guarded(call: impl FnOnce()) {
    let _panicked = catch_unwind(AssertUnwindSafe(call));
}
