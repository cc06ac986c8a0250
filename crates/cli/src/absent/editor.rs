//! Without the feature `editor`: the terminal edits the lines.

use std::io;

use super::complete::Completions;
use crate::absent::Absent;

/// A line editor, of which this build has none.
pub(super) struct Editor(Absent);

/// How the editing of a line ended.
#[derive(Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "no line is edited")]
pub(super) enum EditOutcome {
    Line(String),
    Interrupted,
    Cleared,
    End,
}

impl Editor {
    pub(super) fn open(_: Completions) -> Option<Self> {
        None
    }

    pub(super) fn add(&mut self, _typed: &str) {
        match self.0 {}
    }

    pub(super) async fn read(&mut self, _: impl Future<Output = ()>) -> io::Result<EditOutcome> {
        match self.0 {}
    }
}
