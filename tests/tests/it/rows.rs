//! Tables of cases, each of which mostly waits: they run at the same time.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many run at once. They wait for time-outs far more than for processors.
const AT_ONCE: usize = 24;

/// The longest text that is shown of a failure.
const MAX_SHOWN: usize = 3000;

/// Runs a check for every row, and fails with all rows for which it failed.
pub(crate) fn for_each<R: Debug + Sync>(rows: &[R], check: impl Fn(&R) + Sync) {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(rows.len()) {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(row))) {
                        let why = panic.downcast_ref::<String>().map(String::as_str);
                        let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
                        let why: String = why.chars().take(MAX_SHOWN).collect();
                        failed.lock().expect("pushing does not panic").push(format!("{row:?}: {why}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("pushing does not panic");
    assert!(failed.is_empty(), "{} of {} rows:\n\n{}", failed.len(), rows.len(), failed.join("\n\n"));
}
