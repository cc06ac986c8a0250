//! Shows a conversation: on a screen for a person, or as lines of JSON for a program.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_acp_client::Error;
use agentwire_jsonrpc::{RawJson, Skipped, SkippedPart};
use agentwire_sync::Mutex;
use serde::Serialize;
use serde_json::json;

use super::diagnostics::Diagnostics;
use super::screen::Screen;
use super::shown::{plain_title, short};
use super::stderr::OrderedStderr;
use super::style::{Format, Style};
use crate::failure::{exit_code, sentence, to_json};
use crate::output::list_line::with_description;
use crate::output::local_time::local_time;
use crate::output::output_queue::{Output as _, OutputQueue};
use crate::output::text::{Notes, beginning, one_line};
use crate::output::{Member, SessionUpdateLine, json_line};

/// The longest line of JSON that is queued as bytes: 64 KiB. A longer one is queued as its value, and encoded when it is
/// written.
const SHORT_LINE: usize = 64 << 10;

/// The weight of a queued value: 32 MiB, which is more than the queue's limit, so that reading from the agent pauses until the
/// value is written.
const VALUE_WEIGHT: usize = 32 << 20;

/// The most bytes of a session's directory that are shown: the longest path of Linux.
const PATH_LIMIT: usize = 4 << 10;

/// A buffer of at most [`SHORT_LINE`] bytes.
struct ShortLine(Vec<u8>);

impl Write for ShortLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > SHORT_LINE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The output of a conversation on stdout, with messages on stderr.
pub(crate) struct View {
    output: OutputQueue,
    notes: Notes,
    diagnostics: Diagnostics,
    /// `None` if stdout has JSON.
    screen: Option<Arc<Mutex<Screen>>>,
    /// Whether only the answer is shown.
    is_quiet: bool,
    /// The kinds of skipped parts that were reported to the person.
    skipped: Mutex<BTreeSet<&'static str>>,
    /// The number of updates that have arrived.
    updates: AtomicUsize,
}

impl View {
    /// A view on our stdout, with notes on stderr. If stdout is not a terminal, only the answer goes there, and everything else goes to
    /// stderr.
    pub(crate) fn new(format: Format, notes: Notes) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let output = OutputQueue::new(stdout);
        let screen = match is_terminal {
            true => Screen::new(Box::new(output.clone()), Style::of(true)),
            false => {
                let stderr = Box::new(OrderedStderr::new(output.clone()));
                Screen::new(stderr, Style::of(io::stderr().is_terminal()))
                    .with_answer(Box::new(output.clone()))
            }
        };
        let screen = (format != Format::Json).then(|| Arc::new(Mutex::new(screen)));
        let is_shared = is_terminal && io::stderr().is_terminal();
        let diagnostics =
            Diagnostics::new(screen.clone().filter(|_| is_shared), output.clone(), notes.clone());
        let is_quiet = format == Format::Quiet;
        let (skipped, updates) = (Mutex::default(), AtomicUsize::new(0));
        Self { output, notes, diagnostics, screen, is_quiet, skipped, updates }
    }

    /// The number of updates that have arrived.
    pub(crate) fn update_count(&self) -> usize {
        self.updates.load(Ordering::Relaxed)
    }

    /// The messages on stderr.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// The messages on stderr, in order with the conversation if both are on one terminal.
    pub(crate) fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// The queue of stdout.
    pub(crate) fn output(&self) -> &OutputQueue {
        &self.output
    }

    /// Whether stdout has lines of JSON, for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.screen.is_none()
    }

    /// Whether the answer alone is shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Draws on the screen, if there is one.
    pub(crate) fn on_screen(&self, show: impl FnOnce(&mut Screen) -> io::Result<()>) -> io::Result<()> {
        match &self.screen {
            Some(screen) => show(&mut screen.lock()),
            None => Ok(()),
        }
    }

    /// Prints the line `{name: value}` for programs. The value is short; see [`large_json`](Self::large_json).
    pub(crate) fn json<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        if self.is_json() { json_line(&mut self.output.clone(), &Member(name, value)) } else { Ok(()) }
    }

    /// Prints the line `{name: value}` for programs, where the value may be as long as a message. A long one is queued as the
    /// value, so that its line is never in memory.
    pub(crate) fn large_json<T>(&self, name: &'static str, value: &Arc<T>) -> io::Result<()>
    where
        T: Serialize + Send + Sync + 'static,
    {
        if !self.is_json() {
            return Ok(());
        }
        let mut line = ShortLine(Vec::new());
        if json_line(&mut line, &Member(name, &**value)).is_ok() {
            return self.write_line(&line);
        }
        let value = value.clone();
        self.write_later(move |mut out| json_line(&mut out, &Member(name, &*value)))
    }

    /// Prints the line of an update for programs. A long one is queued as the value.
    fn update_json<U>(&self, session: &str, update: &Arc<U>) -> io::Result<()>
    where
        U: Serialize + Send + Sync + 'static,
    {
        let mut line = ShortLine(Vec::new());
        if json_line(&mut line, &SessionUpdateLine { update: &**update, session }).is_ok() {
            return self.write_line(&line);
        }
        let (update, session) = (update.clone(), session.to_owned());
        self.write_later(move |mut out| {
            json_line(&mut out, &SessionUpdateLine { update: &*update, session: &session })
        })
    }

    fn write_line(&self, line: &ShortLine) -> io::Result<()> {
        let mut output = self.output.clone();
        output.write_all(&line.0)?;
        output.flush()
    }

    fn write_later(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let mut output = self.output.clone();
        output.write_later(VALUE_WEIGHT, Box::new(write));
        output.flush()
    }

    /// Reports a message of the agent that cannot be read: to programs on stdout, to people on stderr.
    pub(crate) fn unreadable_message(&self, why: &Error) -> io::Result<()> {
        let why = one_line(&why.message);
        if !self.is_json() {
            self.diagnostics.add(&format!("warning: a message of the agent is lost: {why}"));
        }
        self.json("unreadable", &json!({ "why": why }))
    }

    /// Reports an update that cannot be read: with its params to programs, only the reason to people on stderr.
    pub(crate) fn unreadable_update(&self, params: Option<RawJson>, why: &Error) -> io::Result<()> {
        #[derive(Serialize)]
        struct Unreadable {
            params: Option<RawJson>,
            why: String,
        }

        if !self.is_json() {
            let why = one_line(&why.message);
            self.diagnostics.add(&format!("warning: an update of the agent cannot be read: {why}"));
        }
        self.large_json("unreadable", &Arc::new(Unreadable { params, why: why.message.to_string() }))
    }

    /// Handles an update of a session. For programs it is printed, and then applied only if it is a setting. For people
    /// `apply` shows it. Updates of other sessions are not applied. A hidden one is not printed.
    pub(crate) fn update<U>(
        &self,
        session: &str,
        update: U,
        is_ours: bool,
        is_hidden: bool,
        is_setting: impl FnOnce(&U) -> bool,
        apply: impl FnOnce(U) -> io::Result<()>,
    ) -> io::Result<()>
    where
        U: Serialize + Clone + Send + Sync + 'static,
    {
        self.updates.fetch_add(1, Ordering::Relaxed);
        if !self.is_json() {
            return if is_ours { apply(update) } else { Ok(()) };
        }
        let update = Arc::new(update);
        let printed = if is_hidden { Ok(()) } else { self.update_json(session, &update) };
        if is_ours && is_setting(&update) {
            apply(Arc::unwrap_or_clone(update))?;
        }
        printed
    }

    /// Reports parts of a message that were skipped because they cannot be read: all parts to programs, the first of each kind to
    /// people on stderr.
    pub(crate) fn skipped(&self, method: &str, skipped: &Skipped) -> io::Result<()> {
        if !self.is_json() {
            let mut reported = self.skipped.lock();
            for part in skipped.parts.iter().filter(|part| reported.insert(part.kind)) {
                self.diagnostics.add(&format!("warning: agent: {method}: skipped {part}"));
            }
        }
        let part = |part: &SkippedPart| json!({ "kind": part.kind, "index": part.index, "place": part.place, "why": part.why });
        let parts: Vec<_> = skipped.parts.iter().map(part).collect();
        self.large_json(
            "skipped",
            &Arc::new(json!({ "method": method, "parts": parts, "more": skipped.more })),
        )
    }

    /// Prints a permission request and its outcome for programs.
    pub(crate) fn permission<Q, O>(&self, request: Q, outcome: O) -> io::Result<()>
    where
        Q: Serialize + Send + Sync + 'static,
        O: Serialize + Send + Sync + 'static,
    {
        #[derive(Serialize)]
        struct Permission<Q, O> {
            request: Q,
            outcome: O,
        }

        self.large_json("permission", &Arc::new(Permission { request, outcome }))
    }

    /// Prints a failure for programs. For people, `main` prints it on stderr.
    pub(crate) fn failure(&self, error: &anyhow::Error) -> io::Result<()> {
        if !self.is_json() {
            return Ok(());
        }
        json_line(&mut self.output.clone(), &to_json(error, exit_code(error)))
    }

    /// Reports a failure that does not end the conversation.
    pub(crate) fn failed_turn(&self, error: &anyhow::Error) -> io::Result<()> {
        match self.is_json() {
            true => self.failure(error),
            false => self.tell(&format!("error: {}", sentence(error))),
        }
    }

    /// Shows a dim line of our own to people, unless only the answer is shown.
    pub(crate) fn remark(&self, text: &str) -> io::Result<()> {
        if self.is_quiet { Ok(()) } else { self.tell(text) }
    }

    /// Shows a dim line of our own that belongs to a question or a command of the person.
    pub(crate) fn tell(&self, text: &str) -> io::Result<()> {
        self.on_screen(|screen| screen.dim(text))
    }

    /// Shows people a line that they requested.
    pub(crate) fn line(&self, text: &str) -> io::Result<()> {
        self.on_screen(|screen| screen.answer_line(text))
    }

    /// Shows lines to people, or `none` if there are no lines.
    pub(crate) fn list(&self, lines: &[String], none: &str) -> io::Result<()> {
        if lines.is_empty() { self.tell(none) } else { lines.iter().try_for_each(|line| self.line(line)) }
    }

    /// Reports that a part of an update is not stored, because it is too large.
    pub(crate) fn not_stored(&self, what: &str) -> io::Result<()> {
        if !self.is_json() {
            return self.tell(&format!("! {what}"));
        }
        self.diagnostics.add(&format!("warning: {what}"));
        self.json("leftOut", &what)
    }

    /// Shows a session of a list to people, after a mark: its id, the time of its last activity, its directory and its title.
    pub(crate) fn session(
        &self,
        mark: &str,
        id: &str,
        updated: Option<&str>,
        cwd: &dyn Display,
        title: Option<&str>,
    ) -> io::Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let updated = updated.map(|time| format!("  {}", short(&local_time(time)))).unwrap_or_default();
        let cwd = beginning(cwd, PATH_LIMIT);
        let title = title.map(plain_title);
        self.line(&with_description(&format!("{mark}{}{updated}  {cwd}", one_line(id)), title.as_deref()))
    }

    /// Shows a spinner with a text while something starts. [`turn_ended`](Self::turn_ended) removes it.
    pub(crate) fn starting(&self, text: &str) -> io::Result<()> {
        self.on_screen(|screen| {
            screen.start_spinner(text);
            Ok(())
        })
    }

    /// Shows the spinner of a turn.
    pub(crate) fn turn_begins(&self) -> io::Result<()> {
        self.on_screen(|screen| {
            screen.start_spinner("");
            Ok(())
        })
    }

    /// Removes the spinner, and shows the reason of the turn's end if `reason` is given.
    pub(crate) fn turn_ended(&self, reason: Option<&str>) -> io::Result<()> {
        self.on_screen(|screen| {
            screen.stop_spinner()?;
            match reason.filter(|_| !self.is_quiet) {
                Some(reason) => screen.dim(&format!("[{reason}]")),
                None => Ok(()),
            }
        })
    }

    /// Turns the spinner.
    pub(crate) fn turn_spinner(&self) -> io::Result<()> {
        if self.output.is_held() { Ok(()) } else { self.on_screen(Screen::turn_spinner) }
    }
}
