//! What people read: all of it goes through here, so that nothing that others wrote steers the terminal.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_jsonrpc::Printable;

use crate::outlet::{Held, Outlet};

/// How many bytes of notes may wait to be written. What comes then is left out, and that is said.
const NOTES_LIMIT: usize = 64 << 10;

/// How long the last notes may take to be written.
const LAST_NOTES: Duration = Duration::from_secs(1);

/// Text as a terminal may have it: [`Printable`], but for colours of ours. What becomes one by `into` is on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Painted(String);

impl Painted {
    /// Text that keeps its lines.
    pub(crate) fn lines(text: &str) -> Self {
        Self(Printable::new(text).to_string())
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

/// Prints a text to stdout, with the lines that it has.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", Painted::lines(text).as_str())?;
    out.flush()
}

/// Prints one line to stdout.
pub(crate) fn print_line(text: &str) -> io::Result<()> {
    print(&one_line(text))
}

/// Says on stderr why the program ends. If nobody is there to read it, nobody is told.
pub(crate) fn last_note(text: &str) {
    let _nobody = writeln!(io::stderr().lock(), "{}", Painted::set_off(text).as_str());
}

/// Text that others wrote, on one line.
pub(crate) fn one_line(text: &str) -> String {
    Printable::one_line(text).to_string()
}

/// What people are told on stderr beside what they asked for. It waits while it is [held](Self::hold). Clones are the same.
#[derive(Clone)]
pub(crate) struct Notes {
    outlet: Outlet,
    left_out: Arc<AtomicUsize>,
}

impl Notes {
    /// On our stderr.
    pub(crate) fn new() -> Self {
        Self { outlet: Outlet::new(io::stderr()), left_out: Arc::default() }
    }

    /// Says a note. If nobody is there to read it, nobody is told.
    pub(crate) fn say(&self, text: &str) {
        if self.outlet.waiting() > NOTES_LIMIT {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        } else {
            self.say_what_was_left_out();
            self.write(Painted::set_off(text).as_str());
        }
    }

    /// Lets no note be written until what this gives is dropped.
    pub(crate) fn hold(&self) -> Held {
        self.outlet.hold()
    }

    /// Waits until the notes are written, or cannot be in time.
    pub(crate) async fn written(&self) {
        self.say_what_was_left_out();
        let _in_time = tokio::time::timeout(LAST_NOTES, self.outlet.written()).await;
    }

    fn say_what_was_left_out(&self) {
        match self.left_out.swap(0, Ordering::Relaxed) {
            0 => {}
            count => self.write(&format!("[{count} notes are left out here]")),
        }
    }

    fn write(&self, line: &str) {
        let _nobody = writeln!(self.outlet.clone(), "{line}").and_then(|()| self.outlet.clone().flush());
    }
}
