//! The local side of a chat: its view, its user and its interrupts.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::{BoxError, CallError};
use anyhow::Result;
use futures_util::FutureExt as _;
use tokio::sync::Notify;

use super::complete::Completions;
use super::prompt::{Prompt, PromptSupport};
use crate::failure::{Interrupted, OtherSide, RemoteError, sentence};
use crate::signals::Signals;
use crate::terminal::{User, View};
use crate::text::Notes;

/// How long to wait for the rest of the output after a second ^C has ended a turn.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);

/// How often the spinner turns.
const SPINNER_INTERVAL: Duration = Duration::from_millis(100);

/// The local side of a chat.
pub(super) struct Console {
    pub(super) view: Arc<View>,
    pub(super) user: User,
    pub(super) completions: Completions,
    /// Notified by ^C as a key, in raw mode, where the terminal sends no signal.
    interrupt: Arc<Notify>,
    pub(super) signals: Signals,
    /// The session's directory, absolute.
    pub(super) cwd: PathBuf,
    /// How long the agent may take for each answer outside of turns.
    pub(super) timeout: Duration,
    /// The agent, as errors name it.
    pub(super) side: OtherSide,
    /// Whether the agent has answered `initialize`.
    pub(super) is_connected: bool,
    /// Whether a second ^C has ended a turn that the agent did not end.
    abandoned_turn: bool,
}

impl Console {
    /// # Errors
    ///
    /// When signals cannot be handled.
    pub(super) fn new(
        json: bool,
        cwd: PathBuf,
        timeout: Duration,
        side: OtherSide,
        notes: &Notes,
    ) -> Result<Self> {
        let view = Arc::new(View::new(json, notes.clone()));
        let interrupt = Arc::new(Notify::new());
        let completions = Completions::default();
        completions.known().folder = cwd.clone();
        Ok(Self {
            user: User::new(view.clone(), interrupt.clone()),
            view,
            completions,
            interrupt,
            signals: Signals::listen()?.or_terminal_gone(),
            cwd,
            timeout,
            side,
            is_connected: false,
            abandoned_turn: false,
        })
    }

    /// An error as a sentence that names the agent.
    pub(super) fn sentence(&self, error: BoxError) -> String {
        sentence(&RemoteError::name(&self.side, self.is_connected, error))
    }

    /// Makes a prompt. With `support`, it has the files that the text names.
    pub(super) fn prompt(&self, text: String, support: Option<PromptSupport>) -> Result<Prompt, BoxError> {
        let Some(support) = support else { return Ok(Prompt::plain(text)) };
        let prompt = Prompt::read(&text, &self.cwd, support);
        for note in &prompt.notes {
            match self.view.is_json() {
                true => self.view.diagnostics().add(note),
                false => self.view.remark(note)?,
            }
        }
        Ok(prompt)
    }

    /// Waits for the end of a turn. The first ^C cancels the turn, the second returns without its end.
    pub(super) async fn run_turn<R>(
        &mut self,
        turn: impl Future<Output = R>,
        cancel: impl AsyncFn() -> Result<(), CallError>,
    ) -> Result<R, BoxError> {
        // A ^C from before the turn does not cancel it.
        let _earlier = self.interrupt.notified().now_or_never();
        self.view.turn_begins()?;
        let mut turn = pin!(turn);
        let mut spinner = tokio::time::interval(SPINNER_INTERVAL);
        let mut is_cancelled = false;
        loop {
            let interrupted = tokio::select! {
                outcome = &mut turn => return Ok(outcome),
                interrupted = self.signals.interrupted() => interrupted,
                () = self.interrupt.notified() => Interrupted::BY_KEY,
                error = self.view.output().failed() => return Err(error.into()),
                _ = spinner.tick() => {
                    self.view.turn_spinner()?;
                    continue;
                }
            };
            if std::mem::replace(&mut is_cancelled, true) {
                self.abandoned_turn = true;
                self.view.turn_ended(None)?;
                return Err(interrupted.explained("interrupted; the agent did not end the turn").into());
            }
            // Sending waits for an agent that reads nothing.
            tokio::select! {
                sent = cancel() => sent?,
                interrupted = self.signals.interrupted() => {
                    self.abandoned_turn = true;
                    return Err(interrupted.explained("interrupted; the agent does not listen").into());
                }
            }
        }
    }

    /// Waits until all output is written, until a signal, or after an abandoned turn for at most [`LAST_OUTPUT_TIMEOUT`].
    pub(super) async fn written(&mut self) -> Result<(), BoxError> {
        let abandoned_turn = self.abandoned_turn;
        let timeout = async {
            if abandoned_turn {
                tokio::time::sleep(LAST_OUTPUT_TIMEOUT).await
            } else {
                std::future::pending().await
            }
        };
        tokio::select! {
            written = self.view.output().written() => Ok(written?),
            () = timeout => Ok(()),
            interrupted = self.signals.interrupted() => Err(interrupted.into()),
        }
    }
}
