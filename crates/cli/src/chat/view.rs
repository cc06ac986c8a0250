//! Where a conversation is shown: to a person, or as lines of JSON to a program.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_jsonrpc::{RawJson, Skipped, SkippedPart};
use agentwire_sync::Mutex;
use serde::Serialize;
use serde_json::json;

use super::diagnostics::Diagnostics;
use super::rendered::short;
use super::screen::Screen;
use crate::output::{Member, json_line};
use crate::output_queue::{Output as _, OutputQueue};
use crate::text::{Notes, beginning, one_line};

/// From how many bytes on a line of JSON is written when its turn comes. It counts as much more than may wait, so that nothing
/// is read before it is written.
const SHORT: usize = 64 << 10;
const LARGE: usize = 32 << 20;

/// How many bytes of a session's directory are shown: as many as a path can have.
const MOST_OF_PATH: usize = 4 << 10;

/// A line of JSON that is short.
struct Short(Vec<u8>);

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > SHORT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What everything is shown on.
pub(crate) struct View {
    output: OutputQueue,
    notes: Notes,
    diagnostics: Diagnostics,
    /// None where programs read.
    screen: Option<Arc<Mutex<Screen>>>,
    /// The kinds of parts that people were told are left out.
    skipped: Mutex<BTreeSet<&'static str>>,
}

impl View {
    /// On our stdout, with the notes that go to stderr.
    pub(crate) fn new(json: bool, notes: Notes) -> Self {
        let stdout = io::stdout();
        let lively = stdout.is_terminal();
        let output = OutputQueue::new(stdout);
        let screen = (!json).then(|| Arc::new(Mutex::new(Screen::new(Box::new(output.clone()), lively))));
        let is_shared = lively && io::stderr().is_terminal();
        let diagnostics =
            Diagnostics::new(screen.clone().filter(|_| is_shared), output.clone(), notes.clone());
        Self { output, notes, diagnostics, screen, skipped: Mutex::default() }
    }

    /// What people are told on stderr.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }

    /// What people are told on stderr, among the rest where that is on the same terminal.
    pub(super) fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// What it is all written to.
    pub(super) fn output(&self) -> &OutputQueue {
        &self.output
    }

    /// Whether programs read it.
    pub(super) fn is_json(&self) -> bool {
        self.screen.is_none()
    }

    /// Shows something on the screen, if a person looks at one.
    pub(super) fn on_screen(&self, show: impl FnOnce(&mut Screen) -> io::Result<()>) -> io::Result<()> {
        match &self.screen {
            Some(screen) => show(&mut screen.lock()),
            None => Ok(()),
        }
    }

    /// Shows an object that programs want to see; to people it says nothing. It is short: see
    /// [`large_fact`](Self::large_fact).
    pub(super) fn fact<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        if self.is_json() { json_line(&mut self.output.clone(), &Member(name, value)) } else { Ok(()) }
    }

    /// The same of what may be as long as a message. Where it is, it is kept as it is until its turn comes, and never there
    /// as a line too.
    pub(super) fn large_fact<T>(&self, name: &'static str, value: &Arc<T>) -> io::Result<()>
    where
        T: Serialize + Send + Sync + 'static,
    {
        if !self.is_json() {
            return Ok(());
        }
        let mut output = self.output.clone();
        let mut line = Short(Vec::new());
        if json_line(&mut line, &Member(name, &**value)).is_ok() {
            output.write_all(&line.0)?;
        } else {
            let value = value.clone();
            let write = move |mut out: &mut dyn Write| json_line(&mut out, &Member(name, &*value));
            output.write_later(LARGE, Box::new(write));
        }
        output.flush()
    }

    /// Shows that a message of the agent's is lost, because it cannot be read: to programs as a fact, to people on stderr.
    pub(super) fn lost(&self, why: &Error) -> io::Result<()> {
        let why = crate::text::one_line(&why.message);
        if !self.is_json() {
            self.diagnostics.say(&format!("warning: a message of the agent is lost: {why}"));
        }
        self.fact("unreadable", &json!({ "why": why }))
    }

    /// Shows that an update cannot be read: all of it to programs, what is wrong to people on stderr.
    pub(super) fn unreadable(&self, params: Option<RawJson>, why: &Error) -> io::Result<()> {
        #[derive(Serialize)]
        struct Unreadable {
            params: Option<RawJson>,
            why: String,
        }

        if !self.is_json() {
            let why = crate::text::one_line(&why.message);
            self.diagnostics.say(&format!("warning: an update of the agent cannot be read: {why}"));
        }
        self.large_fact("unreadable", &Arc::new(Unreadable { params, why: why.message.to_string() }))
    }

    /// Shows that a message was taken without parts that cannot be read: all of that to programs, the first part of each
    /// kind to people on stderr.
    pub(super) fn skipped(&self, method: &str, skipped: &Skipped) -> io::Result<()> {
        if !self.is_json() {
            let mut told = self.skipped.lock();
            for part in skipped.parts.iter().filter(|part| told.insert(part.kind)) {
                self.diagnostics.say(&format!("warning: agent: {method}: skipped {part}"));
            }
        }
        let part = |part: &SkippedPart| json!({ "kind": part.kind, "index": part.index, "why": part.why });
        let parts: Vec<_> = skipped.parts.iter().map(part).collect();
        self.large_fact(
            "skipped",
            &Arc::new(json!({ "method": method, "parts": parts, "more": skipped.more })),
        )
    }

    /// Shows programs what was asked for permission, and what came of it.
    pub(super) fn permission<Q, O>(&self, request: Q, outcome: O) -> io::Result<()>
    where
        Q: Serialize + Send + Sync + 'static,
        O: Serialize + Send + Sync + 'static,
    {
        #[derive(Serialize)]
        struct Permission<Q, O> {
            request: Q,
            outcome: O,
        }

        self.large_fact("permission", &Arc::new(Permission { request, outcome }))
    }

    /// Shows programs a failure; people are told on stderr.
    pub(super) fn failure(&self, error: &anyhow::Error) -> io::Result<()> {
        if self.is_json() {
            json_line(&mut self.output.clone(), &crate::failure::to_json(error))
        } else {
            Ok(())
        }
    }

    /// Shows a line of our own that people want to see; to programs it says nothing.
    pub(super) fn remark(&self, text: &str) -> io::Result<()> {
        self.on_screen(|screen| screen.dim(text))
    }

    /// Shows a line that people asked for; to programs it says nothing.
    pub(super) fn line(&self, text: &str) -> io::Result<()> {
        self.on_screen(|screen| {
            screen.line(text)?;
            screen.flush()
        })
    }

    /// Says what of the agent's is not kept, and so neither shown nor completed.
    pub(super) fn left_out(&self, what: &str) -> io::Result<()> {
        if !self.is_json() {
            return self.remark(&format!("! {what}"));
        }
        self.diagnostics.say(&format!("warning: {what}"));
        self.fact("leftOut", &what)
    }

    /// Shows a session of a list.
    pub(super) fn session(&self, id: &str, updated: &str, cwd: &dyn Display, title: &str) -> io::Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let cwd = beginning(cwd, MOST_OF_PATH);
        self.line(&format!("{}  {}  {cwd}  {}", one_line(id), short(updated), short(title)))
    }

    /// Says what was rejected because nobody is there to be asked.
    pub(super) fn rejected(&self, what: &str) {
        let why = "because nobody is at a terminal to be asked, and there is no --yes";
        self.diagnostics.say(&format!("rejected, {why}: {}", crate::text::one_line(what)));
    }

    /// A turn begins.
    pub(super) fn turn_begins(&self) -> io::Result<()> {
        self.on_screen(|screen| {
            screen.start_waiting();
            Ok(())
        })
    }

    /// A turn has ended, for this reason if there is one to tell.
    pub(super) fn turn_ended(&self, reason: Option<&str>) -> io::Result<()> {
        self.on_screen(|screen| {
            screen.stop_waiting()?;
            match reason {
                Some(reason) => screen.dim(&format!("[{reason}]")),
                None => Ok(()),
            }
        })
    }

    /// Turns the spinner.
    pub(super) fn tick(&self) -> io::Result<()> {
        if self.output.is_held() { Ok(()) } else { self.on_screen(Screen::tick) }
    }
}
