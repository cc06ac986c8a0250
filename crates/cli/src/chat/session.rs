//! A session that a person talks in: opening it, its turns, and the commands that begin with `:`.

use std::sync::Arc;

use agentwire_acp_client::BoxError;
use agentwire_acp_schema::v1::{McpServer, SessionId};

use super::agent::{AgentAdapter, StopKind};
use super::commands::Command;
use super::interactive::{run_interactive, run_once};
use super::prompt::Prompt;
use super::rendered::short;
use super::sessions::Sessions;
use super::{Action, Chat, Plan};

/// Runs the command line's plan with an agent.
pub(super) async fn run(
    chat: &mut Chat,
    agent: impl AgentAdapter,
    plan: &Plan,
    servers: Vec<McpServer>,
) -> Result<(), BoxError> {
    let mut session = Session { chat, agent, id: SessionId::from("") };
    if !session.open(plan, servers).await? {
        return Ok(());
    }
    let outcome = if plan.interactive {
        run_interactive(&mut session).await
    } else {
        run_once(&mut session, plan.prompt.clone()).await
    };
    session.agent.close(&session.id).await;
    outcome
}

/// An open session.
pub(super) struct Session<'a, A> {
    pub(super) chat: &'a mut Chat,
    pub(super) agent: A,
    id: SessionId,
}

impl<A: AgentAdapter> Session<'_, A> {
    /// Initializes the agent and does what the command line asks for. Returns whether a session is open then.
    async fn open(&mut self, plan: &Plan, servers: Vec<McpServer>) -> Result<bool, BoxError> {
        let Self { chat, agent, id } = self;
        let (view, user) = (chat.view.clone(), chat.user.clone());
        let opening = async {
            agent.initialize(plan.timeout).await?;
            agent.show_initialized(&view)?;
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
            // A replay may have left a line open.
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
            let late = |_| format!("the agent did not set what was asked for within {:?}", plan.timeout);
            tokio::time::timeout(plan.timeout, set).await.map_err(late)?
        };
        tokio::select! {
            is_open = opening => is_open,
            () = chat.signals.next() => Err("interrupted".into()),
            error = view.output().failed() => Err(error.into()),
        }
    }

    /// Sends a prompt and waits for the end of the turn. Files are attached if `names_files`, which means that the person
    /// typed the text.
    pub(super) async fn send(&mut self, text: String, names_files: bool) -> Result<(), BoxError> {
        let prompt = self.chat.prompt(text, names_files.then(|| self.agent.prompt_support()))?;
        self.turn(prompt).await
    }

    /// One turn, which ^C cancels.
    async fn turn(&mut self, prompt: Prompt) -> Result<(), BoxError> {
        let Self { chat, agent, id } = self;
        let turn = agent.prompt(id, prompt.pieces);
        let ended = chat.attend(turn, async || agent.cancel(id).await).await;
        agent.turn_ended(ended.as_ref().ok().and_then(|stopped| stopped.as_ref().ok()))?;
        let stopped = match ended? {
            Ok(stopped) => stopped,
            Err(error) => {
                chat.view.turn_ended(None)?;
                return Err(agent.explain(error));
            }
        };
        let told = stopped.reason.as_deref().filter(|_| stopped.kind != StopKind::EndTurn).map(short);
        chat.view.large_fact("stopReason", &Arc::new(stopped.reason))?;
        chat.view.turn_ended(told.as_deref())?;
        agent.show_settings()?;
        match stopped.kind {
            StopKind::Refusal => Err("the agent refuses to go on".into()),
            StopKind::Error => Err("the turn failed".into()),
            _ => Ok(()),
        }
    }

    /// Runs one of our own commands.
    pub(super) async fn run(&mut self, command: Command) -> Result<(), BoxError> {
        let Self { chat, agent, id } = self;
        let view = chat.view.clone();
        let sessions = Sessions { agent, view: &view, limit: chat.timeout };
        let running = async {
            match command {
                Command::Mode(None) => agent.list_modes(&view),
                Command::Mode(Some(mode)) => agent.set_mode(id, &mode).await,
                Command::Option(None) => agent.list_options(&view),
                Command::Option(Some((option, value))) => agent.set_option(id, &option, &value).await,
                Command::Sessions => sessions.list(Some(&chat.cwd)).await,
                Command::Delete(id) => sessions.delete(&id).await,
                Command::Help | Command::Quit => Ok(()),
            }
        };
        tokio::select! {
            done = running => done,
            () = chat.signals.next() => Err("interrupted".into()),
        }
    }
}
