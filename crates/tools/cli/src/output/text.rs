//! Prints text for people. Escapes a peer's text, so that it cannot control the terminal.

use std::fmt::{self, Display, Write as _};
use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use agentwire_jsonrpc::Printable;

use crate::output::output_queue::{OutputHold, OutputQueue};

/// The most bytes of queued notes. Beyond that, notes are left out and counted.
const NOTES_LIMIT: usize = 64 << 10;

/// The most bytes of a peer's text that are shown on one line. A mark counts the others.
const LINE_LIMIT: usize = 16 << 10;

/// The most bytes of a peer's text with several lines that are shown. A mark counts the others.
const TEXT_LIMIT: usize = 128 << 10;

/// The most bytes of a word that an error shows.
const WORD_LIMIT: usize = 80;

/// The buffer of stdout.
const BUFFER: usize = 64 << 10;

/// The timeout of writing the last notes.
const LAST_NOTES_TIMEOUT: Duration = Duration::from_secs(1);

/// Escaped text for a terminal, with our own colours. `From` converts a text to one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StyledText(String);

impl StyledText {
    /// A text with its lines.
    pub(crate) fn lines(text: &str) -> Self {
        Self(beginning(Printable::new(text), TEXT_LIMIT))
    }

    /// A text whose lines after the first are indented, so that none looks like our own line.
    pub(crate) fn hanging(text: &str) -> Self {
        Self(Self::lines(text).0.trim_end().replace('\n', "\n  "))
    }

    /// Adds a colour.
    pub(crate) fn coloured(self, colour: &str) -> Self {
        Self(format!("\x1b[{colour}m{}\x1b[0m", self.0))
    }

    /// Appends text.
    pub(crate) fn then(mut self, more: impl Into<Self>) -> Self {
        self.0.push_str(&more.into().0);
        self
    }

    /// The bytes for the terminal.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for StyledText {
    fn from(text: &str) -> Self {
        Self(one_line(text))
    }
}

impl From<String> for StyledText {
    fn from(text: String) -> Self {
        Self::from(&*text)
    }
}

/// Prints all of a text to stdout, with its lines.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    writeln!(out, "{}", Printable::new(text))?;
    out.flush()
}

/// Writes all of a peer's text, with its lines, in a colour if one is given.
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

/// Prints the program's error on stderr. Gives up after [`LAST_NOTES_TIMEOUT`]: a full pipe that is not read would block the
/// exit.
pub(crate) fn print_error(text: &str) {
    let line: Arc<str> = format!("{}\n", StyledText::hanging(text).as_str()).into();
    let (written, is_written) = mpsc::channel();
    let print = {
        let line = line.clone();
        move || {
            // If stderr is closed, no output is left.
            let _closed = UnlockedStderr.write_all(line.as_bytes());
            let _given_up = written.send(());
        }
    };
    match thread::Builder::new().spawn(print) {
        Ok(_) => _ = is_written.recv_timeout(LAST_NOTES_TIMEOUT),
        Err(_) => _ = UnlockedStderr.write_all(line.as_bytes()),
    }
}

/// Our stderr without the lock of the standard library. A thread that blocks on a full pipe would keep that lock, and block
/// every other thread that writes to stderr.
pub(crate) struct UnlockedStderr;

impl Write for UnlockedStderr {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(io::stderr(), bytes) {
            // Stderr is closed.
            Err(rustix::io::Errno::BADF) => Ok(bytes.len()),
            written => Ok(written?),
        }
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A peer's text on one line, up to 16 KiB.
pub(crate) fn one_line(text: &str) -> String {
    beginning(Printable::one_line(text), LINE_LIMIT)
}

/// A name or another word, in backticks, on one line and up to 80 bytes.
pub(crate) fn quoted(word: &str) -> String {
    format!("`{}`", beginning(Printable::one_line(word), WORD_LIMIT))
}

/// The first `limit` bytes of a displayed value, with a mark that counts the others. Only these bytes take memory.
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
    // The writer never fails. If the value's `Display` does, the text so far is the result.
    let _whole = write!(beginning, "{shown}");
    let Beginning { mut text, left_out, .. } = beginning;
    if left_out > 0 {
        text.push_str(&format!("… [{left_out} bytes more]"));
    }
    text
}

/// A queue of messages on stderr, for people. It can be [held](Self::hold). Clones share the queue.
#[derive(Clone)]
pub(crate) struct Notes {
    output: OutputQueue,
    left_out: Arc<AtomicUsize>,
}

impl Notes {
    /// Notes on our stderr.
    pub(crate) fn new() -> Self {
        Self { output: OutputQueue::new(UnlockedStderr), left_out: Arc::default() }
    }

    /// Queues a note, unless too much is queued.
    pub(crate) fn add(&self, text: &str) {
        if self.output.waiting() > NOTES_LIMIT {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        } else {
            self.report_left_out();
            self.write(StyledText::hanging(text).as_str());
        }
    }

    /// Holds back notes until the result is dropped.
    pub(crate) fn hold(&self) -> OutputHold {
        self.output.hold()
    }

    /// Waits until the notes are written, at most [`LAST_NOTES_TIMEOUT`].
    pub(crate) async fn written(&self) {
        self.report_left_out();
        let _in_time = tokio::time::timeout(LAST_NOTES_TIMEOUT, self.output.written()).await;
    }

    fn report_left_out(&self) {
        match self.left_out.swap(0, Ordering::Relaxed) {
            0 => {}
            count => self.write(&format!("[{count} notes are left out here]")),
        }
    }

    fn write(&self, line: &str) {
        // If stderr is closed, notes have no reader.
        let _closed = writeln!(self.output.clone(), "{line}").and_then(|()| self.output.clone().flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_and_the_rest_is_counted() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("abcd", 3), "abc… [1 bytes more]");
        assert_eq!(beginning("aäb", 2), "a… [3 bytes more]");
        assert_eq!(beginning(format_args!("{}{}{}", "ab", "ä", "c"), 3), "ab… [3 bytes more]");
        let long = "\u{9b}".repeat(1 << 20);
        for shown in [one_line(&long), StyledText::lines(&long).0, StyledText::hanging(&long).0] {
            assert!(shown.len() < TEXT_LIMIT + 100 && shown.ends_with(" bytes more]"), "{}", shown.len());
        }
    }
}
