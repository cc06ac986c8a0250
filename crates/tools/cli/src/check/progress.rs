//! The display of `check` while it runs.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentwire_conformance::{CheckResult, Config, Counts, Progress};

use crate::output::print_json;
use crate::output::text;
use crate::output::text::UnlockedStderr;

/// The time between two lines of progress if stderr is not a terminal: 30 s.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

/// Shows counts: in one changing line at a terminal, otherwise in a line every [`LINE_INTERVAL`]. With `--json`, prints a line for
/// each result instead.
pub(super) struct TerminalProgress {
    title: String,
    counted: bool,
    /// The time of the last line if stderr is not a terminal.
    last_line: Option<Mutex<Instant>>,
    json: bool,
    planned: AtomicUsize,
    finished: AtomicUsize,
    counts: Mutex<Counts>,
}

impl TerminalProgress {
    pub(super) fn new(config: &Config, verbose: bool, json: bool) -> Self {
        let title = text::one_line(&format!("{} over {}: {}", config.kind, config.transport, config.target));
        let is_terminal = io::stderr().is_terminal();
        let counted = is_terminal && !verbose && !json;
        if !json && !counted {
            print(format_args!("{title}\n"));
        }
        if let Some(effects) = config.effects().filter(|_| !json) {
            print(format_args!("{effects}\n"));
        }
        Self {
            title,
            counted,
            last_line: (!is_terminal && !json).then(|| Mutex::new(Instant::now())),
            json,
            planned: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            counts: Mutex::default(),
        }
    }

    /// Removes the line of counts, and leaves the title.
    pub(super) fn end(&self) {
        if self.counted {
            print(format_args!("\r\x1b[K{}\n", self.title));
        }
    }
}

impl Progress for TerminalProgress {
    fn planned(&self, checks: usize) {
        self.planned.store(checks, Ordering::Relaxed);
    }

    fn finished(&self, result: &CheckResult) {
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        let failed = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.add(result);
            counts.failed_text()
        };
        if self.json {
            // A closed stdout is reported when the run ends.
            let _printed = print_json(result);
        }
        let planned = self.planned.load(Ordering::Relaxed);
        let counts = || {
            let mut title: String = self.title.chars().take(40).collect();
            if title.len() < self.title.len() {
                title.push('…');
            }
            format!("{title}: {finished} of {planned}, {failed}")
        };
        if self.counted {
            print(format_args!("\r\x1b[K{}", counts()));
        } else if self.last_line.as_ref().is_some_and(|last| is_due(last, Instant::now())) {
            print(format_args!("{}\n", counts()));
        }
    }
}

/// Prints progress. A stderr without a reader is ignored.
fn print(text: fmt::Arguments<'_>) {
    let _closed = UnlockedStderr.write_all(text.to_string().as_bytes());
}

/// Whether a line is due at `now`. Sets the time of the last line if so.
fn is_due(last_line: &Mutex<Instant>, now: Instant) -> bool {
    let mut last_line = last_line.lock().unwrap_or_else(PoisonError::into_inner);
    let is_due = now.saturating_duration_since(*last_line) >= LINE_INTERVAL;
    if is_due {
        *last_line = now;
    }
    is_due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_after_the_interval_and_once() {
        let begun = Instant::now();
        let last = Mutex::new(begun);
        let due = |seconds| is_due(&last, begun + Duration::from_secs(seconds));
        assert_eq!([1, 29, 31, 32, 60, 61, 200].map(due), [false, false, true, false, false, true, true]);
    }
}
