//! The result of every rule.

use std::fmt;

/// One broken rule in one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) file: String,
    pub(super) rule: &'static str,
    pub(super) what: String,
}

impl Violation {
    pub(super) fn new(file: impl Into<String>, rule: &'static str, what: impl Into<String>) -> Self {
        Self { file: file.into(), rule, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.file, self.rule, self.what)
    }
}
