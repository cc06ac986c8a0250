//! What people are told beside the conversation, which belongs on stderr.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_sync::Mutex;

use super::screen::Screen;
use crate::outlet::Outlet;
use crate::text::Notes;

/// How many bytes may wait to be shown before asides are left out, and counted.
const LIMIT: usize = 64 << 10;

/// Shows asides: where stderr is the terminal that the conversation is on, in their turn with that, and otherwise as
/// [`Notes`]. Clones are the same.
#[derive(Clone)]
pub(super) struct Asides {
    /// None where stderr is something else.
    screen: Option<Arc<Mutex<Screen>>>,
    outlet: Outlet,
    notes: Notes,
    left_out: Arc<AtomicUsize>,
}

impl Asides {
    pub(super) fn new(screen: Option<Arc<Mutex<Screen>>>, outlet: Outlet, notes: Notes) -> Self {
        Self { screen, outlet, notes, left_out: Arc::default() }
    }

    /// Shows one.
    pub(super) fn say(&self, text: &str) {
        let Some(screen) = &self.screen else { return self.notes.say(text) };
        if self.outlet.waiting() > LIMIT {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut screen = screen.lock();
        // Where nothing can be shown, the turn ends and tells why.
        let _told_there = match self.left_out.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            count => screen.dim(&format!("[{count} notes are left out here]")),
        };
        let _told_there = screen.dim(text);
    }

    /// Takes the lines that a child writes to its stderr, and shows each behind its name.
    pub(super) fn stderr_of(&self, name: &'static str) -> impl Fn(&str) + Send + Sync + 'static {
        let asides = self.clone();
        move |line| asides.say(&format!("{name}: {line}"))
    }
}
