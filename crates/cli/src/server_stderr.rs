//! The stderr of a server that a command starts.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_sync::Mutex;
use agentwire_transport_stdio::Stderr;

use crate::recording::{Recorder, record_stderr};
use crate::text::Notes;

/// How many lines of the first process are compared with those of the next.
const COMPARED_LINES: usize = 100;

/// Copies the lines to the notes, each after the word "server". A server that is started again, because it ended before it
/// answered, writes the same again: that is shown once.
pub(crate) struct ServerStderr {
    notes: Notes,
    recorder: Option<Recorder>,
    processes: AtomicUsize,
    shown: Arc<Mutex<HashSet<String>>>,
}

impl ServerStderr {
    pub(crate) fn new(notes: &Notes, recorder: Option<Recorder>) -> Self {
        Self { notes: notes.clone(), recorder, processes: AtomicUsize::new(0), shown: Arc::default() }
    }

    /// For the next process.
    pub(crate) fn of_next(&self) -> Stderr {
        let is_first = self.processes.fetch_add(1, Ordering::Relaxed) == 0;
        let (notes, recorder, shown) = (self.notes.clone(), self.recorder.clone(), self.shown.clone());
        Stderr::Lines(Arc::new(move |line| {
            record_stderr(recorder.as_ref(), line);
            let mut shown = shown.lock();
            let is_known = shown.contains(line);
            if is_first && shown.len() < COMPARED_LINES {
                shown.insert(line.to_owned());
            }
            if is_first || !is_known {
                notes.add(&format!("server: {line}"));
            }
        }))
    }
}
