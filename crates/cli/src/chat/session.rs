//! One session with an agent: opening it, its turns, and the commands that begin with `:`.

use std::sync::Arc;

use agentwire_acp_client::BoxError;
use agentwire_acp_schema::v1::{McpServer, SessionId};

use super::adapter::{AgentAdapter, StopKind};
use super::commands::ColonCommand;
use super::console::Console;
use super::plan::{Action, Plan};
use super::prompt::Prompt;
use super::sessions::Sessions;
use crate::failure::{Exit, Failure};
use crate::terminal::short;

/// A session with an agent.
pub(super) struct Session<'a, A> {
    pub(super) console: &'a mut Console,
    pub(super) agent: A,
    /// Empty before the session is open.
    id: SessionId,
}

impl<'a, A: AgentAdapter> Session<'a, A> {
    /// A session that is not open yet.
    pub(super) fn new(console: &'a mut Console, agent: A) -> Self {
        Self { console, agent, id: SessionId::from("") }
    }

    /// Initializes the agent, and runs the plan's action up to the first turn. Returns whether a session is open.
    pub(super) async fn open(&mut self, plan: &Plan, servers: Vec<McpServer>) -> Result<bool, BoxError> {
        let Self { console, agent, id } = self;
        let (view, user) = (console.view.clone(), console.user.clone());
        let is_connected = &mut console.is_connected;
        let opening = async {
            agent.initialize(plan.timeout).await?;
            *is_connected = true;
            if let Some(answer) = agent.initialized()
                && view.is_json()
            {
                view.large_json("initialized", &Arc::new(answer.clone()))?;
            }
            let sessions = Sessions { agent, view: &view, limit: plan.timeout };
            let choice = match &plan.action {
                Action::List => return sessions.list(plan.named_cwd.as_deref()).await.map(|()| false),
                Action::Delete(id) => return sessions.delete(id).await.map(|()| false),
                Action::Talk(choice) => choice,
            };
            if let Some(info) = agent.info() {
                let name = short(info.title.as_deref().unwrap_or(&info.name));
                user.set_asker(&name);
                view.remark(&format!("{name} {}", short(&info.version)))?;
            }
            agent.set_opening(true);
            let opened = sessions.open(choice, &plan.cwd, servers).await;
            agent.set_opening(false);
            // A replay may end within a line.
            view.turn_ended(None)?;
            *id = opened?;
            agent.show_settings()?;
            let set = async {
                if let Some(mode) = &plan.mode {
                    agent.set_mode(id, mode).await?;
                }
                for (option, value) in &plan.options {
                    agent.set_option(id, option, value).await?;
                }
                Ok(true)
            };
            let late = |_| {
                let limit = plan.timeout;
                Failure::new(
                    Exit::TimedOut,
                    format!("the agent did not set what was asked for within {limit:?}"),
                )
            };
            tokio::time::timeout(plan.timeout, set).await.map_err(late)?
        };
        tokio::select! {
            is_open = opening => is_open,
            interrupted = console.signals.interrupted() => Err(interrupted.into()),
            error = view.output().failed() => Err(error.into()),
        }
    }

    /// Sends a prompt and waits for the end of the turn. Files are attached if `names_files`, which means that the person
    /// typed the text.
    pub(super) async fn send(&mut self, text: String, names_files: bool) -> Result<(), BoxError> {
        let prompt = self.console.prompt(text, names_files.then(|| self.agent.prompt_support()))?;
        self.run_turn(prompt).await
    }

    /// One turn, which ^C cancels.
    async fn run_turn(&mut self, prompt: Prompt) -> Result<(), BoxError> {
        let Self { console, agent, id } = self;
        let turn = agent.prompt(id, prompt.pieces);
        let ended = console.run_turn(turn, async || agent.cancel(id).await).await;
        agent.turn_ended(ended.as_ref().ok().and_then(|stopped| stopped.as_ref().ok()))?;
        let stopped = match ended? {
            Ok(stopped) => stopped,
            Err(error) => {
                console.view.turn_ended(None)?;
                return Err(agent.explain(error));
            }
        };
        let shown = stopped.reason.as_deref().filter(|_| stopped.kind != StopKind::EndTurn).map(short);
        console.view.large_json("stopReason", &Arc::new(stopped.reason))?;
        console.view.turn_ended(shown.as_deref())?;
        agent.show_settings()?;
        match stopped.kind {
            StopKind::Refusal => Err("the agent refuses to go on".into()),
            StopKind::Error => Err("the turn failed".into()),
            _ => Ok(()),
        }
    }

    /// Runs a command that begins with `:`.
    pub(super) async fn run(&mut self, command: ColonCommand) -> Result<(), BoxError> {
        let Self { console, agent, id } = self;
        let view = console.view.clone();
        let sessions = Sessions { agent, view: &view, limit: console.timeout };
        let running = async {
            match command {
                ColonCommand::Mode(None) => agent.list_modes(&view),
                ColonCommand::Mode(Some(mode)) => agent.set_mode(id, &mode).await,
                ColonCommand::Option(None) => agent.list_options(&view),
                ColonCommand::Option(Some((option, value))) => agent.set_option(id, &option, &value).await,
                ColonCommand::Sessions => sessions.list(Some(&console.cwd)).await,
                ColonCommand::Delete(id) => sessions.delete(&id).await,
                ColonCommand::Help | ColonCommand::Quit => Ok(()),
            }
        };
        tokio::select! {
            done = running => done,
            interrupted = console.signals.interrupted() => Err(interrupted.into()),
        }
    }

    /// Ends the programs that run in the session.
    pub(super) async fn close(&self) {
        self.agent.close(&self.id).await;
    }
}
