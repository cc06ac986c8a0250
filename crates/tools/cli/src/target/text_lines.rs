//! Shows lines that a program writes to stdout in place of JSON-RPC, such as a log.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_transport_stdio::Command;

use crate::failure::OtherSide;
use crate::output::text::Notes;

/// The most lines that are shown.
const SHOWN_LINES: usize = 5;

/// Shows lines that are not JSON-RPC at once, because the program may never answer.
#[derive(Clone)]
pub(crate) struct TextLines {
    side: OtherSide,
    notes: Notes,
    count: Arc<AtomicUsize>,
    /// The number of shown lines that the connection has not reported yet.
    unreported: Arc<AtomicUsize>,
}

impl TextLines {
    /// The lines of an agent or server.
    pub(crate) fn new(side: &OtherSide, notes: &Notes) -> Self {
        Self { side: side.clone(), notes: notes.clone(), count: Arc::default(), unreported: Arc::default() }
    }

    /// Watches the stdout of a command.
    pub(crate) fn watch(&self, command: Command) -> Command {
        let lines = self.clone();
        command.on_text_line(move |line| lines.add(line))
    }

    fn add(&self, line: &str) {
        self.side.wrote_text(line);
        self.unreported.fetch_add(1, Ordering::Relaxed);
        match self.count.fetch_add(1, Ordering::Relaxed) {
            0..SHOWN_LINES => {
                self.notes
                    .add(&format!("{} writes to stdout, where only JSON-RPC belongs: {line}", self.side));
            }
            SHOWN_LINES => self.notes.add(&format!("{} writes more such lines", self.side)),
            _ => {}
        }
    }

    /// Whether a message that the connection cannot read is one of these lines.
    pub(crate) fn was_shown(&self) -> bool {
        let fewer = |count: usize| count.checked_sub(1);
        self.unreported.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok()
    }
}
