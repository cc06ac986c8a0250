//! Catches panics of user callbacks, so that a panic does not end the event loop.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls code of the user's. A panic in it ends nothing else; the panic hook has reported it.
pub(crate) fn guarded(call: impl FnOnce()) {
    let _panicked = catch_unwind(AssertUnwindSafe(call));
}
