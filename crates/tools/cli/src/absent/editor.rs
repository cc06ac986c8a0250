//! Without the feature `editor`: the terminal edits the lines.

use std::io;

use super::complete::Completions;
use super::edit_outcome::EditOutcome;
use crate::absent::Absent;

/// A line editor, which cannot be opened in this build.
pub(super) struct Editor(Absent);

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
