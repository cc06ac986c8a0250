//! Collects the stderr of a program that a command starts. Keeps the lines while the program is healthy, and shows them if it fails.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_sync::Mutex;
use agentwire_transport_stdio::Stderr;

use crate::output::text::beginning;
use crate::recording::{Recorder, record_stderr};

/// The most last lines that are kept: as many as the transport keeps for its errors.
const KEPT_LINES: usize = 20;

/// The most bytes of a line that are kept: 4 KiB.
const LINE_LIMIT: usize = 4 << 10;

/// The most lines of the first process that are compared with those of the next.
const COMPARED_LINES: usize = 100;

/// The destination of the lines of a program's stderr. Clones share everything.
#[derive(Clone)]
pub(crate) struct ProgramStderr(Arc<Inner>);

struct Inner {
    /// Shows a line to the person.
    show: Box<dyn Fn(&str) + Send + Sync>,
    recorder: Option<Recorder>,
    processes: AtomicUsize,
    lines: Mutex<Lines>,
}

#[derive(Default)]
struct Lines {
    /// Whether lines are shown as they arrive.
    are_shown: bool,
    /// The last lines that were not shown.
    kept: VecDeque<String>,
    /// The number of dropped lines before these.
    dropped: usize,
    /// The lines of the first process. The process of a later start shows only other lines.
    first: HashSet<String>,
}

impl ProgramStderr {
    /// `show` shows a line to the person: at once if `verbose`, otherwise when the program fails.
    pub(crate) fn new(
        verbose: bool,
        recorder: Option<Recorder>,
        show: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let lines = Lines { are_shown: verbose, ..Lines::default() };
        let processes = AtomicUsize::new(0);
        Self(Arc::new(Inner { show: Box::new(show), recorder, processes, lines: lines.into() }))
    }

    /// The handler for the lines of the next process. A server that ended before it answered is started again, and writes the
    /// same lines again.
    pub(crate) fn of_next(&self) -> Stderr {
        let is_first = self.0.processes.fetch_add(1, Ordering::Relaxed) == 0;
        let inner = self.0.clone();
        Stderr::Lines(Arc::new(move |line| inner.add(line, is_first)))
    }

    /// Shows the lines that were kept, because the program has failed.
    pub(crate) fn show_kept(&self) {
        self.0.show_kept(&mut self.0.lines.lock());
    }

    /// Shows lines as they arrive until the result is dropped, because a person may have to read them.
    pub(crate) fn shown(&self) -> ShownStderr {
        let mut lines = self.0.lines.lock();
        let before = std::mem::replace(&mut lines.are_shown, true);
        self.0.show_kept(&mut lines);
        ShownStderr { inner: self.0.clone(), before }
    }
}

impl Inner {
    fn add(&self, line: &str, is_first: bool) {
        record_stderr(self.recorder.as_ref(), line);
        let mut lines = self.lines.lock();
        if is_first && lines.first.len() < COMPARED_LINES {
            lines.first.insert(line.to_owned());
        }
        if !is_first && lines.first.contains(line) {
            return;
        }
        if lines.are_shown {
            return (self.show)(line);
        }
        if lines.kept.len() == KEPT_LINES {
            lines.kept.pop_front();
            lines.dropped += 1;
        }
        lines.kept.push_back(beginning(line, LINE_LIMIT));
    }

    fn show_kept(&self, lines: &mut Lines) {
        match std::mem::take(&mut lines.dropped) {
            0 => {}
            1 => (self.show)("[1 line before this is left out; -v shows all]"),
            count => (self.show)(&format!("[{count} lines before this are left out; -v shows all]")),
        }
        lines.kept.drain(..).for_each(|line| (self.show)(&line));
    }
}

/// Lines are shown as they arrive until this is dropped.
pub(crate) struct ShownStderr {
    inner: Arc<Inner>,
    before: bool,
}

impl Drop for ShownStderr {
    fn drop(&mut self) {
        self.inner.lines.lock().are_shown = self.before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stderr(verbose: bool) -> (ProgramStderr, Arc<Mutex<Vec<String>>>) {
        let shown = Arc::<Mutex<Vec<String>>>::default();
        let lines = shown.clone();
        (ProgramStderr::new(verbose, None, move |line| lines.lock().push(line.to_owned())), shown)
    }

    fn write(stderr: &ProgramStderr, lines: &[&str]) {
        let Stderr::Lines(add) = stderr.of_next() else { panic!("the lines are taken") };
        lines.iter().for_each(|line| add(line));
    }

    #[test]
    fn lines_of_a_healthy_program_are_kept_until_it_fails() {
        let (stderr, shown) = stderr(false);
        write(&stderr, &["one", "two"]);
        assert!(shown.lock().is_empty());
        stderr.show_kept();
        stderr.show_kept();
        assert_eq!(*shown.lock(), ["one", "two"]);
    }

    #[test]
    fn verbose_shows_lines_at_once_and_a_login_those_of_its_time() {
        let (verbose, shown) = stderr(true);
        write(&verbose, &["one"]);
        assert_eq!(*shown.lock(), ["one"]);
        let (quiet, shown) = stderr(false);
        let Stderr::Lines(add) = quiet.of_next() else { panic!("the lines are taken") };
        let login = quiet.shown();
        add("open this page");
        drop(login);
        add("started");
        assert_eq!(*shown.lock(), ["open this page"]);
    }

    #[test]
    fn kept_lines_are_bounded_and_the_others_are_counted() {
        let (stderr, shown) = stderr(false);
        let lines: Vec<_> = (0..1000).map(|number| format!("{number}{}", "x".repeat(1 << 16))).collect();
        write(&stderr, &lines.iter().map(String::as_str).collect::<Vec<_>>());
        stderr.show_kept();
        let shown = shown.lock();
        assert_eq!((shown.len(), &*shown[0]), (21, "[980 lines before this are left out; -v shows all]"));
        assert!(shown.iter().map(String::len).sum::<usize>() < 21 * (LINE_LIMIT + 100));
    }

    #[test]
    fn lines_of_a_second_start_are_shown_once() {
        let (stderr, shown) = stderr(true);
        write(&stderr, &["starting"]);
        write(&stderr, &["starting", "other"]);
        assert_eq!(*shown.lock(), ["starting", "other"]);
    }
}
