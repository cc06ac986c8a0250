//! One session with an agent: opening it, its turns, and the commands that begin with `:`.

pub(crate) mod continuation;
pub(crate) mod per_session;
pub(crate) mod servers;
pub(crate) mod session_server;
pub(crate) mod sessions;
pub(crate) mod setup;

use std::sync::Arc;
use std::time::Instant;

use agentwire_acp_client::{BoxError, CallError};
use agentwire_acp_schema::v1::{McpServer, SessionId};

use super::adapter::{AgentAdapter, StopKind, TurnStopped};
use super::agent_login::{LoginMethod, LoginNeeded, TerminalLogin, choose, unknown_method};
use super::plan::{Action, Plan, SessionChoice};
use super::settings::{RequestedSetting, check_setting};
use super::time_limit::TimeLimit;
use crate::chat::input::commands::ColonCommand;
use crate::chat::input::prompt::Prompt;
use crate::chat::session::per_session::SessionChange;
use crate::chat::session::sessions::Sessions;
use crate::chat::view::console::{Console, PendingPrompt};
use crate::failure::{Exit, Failure};
use crate::terminal::short;

/// A session with an agent.
pub(super) struct Session<'a, A> {
    pub(super) console: &'a mut Console,
    pub(super) agent: A,
    /// Empty before the session is open.
    id: SessionId,
    servers: Vec<McpServer>,
    /// Whether a prompt was sent, so that there is something to continue.
    has_turns: bool,
}

impl<'a, A: AgentAdapter> Session<'a, A> {
    /// A session that is not open yet.
    pub(super) fn new(console: &'a mut Console, agent: A, servers: Vec<McpServer>) -> Self {
        Self { console, agent, id: SessionId::from(""), servers, has_turns: false }
    }

    /// Initializes the agent, and runs the plan's action up to the first turn. Returns whether a session is open. `again` is the
    /// session that was open when the connection ended for a login.
    pub(super) async fn open(&mut self, plan: &Plan, again: Option<SessionId>) -> Result<bool, BoxError> {
        self.start(plan).await?;
        if let Some(word) = &plan.auth
            && !std::mem::replace(&mut self.console.is_logged_in, true)
        {
            let methods = self.agent.login_methods();
            let method = LoginMethod::find(&methods, word).ok_or_else(|| unknown_method(word, &methods))?;
            self.log_in_by(method).await?;
        }
        let view = self.console.view.clone();
        let choice = match &plan.action {
            Action::List => {
                let list = async |agent: &A, limit: TimeLimit| {
                    let limit = limit.left();
                    let sessions = Sessions { agent, view: &view, limit, present: None };
                    sessions.list(plan.named_cwd.as_deref()).await
                };
                return self.with_login(list).await.map(|()| false);
            }
            Action::Delete(id) => {
                let delete = async |agent: &A, limit: TimeLimit| {
                    let limit = limit.left();
                    Sessions { agent, view: &view, limit, present: None }.delete(id).await
                };
                return self.with_login(delete).await.map(|()| false);
            }
            Action::Talk(choice) => choice,
        };
        match again.filter(|_| self.agent.can_reopen()) {
            Some(id) => self.reopen(id).await?,
            None => self.begin(choice).await?,
        }
        self.set(plan).await?;
        Ok(true)
    }

    /// Initializes the agent, and shows its name.
    async fn start(&mut self, plan: &Plan) -> Result<(), BoxError> {
        let Self { console, agent, .. } = self;
        let (view, user, started) = (console.view.clone(), console.user.clone(), console.started.clone());
        let limit = console.limit.left();
        let starting = async {
            agent.initialize(limit).await?;
            started.set(true);
            view.turn_ended(None)?;
            if let Some(answer) = agent.initialized()
                && view.is_json()
            {
                view.large_json("initialized", &Arc::new(answer.clone()))?;
            }
            if let (Some(info), Action::Talk(_)) = (agent.info(), &plan.action) {
                let name = short(info.title.as_deref().unwrap_or(&info.name));
                user.set_asker(&name);
                view.remark(&format!("{name} {}", short(&info.version)))?;
            }
            Ok(())
        };
        let limit = console.limit;
        console.interruptible(starting).await.map_err(|error| limit.name(error))
    }

    /// Opens the chosen session. If that fails, the session before goes on.
    async fn begin(&mut self, choice: &SessionChoice) -> Result<(), BoxError> {
        let (view, cwd) = (self.console.view.clone(), self.console.cwd.clone());
        let servers = self.servers.clone();
        let open = async |agent: &A, limit: TimeLimit| {
            agent.client().follow(SessionChange::Begins);
            agent.display().opening_begins(!matches!(choice, SessionChoice::New));
            let limit = limit.left();
            let sessions = Sessions { agent, view: &view, limit, present: None };
            let opened = sessions.open(choice, &cwd, servers.clone()).await;
            agent.display().opening_ended()?;
            // A replay may end within a line.
            view.turn_ended(None)?;
            opened
        };
        match self.with_login(open).await {
            Ok(id) => {
                self.id = id;
                self.agent.client().follow(SessionChange::Succeeds);
                Ok(self.agent.display().show_settings()?)
            }
            Err(error) => {
                self.agent.client().follow(SessionChange::Fails);
                Err(error)
            }
        }
    }

    /// Reopens a session, or opens a new one if the agent does not have it any more.
    async fn reopen(&mut self, id: SessionId) -> Result<(), BoxError> {
        let choice = SessionChoice::Id(id.to_string());
        match self.begin(&choice).await {
            Err(error) if !self.agent.is_closed() && is_of_one_call(&error) => {
                let error = self.console.sentence(error);
                let why = format!("the session cannot be continued, and a new one begins: {error}");
                self.console.view.tell(&why)?;
                self.begin(&SessionChoice::New).await
            }
            done => done,
        }
    }

    /// Sets the options and the mode of the command line. Setting one may change another, which is then set once more. Fails if the
    /// session does not have all of them in the end.
    async fn set(&mut self, plan: &Plan) -> Result<(), BoxError> {
        let Self { console, agent, id, .. } = self;
        let settings = &plan.settings;
        let missing = |setting: &&RequestedSetting| {
            agent.display().conversation(|known| check_setting(known, setting).is_err())
        };
        let set = async {
            for setting in settings {
                agent.set(id, setting).await?;
            }
            for setting in settings.iter().filter(missing) {
                agent.set(id, setting).await?;
            }
            let check = |setting: &RequestedSetting| {
                agent.display().conversation(|known| check_setting(known, setting))
            };
            settings.iter().try_for_each(check)
        };
        let limit = console.limit;
        let late = |_| {
            let limit = limit.whole();
            Failure::new(Exit::TimedOut, format!("the agent did not set what was asked for within {limit:?}"))
        };
        console.interruptible(async { tokio::time::timeout(limit.left(), set).await.map_err(late)? }).await
    }

    /// Runs a call, and logs in if the agent requires that.
    async fn with_login<R>(
        &mut self,
        call: impl AsyncFn(&A, TimeLimit) -> Result<R, BoxError>,
    ) -> Result<R, BoxError> {
        loop {
            let limit = self.console.limit;
            let done = self.console.interruptible(call(&self.agent, limit)).await;
            let needed = match done.map_err(|error| limit.name(error)) {
                Err(error) => error.downcast::<LoginNeeded>()?,
                done => return done,
            };
            self.log_in(needed).await?;
        }
    }

    /// Lets the person choose how to log in, and logs in, until that succeeds or the person gives up. This time does not count
    /// toward the limit.
    async fn log_in(&mut self, needed: LoginNeeded) -> Result<(), BoxError> {
        let since = Instant::now();
        let done = self.choose_and_log_in(needed).await;
        self.console.limit.exclude(since);
        done
    }

    async fn choose_and_log_in(&mut self, needed: LoginNeeded) -> Result<(), BoxError> {
        let user = self.console.user.clone();
        if !self.console.has_person {
            return Err(needed.into_failure().into());
        }
        loop {
            let choosing = choose(&user, &needed.methods);
            let Some(method) = self.console.interruptible(choosing).await? else {
                return Err(needed.into_failure().into());
            };
            match self.log_in_by(&method).await {
                Err(error) if is_of_one_call(&error) && !self.agent.is_closed() => {
                    let error = self.console.sentence(error);
                    self.console.view.tell(&format!("error: {error}"))?;
                }
                done => return done,
            }
        }
    }

    /// Logs in by a method. A login in a terminal is returned as an error: the connection ends for it.
    async fn log_in_by(&mut self, method: &LoginMethod) -> Result<(), BoxError> {
        if let Some(login) = &method.terminal {
            if !self.console.has_person {
                let text = format!("{login}: run this command at a terminal, without --json");
                return Err(Failure::new(Exit::Unauthorized, text).into());
            }
            return Err(login.clone().into());
        }
        if let Some(missing) = method.missing_variables(&self.console.variables) {
            return Err(Failure::new(Exit::Unauthorized, missing).into());
        }
        let (view, has_person) = (self.console.view.clone(), self.console.has_person);
        let limit = (!has_person).then_some(self.console.limit);
        let agent = &self.agent;
        // An agent may write instructions for the login to stderr.
        let _shown = self.console.log.shown();
        let logging_in = async {
            view.tell(&format!("logging in by `{}`", short(&method.name)))?;
            let call = agent.log_in(&method.id);
            // The time of a person does not count toward the limit.
            let done = match limit {
                Some(limit) => {
                    let whole = limit.whole();
                    let late =
                        |_| Failure::new(Exit::TimedOut, format!("the login took more than {whole:?}"));
                    tokio::time::timeout(limit.left(), call).await.map_err(late)?
                }
                None => call.await,
            };
            match done {
                Err(error) if error.refusal().is_some() => {
                    Err(Failure::new(Exit::Unauthorized, error).into())
                }
                done => Ok(done?),
            }
        };
        self.console.interruptible(logging_in).await
    }

    /// Sends a prompt and waits for the end of the turn. With `names_files`, for text that the person typed, attaches the files that
    /// it names. `piped` is text from stdin, which names no files.
    pub(super) async fn send(
        &mut self,
        text: String,
        names_files: bool,
        piped: Option<String>,
    ) -> Result<(), BoxError> {
        let display = self.agent.display();
        if display.has_replayed() && !display.options().is_interactive {
            display.show_prompt(&text)?;
        }
        let mut prompt = self.console.prompt(text, names_files.then(|| self.agent.prompt_support()))?;
        if let Some(piped) = piped {
            prompt.join(piped);
        }
        self.send_prompt(prompt).await
    }

    /// Sends a prompt. If the agent requires a login, logs in and sends it once more.
    pub(super) async fn send_prompt(&mut self, prompt: Prompt) -> Result<(), BoxError> {
        let again = (!self.agent.login_methods().is_empty()).then(|| prompt.clone());
        let Err(error) = self.run_turn(prompt).await else { return Ok(()) };
        let needed = error.downcast::<LoginNeeded>()?;
        let Some(prompt) = again.filter(|_| self.console.has_person) else {
            return Err(needed.into_failure().into());
        };
        match self.log_in(needed).await {
            Err(error) if error.downcast_ref::<TerminalLogin>().is_some() => {
                self.console.pending = Some(PendingPrompt { session: self.id.clone(), prompt });
                Err(error)
            }
            Err(error) => Err(error),
            Ok(()) => self.run_turn(prompt).await.map_err(LoginNeeded::as_failure),
        }
    }

    /// One turn, which ^C cancels.
    async fn run_turn(&mut self, prompt: Prompt) -> Result<(), BoxError> {
        let Self { console, agent, id, has_turns, .. } = self;
        *has_turns = true;
        let turn = agent.prompt(id, prompt.pieces);
        let ended = console.run_turn(turn, async || agent.cancel(id).await).await;
        if matches!(ended, Ok(Ok(_))) && !agent.display().options().is_interactive {
            console.late_updates(agent.closed()).await;
        }
        agent.turn_ended(ended.as_ref().ok().and_then(|stopped| stopped.as_ref().ok()))?;
        let stopped = match ended? {
            Ok(stopped) => stopped,
            Err(error) => {
                console.view.turn_ended(None)?;
                let error = agent.explain(error);
                return Err(match console.interrupted {
                    Some(interrupted) => {
                        Failure::new(Exit::Interrupted(interrupted.0), error.into_boxed()).into()
                    }
                    None => error,
                });
            }
        };
        let shown = stopped.reason.as_deref().filter(|_| stopped.kind != StopKind::EndTurn).map(short);
        console.view.large_json("stopReason", &Arc::new(stopped.reason))?;
        console.view.turn_ended(shown.as_deref())?;
        agent.display().show_settings()?;
        if let Some(interrupted) = console.interrupted {
            return Err(interrupted.into());
        }
        let text = match stopped.kind {
            StopKind::EndTurn => return Ok(()),
            StopKind::Cancelled => "the agent cancelled the turn".to_owned(),
            StopKind::Refusal => "the agent refuses to go on".to_owned(),
            StopKind::Error => "the turn failed".to_owned(),
            StopKind::Other => format!("the agent stopped: {}", shown.unwrap_or_default()),
        };
        Err(TurnStopped { text, is_cancelled: stopped.kind == StopKind::Cancelled }.into())
    }

    /// Runs a command that begins with `:`.
    pub(super) async fn run(&mut self, command: ColonCommand) -> Result<(), BoxError> {
        self.console.interrupted = None;
        match command {
            ColonCommand::New => return self.change(SessionChoice::New).await,
            ColonCommand::Resume(id) => return self.change(SessionChoice::Id(id)).await,
            _ => {}
        }
        let Self { console, agent, id, .. } = self;
        let view = console.view.clone();
        let cwd = console.cwd.clone();
        let sessions = Sessions { agent, view: &view, limit: console.limit.whole(), present: Some(id) };
        let running = async {
            match command {
                ColonCommand::Mode(None) => agent.list_modes(&view),
                ColonCommand::Mode(Some(mode)) => agent.set_mode(id, &mode).await,
                ColonCommand::Option(None) => agent.list_options(&view),
                ColonCommand::Option(Some((option, value))) => agent.set_option(id, &option, &value).await,
                ColonCommand::Sessions => sessions.list(Some(&cwd)).await,
                ColonCommand::Delete(id) => sessions.delete(&id).await,
                ColonCommand::Last => Ok(agent.display().show_last()?),
                _ => Ok(()),
            }
        };
        console.interruptible(running).await.map_err(LoginNeeded::as_failure)
    }

    /// Opens another session in place of the open one, which stays open if that fails.
    async fn change(&mut self, choice: SessionChoice) -> Result<(), BoxError> {
        let before = self.id.clone();
        if matches!(choice, SessionChoice::Id(_)) && !self.agent.can_reopen() {
            return Err("the agent can neither load nor resume sessions".into());
        }
        self.console.limit.restart();
        self.begin(&choice).await?;
        self.has_turns = matches!(choice, SessionChoice::Id(_));
        let id = short(&self.id);
        if before != self.id {
            self.agent.toolkit().close(&before).await;
        }
        Ok(self.console.view.tell(&format!("session {id}"))?)
    }

    /// The session that can be continued later. `None` without a turn.
    pub(super) fn to_continue(&self) -> Option<&SessionId> {
        (self.has_turns && self.agent.can_reopen()).then_some(&self.id)
    }

    /// Ends the programs that run in the session.
    pub(super) async fn close(&self) {
        self.agent.toolkit().close(&self.id).await;
    }
}

/// Whether an error is the agent's answer to one call, after which the connection can still be used.
fn is_of_one_call(error: &BoxError) -> bool {
    error.find::<CallError>().is_some_and(|call| call.refusal().is_some())
}
