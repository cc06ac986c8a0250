//! One check of the suite.

use anyhow::Result;

use super::scratch::Scratch;

/// A program of ours, one of another project, and the check that they understand each other.
pub(super) struct Pair {
    pub(super) name: String,
    /// Seconds until the pair is stopped and fails.
    pub(super) limit: u64,
    pub(super) check: Box<Check>,
}

/// A check, in an environment of its own.
type Check = dyn Fn(&Scratch<'_>) -> Result<()> + Send + Sync;

/// A row of the tables of pairs.
pub(super) fn pair<C>(name: impl Into<String>, limit: u64, check: C) -> Pair
where
    C: Fn(&Scratch<'_>) -> Result<()> + Send + Sync + 'static,
{
    Pair { name: name.into(), limit, check: Box::new(check) }
}
