//! Shows messages on stderr that are not part of the conversation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_sync::Mutex;

use super::screen::Screen;
use crate::output::output_queue::OutputQueue;
use crate::output::text::Notes;

/// The number of queued bytes of output from which diagnostics are left out and counted: 64 KiB.
const LIMIT: usize = 64 << 10;

/// Shows messages in order with the conversation if stderr is the same terminal, and otherwise as [`Notes`]. Clones share
/// everything.
#[derive(Clone)]
pub(crate) struct Diagnostics {
    /// `None` if stderr is not the terminal of the screen.
    screen: Option<Arc<Mutex<Screen>>>,
    output: OutputQueue,
    notes: Notes,
    left_out: Arc<AtomicUsize>,
}

impl Diagnostics {
    pub(crate) fn new(screen: Option<Arc<Mutex<Screen>>>, output: OutputQueue, notes: Notes) -> Self {
        Self { screen, output, notes, left_out: Arc::default() }
    }

    /// Shows a message, unless too much output is queued.
    pub(crate) fn add(&self, text: &str) {
        let Some(screen) = &self.screen else { return self.notes.add(text) };
        if self.output.waiting() > LIMIT {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut screen = screen.lock();
        // If stdout is closed, the turn ends with that error.
        let _reported_there = match self.left_out.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            count => screen.dim(&format!("[{count} notes are left out here]")),
        };
        let _reported_there = screen.dim(text);
    }

    /// A function that shows the lines of a child's stderr, each after the child's name.
    pub(crate) fn stderr_of(&self, name: &'static str) -> impl Fn(&str) + Send + Sync + 'static {
        let diagnostics = self.clone();
        move |line| diagnostics.add(&format!("{name}: {line}"))
    }
}
