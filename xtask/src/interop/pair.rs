//! One check of the suite.

use std::borrow::Cow;

use anyhow::Result;

use super::products::Product;
use super::scratch::Scratch;

/// A program of ours, one of another project, and the check that they understand each other.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) name: Cow<'static, str>,
    /// Seconds until the pair is stopped and fails.
    pub(super) limit: u64,
    pub(super) check: Check,
}

#[derive(Clone, Copy)]
pub(super) enum Check {
    Plain(fn(&Scratch<'_>) -> Result<()>),
    Product(fn(&Scratch<'_>, &'static Product) -> Result<()>, &'static Product),
}

/// A row of the tables of pairs.
pub(super) const fn pair(name: &'static str, limit: u64, check: fn(&Scratch<'_>) -> Result<()>) -> Pair {
    Pair { name: Cow::Borrowed(name), limit, check: Check::Plain(check) }
}
