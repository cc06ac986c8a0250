//! How a run is followed.

use crate::report::CheckResult;

/// Receives each result as soon as it exists.
pub trait Progress: Send + Sync {
    /// How many checks there will be.
    fn planned(&self, _checks: usize) {}
    /// A check has ended.
    fn finished(&self, _result: &CheckResult) {}
}

impl Progress for () {}
