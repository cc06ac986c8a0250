//! The person at the terminal, who is asked one thing at a time.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{
    CreateElicitationRequest, CreateElicitationResponse, ElicitationMode, ElicitationSchema,
    ElicitationUrlMode, RequestPermissionRequest, RequestPermissionResponse,
};
use agentwire_acp_toolkit::{Choices, UrlConsent, UrlWarning};
use tokio::sync::{Mutex, MutexGuard, Notify};

use super::form;
use super::keyboard::{Typed, deliberate_line, forget_typed, line};
use super::view::View;
use crate::text::{Painted, one_line};

/// The longest URL that a person is asked to visit, in bytes.
const URL_LIMIT: usize = 8 << 10;

/// Who answers for us. Clones are the same person.
#[derive(Clone)]
pub(crate) struct Person(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// One at a time: there is one keyboard.
    keyboard: Mutex<()>,
    /// That somebody waits for the keyboard.
    wanted: Notify,
    /// ^C as a key, where the terminal makes no signal of it.
    interrupt: Arc<Notify>,
    /// What whoever asks calls itself.
    agent: agentwire_sync::Mutex<String>,
}

impl Person {
    pub(crate) fn new(view: Arc<View>, interrupt: Arc<Notify>) -> Self {
        Self(Arc::new(Inner {
            view,
            keyboard: Mutex::default(),
            wanted: Notify::new(),
            interrupt,
            agent: agentwire_sync::Mutex::new("the agent".into()),
        }))
    }

    /// Says what whoever asks calls itself.
    pub(crate) fn meets(&self, agent: &str) {
        *self.0.agent.lock() = one_line(agent);
    }

    /// Says that there is nothing to answer any more, below the question that was to be.
    pub(crate) async fn is_asked_no_more(&self) {
        // If nobody is there to read it, nobody is told.
        if self.0.view.remark("The question was taken back.").is_ok() {
            let _nobody = self.0.view.outlet().written().await;
        }
    }

    /// Takes the keyboard to ask something, when nobody else has it any more. Whoever edits a line gives it up. What was
    /// typed before that answers no question, and is forgotten.
    async fn keyboard(&self) -> Result<MutexGuard<'_, ()>, Error> {
        let keyboard = match self.0.keyboard.try_lock() {
            Ok(keyboard) => keyboard,
            Err(_) => {
                self.0.wanted.notify_one();
                self.0.keyboard.lock().await
            }
        };
        self.0.view.outlet().written().await.and_then(|()| forget_typed()).map_err(Error::internal_error)?;
        Ok(keyboard)
    }

    /// Takes the keyboard when nobody who asks something has it or waits for it any more.
    pub(super) async fn keyboard_after_others(&self) -> MutexGuard<'_, ()> {
        self.0.keyboard.lock().await
    }

    /// Waits until somebody else wants the keyboard.
    pub(super) async fn wanted(&self) {
        self.0.wanted.notified().await;
    }

    /// Asks for permission, until the answer is one of the options. Escape and ^C cancel the turn.
    pub(super) async fn permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        let _keyboard = self.keyboard().await?;
        let choices = Choices::new(request);
        let menu = format!("{choices}{}\n", choices.prompt().trim_end());
        loop {
            let Typed::Line(line) = self.deliberate(&menu, "> ").await? else {
                // The turn is cancelled, and this question with it.
                self.0.interrupt.notify_one();
                return Ok(RequestPermissionResponse::cancelled());
            };
            match choices.select(&line) {
                Some(response) => return Ok(response),
                None => self.tell(&format!("`{}` is none of the answers.", line.trim()))?,
            }
        }
    }

    /// Asks for something else.
    pub(super) async fn elicitation(
        &self,
        request: CreateElicitationRequest,
    ) -> Result<CreateElicitationResponse, Error> {
        match request.mode {
            ElicitationMode::Form(mode) => self.fill_in(&request.message, mode.requested_schema, &[]).await,
            ElicitationMode::Url(mode) => self.visit(&request.message, &mode).await,
            _ => Err(Error::invalid_params("this client knows no such mode of elicitation")),
        }
    }

    /// Asks for the fields of a form: those that `order` names first, and as it does.
    pub(crate) async fn fill_in(
        &self,
        message: &str,
        schema: ElicitationSchema,
        order: &[String],
    ) -> Result<CreateElicitationResponse, Error> {
        let _keyboard = self.keyboard().await?;
        form::fill_in(self, message, schema, order).await
    }

    /// Shows a URL, all of it, and asks whether the person visits it. It is neither opened nor fetched here.
    pub(crate) async fn visit(
        &self,
        message: &str,
        mode: &ElicitationUrlMode,
    ) -> Result<CreateElicitationResponse, Error> {
        if mode.url.len() > URL_LIMIT {
            let why = format_args!("a URL is shown whole, and this one is longer than {URL_LIMIT} bytes");
            return Err(Error::invalid_params(why));
        }
        let _keyboard = self.keyboard().await?;
        let consent = UrlConsent::new(mode)?;
        let place = consent.host_range();
        let (before, rest) = consent.url().split_at(place.start);
        let (host, after) = rest.split_at(place.end - place.start);
        self.says(message).await.map_err(Error::internal_error)?;
        let shown = self.0.view.on_screen(|screen| {
            let url = Painted::from(before).then(screen.paint("1", host)).then(after);
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

    /// Shows what the agent wants to be told. The keyboard must be held.
    pub(super) async fn says(&self, message: &str) -> io::Result<()> {
        let agent = self.0.agent.lock().clone();
        self.0.view.on_screen(|screen| {
            let asks = screen.paint("1", &format!("{agent} asks:"));
            screen.line(asks.then(" ").then(Painted::set_off(message)))?;
            screen.flush()
        })?;
        self.0.view.outlet().written().await
    }

    /// Shows a line of the form.
    pub(super) fn tell(&self, text: &str) -> Result<(), Error> {
        self.0.view.remark(text).map_err(Error::internal_error)
    }

    /// Asks for a line. The keyboard must be held.
    pub(super) async fn line(&self, question: &str) -> Result<Typed, Error> {
        let typed = self.read("", line(one_line(question))).await?;
        if typed == Typed::Interrupt {
            self.0.interrupt.notify_one();
        }
        Ok(typed)
    }

    /// Asks for yes or no. None when neither is the answer. The keyboard must be held.
    pub(super) async fn yes(&self, question: &str) -> Result<Option<bool>, Error> {
        loop {
            let line = match self.deliberate("", question).await? {
                Typed::Line(line) => line,
                Typed::Interrupt => {
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

    /// Asks for a line that a person types on purpose, below these lines, until it is no burst.
    async fn deliberate(&self, lines: &str, question: &str) -> Result<Typed, Error> {
        loop {
            match self.read(lines, deliberate_line(one_line(question))).await? {
                Typed::Burst => self.tell("What is pasted is no answer: type it, then press Enter.")?,
                typed => return Ok(typed),
            }
        }
    }

    /// Shows some lines, and reads what is typed below them. Meanwhile nothing else is shown.
    async fn read(
        &self,
        lines: &str,
        typed: impl Future<Output = io::Result<Typed>>,
    ) -> Result<Typed, Error> {
        let view = &self.0.view;
        let read = async {
            let _notes = view.notes().hold();
            view.notes().written().await;
            view.on_screen(|screen| screen.ask(lines))?;
            // At once, so that nothing comes between the question and its answer.
            let _held = view.outlet().hold();
            view.outlet().written().await?;
            let typed = typed.await?;
            self.typed()?;
            Ok(typed)
        };
        read.await.map_err(|error: io::Error| Error::internal_error(error))
    }

    fn typed(&self) -> io::Result<()> {
        self.0.view.on_screen(|screen| {
            screen.line_is_typed();
            Ok(())
        })
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
