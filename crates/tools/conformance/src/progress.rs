//! How a run is followed.

use crate::report::CheckResult;

/// Hears of each result as soon as there is one.
pub trait Progress: Send + Sync {
    /// How many checks there will be.
    fn planned(&self, _checks: usize) {}
    /// A check has ended.
    fn finished(&self, _result: &CheckResult) {}
}

impl Progress for () {}
