//! The local side of a chat: its view, its user and its interrupts.

use std::cell::Cell;
use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::{BoxError, CallError, Closed};
use agentwire_acp_schema::v1::SessionId;
use anyhow::Result;
use futures_util::FutureExt as _;
use futures_util::future::Fuse;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::chat::input::complete::Completions;
use crate::chat::input::prompt::{Prompt, PromptSupport};
use crate::chat::plan::Plan;
use crate::chat::time_limit::TimeLimit;
use crate::failure::{Exit, Failure, Interrupted, OtherSide, RemoteError, is_cut_short, sentence, to_anyhow};
use crate::signals::Signals;
use crate::target::program_stderr::ProgramStderr;
use crate::terminal::{TerminalModes, User, View};

/// How long writing the rest of the output may take after a signal or a time limit has ended the conversation: 1 s. A full
/// pipe that is not read would block the end.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// The interval between two steps of the spinner.
const SPINNER_INTERVAL: Duration = Duration::from_millis(100);

/// How long the agent may take to end a turn after SIGTERM or SIGHUP, and after the time limit: 2 s.
const LAST_TURN_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the agent may take to end a turn that SIGINT has cancelled, where no person can interrupt it again: 5 s.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for a further update after the turn of a single prompt: 150 ms. Some agents send the last updates up to
/// 100 ms after their answer.
const LATE_UPDATES_PAUSE: Duration = Duration::from_millis(150);

/// How long to wait for such updates in all: 1 s.
const LATE_UPDATES_LIMIT: Duration = Duration::from_secs(1);

/// The time between the first ^C and the hint that another one ends the turn: 1 s.
const CANCEL_HINT_DELAY: Duration = Duration::from_secs(1);

/// A prompt that is sent again on the next connection, because the one before ended for a login.
pub(in crate::chat) struct PendingPrompt {
    pub(in crate::chat) session: SessionId,
    pub(in crate::chat) prompt: Prompt,
}

/// The local side of a chat.
pub(in crate::chat) struct Console {
    pub(in crate::chat) view: Arc<View>,
    /// The agent's stderr.
    pub(in crate::chat) log: ProgramStderr,
    pub(in crate::chat) user: User,
    pub(in crate::chat) completions: Completions,
    /// Notified by ^C as a key, in raw mode, where the terminal sends no signal.
    interrupt: Arc<Notify>,
    pub(in crate::chat) signals: Signals,
    /// The session's directory, absolute.
    pub(in crate::chat) cwd: PathBuf,
    /// The time limit for all answers until a session is open, and for answers between turns.
    pub(in crate::chat) limit: TimeLimit,
    /// Whether the limit also holds for the turn.
    limits_turn: bool,
    /// The agent's name in errors.
    side: OtherSide,
    /// The variables of the environment that are set for the agent alone.
    pub(in crate::chat) variables: Vec<OsString>,
    /// Whether a person at a terminal can be asked.
    pub(in crate::chat) has_person: bool,
    /// Whether the agent has answered `initialize`.
    pub(in crate::chat) started: Rc<Cell<bool>>,
    /// Whether the login of `--auth` was done.
    pub(in crate::chat) is_logged_in: bool,
    pub(in crate::chat) pending: Option<PendingPrompt>,
    /// The signal that has interrupted the last turn.
    pub(in crate::chat) interrupted: Option<Interrupted>,
}

impl Console {
    /// # Errors
    ///
    /// When signals cannot be handled.
    pub(in crate::chat) fn new(
        (view, log): (Arc<View>, ProgramStderr),
        has_person: bool,
        plan: &Plan,
        side: OtherSide,
    ) -> Result<Self> {
        let interrupt = Arc::new(Notify::new());
        let completions = Completions::default();
        completions.known().folder = plan.cwd.clone();
        Ok(Self {
            user: User::new(view.clone(), interrupt.clone()),
            view,
            log,
            completions,
            interrupt,
            signals: Signals::listen()?.or_terminal_gone(),
            cwd: plan.cwd.clone(),
            limit: TimeLimit::new(plan.timeout),
            limits_turn: plan.limits_turn,
            side,
            variables: Vec::new(),
            has_person,
            started: Rc::default(),
            is_logged_in: false,
            pending: None,
            interrupted: None,
        })
    }

    /// An error that names the agent.
    pub(in crate::chat) fn named(&self, error: BoxError) -> anyhow::Error {
        RemoteError::name(&self.side, self.started.get(), error)
    }

    /// An error as a sentence that names the agent.
    pub(in crate::chat) fn sentence(&self, error: BoxError) -> String {
        sentence(&self.named(error))
    }

    /// Builds a prompt. With `support`, adds the files that the text names.
    pub(in crate::chat) fn prompt(
        &self,
        text: String,
        support: Option<PromptSupport>,
    ) -> Result<Prompt, BoxError> {
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

    /// Turns off the echo of keys until the result is dropped. A terminal that edits lines itself still shows them.
    fn hide_keys(&self) -> Option<TerminalModes> {
        (self.has_person && !self.user.reads_lines()).then(TerminalModes::without_echo)
    }

    /// Runs until the end, a signal, or an error of the output. Keys that are pressed in that time are not shown.
    pub(in crate::chat) async fn interruptible<R>(
        &mut self,
        running: impl Future<Output = Result<R, BoxError>>,
    ) -> Result<R, BoxError> {
        let _modes = self.hide_keys();
        tokio::select! {
            done = running => done,
            interrupted = self.signals.interrupted() => Err(interrupted.into()),
            error = self.view.output().failed() => Err(error.into()),
        }
    }

    /// Waits for the end of a turn. The first ^C cancels the turn, the second returns without its end, and so does
    /// [`CANCEL_TIMEOUT`] where no person can press ^C. After another signal, or the time limit, the agent has
    /// [`LAST_TURN_TIMEOUT`] to end it. Keys that are pressed in that time are not shown; the next line has them.
    pub(in crate::chat) async fn run_turn<R>(
        &mut self,
        turn: impl Future<Output = R>,
        cancel: impl AsyncFn() -> Result<(), CallError>,
    ) -> Result<R, BoxError> {
        // A ^C from before the turn does not cancel it.
        let _earlier = self.interrupt.notified().now_or_never();
        let _modes = self.hide_keys();
        self.interrupted = None;
        self.view.turn_begins()?;
        let mut turn = pin!(turn);
        // Sending the cancellation blocks while the agent reads nothing.
        let mut cancelling = pin!(Fuse::terminated());
        let mut spinner = tokio::time::interval(SPINNER_INTERVAL);
        let (mut deadline, mut hint) = (None, None);
        let mut checked = Instant::now();
        loop {
            let limit = self.turn_limit().filter(|_| self.interrupted.is_none());
            let interrupted = tokio::select! {
                outcome = &mut turn => {
                    // The signal may have ended the agent too.
                    let signal = self.signals.interrupted().now_or_never();
                    self.interrupted = self.interrupted.or(signal);
                    return Ok(outcome);
                }
                interrupted = self.signals.interrupted() => interrupted,
                () = self.interrupt.notified() => Interrupted::BY_KEY,
                error = self.view.output().failed() => return Err(error.into()),
                () = reached(deadline) => Interrupted::BY_KEY,
                sent = &mut cancelling => {
                    sent?;
                    continue;
                }
                () = reached(hint) => {
                    self.view.tell("The agent has not ended the turn yet; ^C again ends it now.")?;
                    hint = None;
                    continue;
                }
                _ = spinner.tick() => {
                    self.exclude_question(&mut checked);
                    self.view.turn_spinner()?;
                    continue;
                }
                () = reached(limit) => {
                    if self.exclude_question(&mut checked) {
                        continue;
                    }
                    return Err(self.turn_overdue(turn, &cancel).await);
                }
            };
            (deadline, hint) = self.turn_interrupted(interrupted)?;
            cancelling.set(cancel().fuse());
        }
    }

    /// Handles an interrupt of a turn. Returns the time at which the turn ends even without the agent, and the time of the hint for
    /// the person.
    ///
    /// # Errors
    ///
    /// When it is the second interrupt.
    fn turn_interrupted(
        &mut self,
        interrupted: Interrupted,
    ) -> Result<(Option<Instant>, Option<Instant>), BoxError> {
        let is_second = self.interrupted.is_some();
        // SIGTERM and SIGHUP also end the conversation, so a later ^C does not replace them.
        let interrupted =
            self.interrupted.filter(|first| *first != Interrupted::BY_KEY).unwrap_or(interrupted);
        self.interrupted = Some(interrupted);
        if is_second {
            self.view.turn_ended(None)?;
            return Err(interrupted.explained("interrupted; the agent did not end the turn").into());
        }
        let now = Instant::now();
        Ok(match self.has_person {
            _ if interrupted != Interrupted::BY_KEY => (Some(now + LAST_TURN_TIMEOUT), None),
            true => (self.turn_limit(), Some(now + CANCEL_HINT_DELAY)),
            false => (Some(now + CANCEL_TIMEOUT), None),
        })
    }

    /// The time limit of a turn.
    fn turn_limit(&self) -> Option<Instant> {
        self.limit.until().filter(|_| self.limits_turn).map(Instant::from_std)
    }

    /// Waits for updates that an agent sends after the answer which ends the turn. Returns when none has come for
    /// [`LATE_UPDATES_PAUSE`], when the agent is gone, or after [`LATE_UPDATES_LIMIT`]. Between two prompts of a person, late
    /// updates are shown as they come.
    pub(in crate::chat) async fn late_updates(&mut self, closed: impl Future<Output = Closed>) {
        let limit = Instant::now() + LATE_UPDATES_LIMIT;
        let view = self.view.clone();
        let quiet = async {
            let mut seen = None;
            while seen != Some(view.update_count()) && Instant::now() < limit {
                seen = Some(view.update_count());
                tokio::time::sleep_until(limit.min(Instant::now() + LATE_UPDATES_PAUSE)).await;
            }
        };
        tokio::select! {
            () = quiet => {}
            _ = closed => {}
            interrupted = self.signals.interrupted() => {
                self.interrupted.get_or_insert(interrupted);
            }
        }
    }

    /// Extends the limit by the time since `checked` if a question is open. Returns whether one is.
    fn exclude_question(&mut self, checked: &mut Instant) -> bool {
        let is_asking = self.user.is_asking();
        if is_asking {
            self.limit.exclude(checked.into_std());
        }
        *checked = Instant::now();
        is_asking
    }

    /// Cancels a turn whose time is over, and gives the agent [`LAST_TURN_TIMEOUT`] to end it.
    async fn turn_overdue<R>(
        &mut self,
        turn: impl Future<Output = R>,
        cancel: impl AsyncFn() -> Result<(), CallError>,
    ) -> BoxError {
        let ended = async {
            let _error_of_the_turn = cancel().await;
            turn.await;
        };
        tokio::select! {
            _ended = tokio::time::timeout(LAST_TURN_TIMEOUT, ended) => {}
            interrupted = self.signals.interrupted() => return interrupted.into(),
        }
        let limit = self.limit.whole();
        match self.view.turn_ended(None) {
            Ok(()) => {
                let text = format!("the agent did not end the turn within {limit:?}");
                Failure::new(Exit::TimedOut, text).into()
            }
            Err(error) => error.into(),
        }
    }

    /// Waits until all output is written, or until a signal.
    pub(in crate::chat) async fn written(&mut self) -> Result<(), BoxError> {
        tokio::select! {
            written = self.view.output().written() => Ok(written?),
            interrupted = self.signals.interrupted() => Err(interrupted.into()),
        }
    }

    /// Shows the failure of a conversation, and waits until all output is written, or until a signal. Takes at most
    /// [`LAST_OUTPUT_TIMEOUT`] after a signal or a time limit.
    pub(in crate::chat) async fn finish(&mut self, outcome: Result<(), BoxError>) -> Result<()> {
        let outcome = outcome.map_err(|error| self.named(error));
        if let Err(error) = &outcome {
            // If stdout is closed, `written` fails below.
            let _reported_below = self.view.turn_ended(None).and_then(|()| self.view.failure(error));
        }
        let written = match outcome.as_ref().is_err_and(is_cut_short) {
            true => tokio::time::timeout(LAST_OUTPUT_TIMEOUT, self.written()).await.unwrap_or(Ok(())),
            false => self.written().await,
        };
        outcome.and(written.map_err(to_anyhow))
    }
}

/// Completes at the deadline. Never completes without one.
async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
