//! Shows the changes of a text on a screen.

use std::io;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, capture_diff_slices_deadline, group_diff_ops};

use super::screen::Screen;

/// The most bytes of a text in a diff.
const MAX_DIFF_BYTES: usize = 1 << 20;

/// The most lines of a text in a diff. Comparing takes about 100 bytes of memory a line.
const MAX_DIFF_LINES: usize = 50_000;

/// The time limit of the search for the smallest diffs of one update, which is quadratic for some texts. After it, larger diffs
/// are shown.
const DIFF_TIMEOUT: Duration = Duration::from_millis(200);

impl Screen {
    /// The deadline of the search for the smallest diffs of one update.
    pub(crate) fn diff_deadline() -> Instant {
        Instant::now() + DIFF_TIMEOUT
    }

    /// Shows the changes of a text, with three lines of context.
    pub(crate) fn diff(&mut self, old: &str, new: &str, deadline: Instant) -> io::Result<()> {
        let is_long = |text: &str| text.len() > MAX_DIFF_BYTES || text.lines().nth(MAX_DIFF_LINES).is_some();
        if is_long(old) || is_long(new) {
            let (old, new) = (old.len(), new.len());
            return self.dim(&format!("  [{old} bytes before and {new} after are too long to be compared]"));
        }
        let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        // Carriage returns are shown if the texts may differ in them.
        let ends_in_return = |line: &&str| line.ends_with("\r\n") || !line.ends_with('\n');
        let end = if old.iter().chain(&new).all(ends_in_return) { "\r\n" } else { "\n" };
        let changes = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
        for group in group_diff_ops(changes, 3) {
            for change in group.iter().flat_map(|operation| operation.iter_changes(&*old, &*new)) {
                let (sign, colour) = match change.tag() {
                    ChangeTag::Delete => ('-', "31"),
                    ChangeTag::Insert => ('+', "32"),
                    ChangeTag::Equal => (' ', "2"),
                };
                let line = change.value();
                let text = line.strip_suffix(end).unwrap_or(line);
                self.shortened_line(colour, &format!("{sign}{text}"))?;
            }
        }
        Ok(())
    }
}
