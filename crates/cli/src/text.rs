//! What people read: all of it goes through here, so that nothing that others wrote steers the terminal.

use std::fmt::{self, Display, Write as _};
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_jsonrpc::Printable;

use crate::output_queue::{OutputHold, OutputQueue};

/// How many bytes of notes may wait to be written. What comes then is left out, and that is said.
const NOTES_LIMIT: usize = 64 << 10;

/// How many bytes of what others wrote are shown on one line, and of what has lines at once. How many there are more is said.
const LINE_LIMIT: usize = 16 << 10;
const TEXT_LIMIT: usize = 128 << 10;

/// How many bytes are written to stdout at once.
const BUFFER: usize = 64 << 10;

/// How long the last notes may take to be written.
const LAST_NOTES: Duration = Duration::from_secs(1);

/// Text as a terminal may have it: [`Printable`], but for colours of ours. What becomes one by `into` is on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Painted(String);

impl Painted {
    /// Text that keeps its lines.
    pub(crate) fn lines(text: &str) -> Self {
        Self(beginning(Printable::new(text), TEXT_LIMIT))
    }

    /// Text of which each line but the first is set off, so that none passes for one of ours.
    pub(crate) fn set_off(text: &str) -> Self {
        Self(Self::lines(text).0.trim_end().replace('\n', "\n  "))
    }

    /// The same in a colour.
    pub(crate) fn coloured(self, colour: &str) -> Self {
        Self(format!("\x1b[{colour}m{}\x1b[0m", self.0))
    }

    /// The same with something behind it.
    pub(crate) fn then(mut self, more: impl Into<Self>) -> Self {
        self.0.push_str(&more.into().0);
        self
    }

    /// What is written to the terminal.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Painted {
    fn from(text: &str) -> Self {
        Self(one_line(text))
    }
}

impl From<String> for Painted {
    fn from(text: String) -> Self {
        Self::from(&*text)
    }
}

/// Prints a text to stdout, with the lines that it has and however long it is.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    writeln!(out, "{}", Printable::new(text))?;
    out.flush()
}

/// Writes a text that others wrote, with the lines that it has and however long it is, in a colour or none.
pub(crate) fn write_text(
    out: &mut (impl Write + ?Sized),
    colour: Option<&str>,
    text: &str,
) -> io::Result<()> {
    match colour {
        Some(colour) => write!(out, "\x1b[{colour}m{}\x1b[0m", Printable::new(text)),
        None => write!(out, "{}", Printable::new(text)),
    }
}

/// Prints one line to stdout.
pub(crate) fn print_line(text: &str) -> io::Result<()> {
    print(&one_line(text))
}

/// Says on stderr why the program ends. If nobody is there to read it, nobody is told.
pub(crate) fn last_note(text: &str) {
    let _nobody = writeln!(io::stderr().lock(), "{}", Painted::set_off(text).as_str());
}

/// Text that others wrote, on one line: its beginning, where it is long.
pub(crate) fn one_line(text: &str) -> String {
    beginning(Printable::one_line(text), LINE_LIMIT)
}

/// The first bytes of what something shows, and how many more there are. It takes no more memory than that.
pub(crate) fn beginning(shown: impl Display, limit: usize) -> String {
    struct Beginning {
        text: String,
        limit: usize,
        left_out: usize,
    }

    impl fmt::Write for Beginning {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            let room = if self.left_out > 0 { 0 } else { self.limit - self.text.len() };
            let end = (0..=room.min(piece.len())).rev().find(|end| piece.is_char_boundary(*end)).unwrap_or(0);
            self.text.push_str(&piece[..end]);
            self.left_out += piece.len() - end;
            Ok(())
        }
    }

    let mut beginning = Beginning { text: String::new(), limit, left_out: 0 };
    // It never fails; what the other shows may, and then this is what there is.
    let _whole = write!(beginning, "{shown}");
    let Beginning { mut text, left_out, .. } = beginning;
    if left_out > 0 {
        text.push_str(&format!("… [{left_out} bytes more]"));
    }
    text
}

/// What people are told on stderr beside what they asked for. It waits while it is [held](Self::hold). Clones are the same.
#[derive(Clone)]
pub(crate) struct Notes {
    output: OutputQueue,
    left_out: Arc<AtomicUsize>,
}

impl Notes {
    /// On our stderr.
    pub(crate) fn new() -> Self {
        Self { output: OutputQueue::new(io::stderr()), left_out: Arc::default() }
    }

    /// Says a note. If nobody is there to read it, nobody is told.
    pub(crate) fn say(&self, text: &str) {
        if self.output.waiting() > NOTES_LIMIT {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        } else {
            self.say_what_was_left_out();
            self.write(Painted::set_off(text).as_str());
        }
    }

    /// Lets no note be written until what this gives is dropped.
    pub(crate) fn hold(&self) -> OutputHold {
        self.output.hold()
    }

    /// Waits until the notes are written, or cannot be in time.
    pub(crate) async fn written(&self) {
        self.say_what_was_left_out();
        let _in_time = tokio::time::timeout(LAST_NOTES, self.output.written()).await;
    }

    fn say_what_was_left_out(&self) {
        match self.left_out.swap(0, Ordering::Relaxed) {
            0 => {}
            count => self.write(&format!("[{count} notes are left out here]")),
        }
    }

    fn write(&self, line: &str) {
        let _nobody = writeln!(self.output.clone(), "{line}").and_then(|()| self.output.clone().flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_shown_as_far_as_there_is_room_and_the_rest_is_counted() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("abcd", 3), "abc… [1 bytes more]");
        assert_eq!(beginning("aäb", 2), "a… [3 bytes more]");
        assert_eq!(beginning(format_args!("{}{}{}", "ab", "ä", "c"), 3), "ab… [3 bytes more]");
        let long = "\u{9b}".repeat(1 << 20);
        for shown in [one_line(&long), Painted::lines(&long).0, Painted::set_off(&long).0] {
            assert!(shown.len() < TEXT_LIMIT + 100 && shown.ends_with(" bytes more]"), "{}", shown.len());
        }
    }
}
