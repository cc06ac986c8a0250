//! Asks the person at the terminal, one question at a time.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{
    CreateElicitationResponse, RequestPermissionRequest, RequestPermissionResponse,
};
use agentwire_acp_toolkit::{Choices, UrlConsent, UrlWarning};
use tokio::sync::{Mutex, MutexGuard, Notify};

use super::keyboard::{TypedInput, deliberate_line, line, take_typed};
use super::lines::LineReader;
use super::view::View;
use crate::output::text::{StyledText, one_line};

/// The longest text that is kept for the next prompt: 64 KiB of ASCII.
const TYPED_LIMIT: usize = 64 << 10;

/// The person at the terminal. Clones share the keyboard.
#[derive(Clone)]
pub(crate) struct User(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// The lines of a terminal that edits them itself.
    lines: LineReader,
    /// Text that was typed before a question, for the next prompt.
    typed: agentwire_sync::Mutex<String>,
    /// Held by the question or the line editor that reads keys.
    keyboard: Mutex<()>,
    /// Notified when a question waits for the keyboard.
    waiting_question: Notify,
    /// Notified by ^C as a key, in raw mode, where the terminal sends no signal.
    interrupt: Arc<Notify>,
    /// The name of the agent or server that asks.
    asker: agentwire_sync::Mutex<String>,
}

impl User {
    pub(crate) fn new(view: Arc<View>, interrupt: Arc<Notify>) -> Self {
        Self(Arc::new(Inner {
            view,
            lines: LineReader::default(),
            typed: Default::default(),
            keyboard: Mutex::default(),
            waiting_question: Notify::new(),
            interrupt,
            asker: agentwire_sync::Mutex::new("the agent".into()),
        }))
    }

    /// Sets the name of the agent or server that asks.
    pub(crate) fn set_asker(&self, name: &str) {
        *self.0.asker.lock() = one_line(name);
    }

    /// Shows below the open question that it was withdrawn.
    pub(crate) async fn question_withdrawn(&self) {
        if self.0.view.tell("The question was taken back.").is_ok() {
            let _closed = self.0.view.output().written().await;
        }
    }

    /// Waits for the keyboard, to ask a question. The line editor gives it up. Keys from before the question are kept for the next
    /// prompt.
    pub(super) async fn keyboard(&self) -> Result<MutexGuard<'_, ()>, Error> {
        let keyboard = match self.0.keyboard.try_lock() {
            Ok(keyboard) => keyboard,
            Err(_) => {
                self.0.waiting_question.notify_one();
                self.0.keyboard.lock().await
            }
        };
        self.0.view.output().written().await.map_err(Error::internal_error)?;
        if self.0.lines.reads_answers() {
            self.0.lines.set_aside().await;
        } else {
            let typed = take_typed().map_err(Error::internal_error)?;
            let mut before = self.0.typed.lock();
            let room = TYPED_LIMIT.saturating_sub(before.len());
            before.extend(typed.chars().take(room));
        }
        Ok(keyboard)
    }

    /// Takes the text that was typed before questions since the last prompt.
    pub(crate) fn take_typed(&self) -> String {
        std::mem::take(&mut *self.0.typed.lock())
    }

    /// Whether a question or the line editor reads keys.
    pub(crate) fn is_asking(&self) -> bool {
        self.0.keyboard.try_lock().is_err()
    }

    /// Waits for the keyboard, to edit a line. Waiting questions go first.
    pub(crate) async fn keyboard_after_others(&self) -> MutexGuard<'_, ()> {
        self.0.keyboard.lock().await
    }

    /// The next line of a terminal that edits lines itself. `None` at the end of stdin.
    pub(crate) async fn next_line(&self) -> io::Result<Option<String>> {
        self.0.lines.next().await
    }

    /// Whether lines are read and not keys, so that the terminal itself shows typed text.
    pub(crate) fn reads_lines(&self) -> bool {
        self.0.lines.reads_answers()
    }

    /// Completes when a question waits for the keyboard.
    pub(crate) async fn question_waits(&self) {
        self.0.waiting_question.notified().await;
    }

    /// Asks for permission, until the answer is one of the options. Escape and ^C cancel the turn.
    pub(crate) async fn ask_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        let _keyboard = self.keyboard().await?;
        let choices = Choices::new(request);
        let prompt = format!("{}\n", choices.prompt().trim_end());
        let mut menu = format!("{choices}{prompt}");
        loop {
            let TypedInput::Line(line) = self.deliberate(&menu, "> ").await? else {
                // Cancels the turn.
                self.0.interrupt.notify_one();
                return Ok(RequestPermissionResponse::cancelled());
            };
            match choices.select(&line) {
                Some(response) => return Ok(response),
                None => {
                    self.tell(&format!("`{}` is not one of the answers.", line.trim()))?;
                    // The question is still visible above.
                    menu.clone_from(&prompt);
                }
            }
        }
    }

    /// Asks for a line below a menu, which must be typed and not pasted.
    pub(crate) async fn choose(&self, menu: &str) -> Result<TypedInput, Error> {
        let _keyboard = self.keyboard().await?;
        self.deliberate(menu, "> ").await
    }

    /// Shows a dim line that belongs to a question.
    pub(crate) fn remark(&self, text: &str) -> Result<(), Error> {
        self.tell(text)
    }

    /// Shows all of a URL, and asks whether the person will visit it. The URL is neither opened nor fetched here.
    pub(crate) async fn visit(
        &self,
        message: &str,
        consent: UrlConsent,
    ) -> Result<CreateElicitationResponse, Error> {
        let _keyboard = self.keyboard().await?;
        let place = consent.host_range();
        let (before, rest) = consent.url().split_at(place.start);
        let (host, after) = rest.split_at(place.end - place.start);
        self.show_question(message).await.map_err(Error::internal_error)?;
        let shown = self.0.view.on_screen(|screen| {
            let url = StyledText::from(before).then(screen.paint("1", host)).then(after);
            screen.line("")?;
            screen.line(url)?;
            for warning in consent.warnings() {
                screen.coloured("33", &format!("! {}", warning_text(*warning)))?;
            }
            screen.line("")?;
            screen
                .dim(&format!("It leads to {host}. Nothing is opened here: if you agree, open it yourself."))
        });
        shown.map_err(Error::internal_error)?;
        match self.yes("Do you agree to visit it? [y/n] ").await? {
            Some(true) => Ok(consent.accept()),
            Some(false) => Ok(CreateElicitationResponse::decline()),
            None => Ok(CreateElicitationResponse::cancel()),
        }
    }

    /// Shows a question's text after the name of the agent or server. The caller holds the keyboard.
    pub(super) async fn show_question(&self, message: &str) -> io::Result<()> {
        let asker = self.0.asker.lock().clone();
        self.0.view.on_screen(|screen| {
            let asks = screen.paint("1", &format!("{asker} asks:"));
            screen.line(asks.then(" ").then(StyledText::hanging(message)))?;
            screen.flush()
        })?;
        self.0.view.output().written().await
    }

    /// Shows a line that belongs to a question.
    pub(super) fn tell(&self, text: &str) -> Result<(), Error> {
        self.0.view.tell(text).map_err(Error::internal_error)
    }

    /// Asks for a line. The caller holds the keyboard.
    pub(super) async fn line(&self, question: &str) -> Result<TypedInput, Error> {
        let typed = self.read("", line(one_line(question), &self.0.lines)).await?;
        if typed == TypedInput::Interrupt {
            self.0.interrupt.notify_one();
        }
        Ok(typed)
    }

    /// Asks for yes or no. `None` on Escape and ^C. The caller holds the keyboard.
    pub(super) async fn yes(&self, question: &str) -> Result<Option<bool>, Error> {
        loop {
            let line = match self.deliberate("", question).await? {
                TypedInput::Line(line) => line,
                TypedInput::Interrupt => {
                    self.0.interrupt.notify_one();
                    return Ok(None);
                }
                _ => return Ok(None),
            };
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return Ok(Some(true)),
                "n" | "no" => return Ok(Some(false)),
                _ => self.tell("Type y or n, then Enter.")?,
            }
        }
    }

    /// Asks for a line below `lines`, until the person has typed and not pasted it.
    async fn deliberate(&self, lines: &str, question: &str) -> Result<TypedInput, Error> {
        loop {
            match self.read(lines, deliberate_line(one_line(question), &self.0.lines)).await? {
                TypedInput::Burst => {
                    self.tell("What is pasted is not an answer: type it, then press Enter.")?
                }
                typed => return Ok(typed),
            }
        }
    }

    /// Shows `lines`, and reads the input below them. Other output waits.
    async fn read(
        &self,
        lines: &str,
        typed: impl Future<Output = io::Result<TypedInput>>,
    ) -> Result<TypedInput, Error> {
        let view = &self.0.view;
        let read = async {
            let _notes = view.notes().hold();
            view.notes().written().await;
            view.on_screen(|screen| screen.ask(lines))?;
            // Held before the write is awaited, so that no output comes between the question and its answer.
            let _held = view.output().hold();
            view.output().written().await?;
            let typed = typed.await?;
            view.on_screen(|screen| {
                screen.input_ended();
                Ok(())
            })?;
            Ok(typed)
        };
        read.await.map_err(|error: io::Error| Error::internal_error(error))
    }
}

fn warning_text(warning: UrlWarning) -> &'static str {
    match warning {
        UrlWarning::NotEncrypted => "It is not encrypted: anybody on the way can read along.",
        UrlWarning::Punycode => "The host is an international name, which may look like another one.",
        UrlWarning::Address => "The host is a number and not a name.",
        UrlWarning::Local => "The host is this machine.",
        UrlWarning::Port => "The port is not the usual one.",
        _ => "Look at it closely.",
    }
}
