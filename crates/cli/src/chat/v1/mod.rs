//! A conversation in version 1 of the protocol.

mod client;
mod sessions;
mod settings;

use std::future::Future;
use std::sync::Arc;

use agentwire_acp_client::{Agent, BoxError, CallError, Closed};
use agentwire_acp_schema::v1::{
    CancelNotification, ContentBlock, InitializeRequest, McpServer, PromptRequest, ProtocolVersion,
    SessionId, StopReason, error_code,
};

use self::sessions::Sessions;
use super::commands::Command;
use super::converse::{Dialogue, converse, say_once};
use super::prompt::{Prompt, Takes};
use super::shown::short;
use super::{Chat, Plan, Wish, our_info};

pub(in crate::chat) use self::client::Hands;

/// Talks to an agent of version 1 as the command line says. One of which only the version is known is greeted first.
pub(super) async fn talk(
    chat: &mut Chat,
    hands: Hands,
    agent: Agent,
    plan: &Plan,
    servers: Vec<McpServer>,
) -> Result<(), BoxError> {
    let mut talk = Talk { chat, hands, agent, session: SessionId::from("") };
    if !talk.open(plan, servers).await? {
        return Ok(());
    }
    let talked = if plan.interactive {
        converse(&mut talk).await
    } else {
        say_once(&mut talk, plan.prompt.clone()).await
    };
    talk.hands.close(&talk.session).await;
    talked
}

struct Talk<'a> {
    chat: &'a mut Chat,
    hands: Hands,
    agent: Agent,
    session: SessionId,
}

impl Talk<'_> {
    /// Agrees on the protocol, and does what the command line wants. Whether a session is open then.
    async fn open(&mut self, plan: &Plan, servers: Vec<McpServer>) -> Result<bool, BoxError> {
        let Self { chat, hands, agent, session } = self;
        let (view, person) = (chat.view.clone(), chat.person.clone());
        let opening = async {
            if agent.greeting().is_none() {
                let hello = InitializeRequest::new(ProtocolVersion::V1)
                    .client_capabilities(hands.capabilities())
                    .client_info(our_info());
                agent.initialize(hello).timeout(plan.timeout).await?;
            }
            if let Some(greeting) = agent.greeting()
                && view.is_json()
            {
                view.large_fact("initialized", &Arc::new(greeting.clone()))?;
            }
            let sessions = Sessions { agent, view: &view, limit: plan.timeout };
            match &plan.wish {
                Wish::List => sessions.list(plan.named_cwd.as_deref()).await?,
                Wish::Delete(id) => sessions.delete(id).await?,
                Wish::Talk(which) => {
                    if let Some(info) = agent.info() {
                        let name = info.title.as_deref().unwrap_or(&info.name);
                        let name = short(name);
                        person.meets(&name);
                        view.remark(&format!("{name} {}", short(&info.version)))?;
                    }
                    hands.opens(true);
                    let opened = sessions.open(hands, which, &plan.cwd, servers).await;
                    hands.opens(false);
                    // What was told anew may have left a line open.
                    view.turn_ended(None)?;
                    *session = opened?;
                    hands.rest()?;
                    let set = async {
                        if let Some(mode) = &plan.mode {
                            settings::set_mode(agent, hands, session, mode).await?;
                        }
                        for (id, value) in &plan.options {
                            settings::set_option(agent, hands, session, id, value).await?;
                        }
                        Ok::<_, BoxError>(true)
                    };
                    let late =
                        |_| format!("the agent did not set what was asked for within {:?}", plan.timeout);
                    return tokio::time::timeout(plan.timeout, set).await.map_err(late)?;
                }
            }
            Ok::<_, BoxError>(false)
        };
        tokio::select! {
            is_open = opening => is_open,
            () = chat.signals.next() => Err("interrupted".into()),
            error = view.outlet().failed() => Err(error.into()),
        }
    }

    /// One turn, which ^C cancels.
    async fn turn(&mut self, prompt: Prompt) -> Result<(), BoxError> {
        let blocks: Vec<ContentBlock> = prompt.pieces.into_iter().map(Into::into).collect();
        let Self { chat, hands, agent, session } = self;
        hands.turn_begins(&blocks);
        let answer = agent.prompt(PromptRequest::new(&*session, blocks));
        let cancel = async || agent.cancel(CancelNotification::new(&*session)).await;
        let answered = chat.attend(answer, cancel).await;
        let reason = match &answered {
            Ok(Ok(response)) => Some(response.stop_reason.clone()),
            _ => None,
        };
        hands.turn_ended(reason.as_ref())?;
        let response = match answered? {
            Ok(response) => response,
            Err(error) => {
                chat.view.turn_ended(None)?;
                return Err(explain(error, agent));
            }
        };
        chat.view.large_fact("stopReason", &Arc::new(response.stop_reason.clone()))?;
        let reason = short(response.stop_reason.as_str());
        chat.view.turn_ended(Some(&*reason).filter(|_| response.stop_reason != StopReason::EndTurn))?;
        hands.rest()?;
        match response.stop_reason {
            StopReason::Refusal => Err("the agent refuses to go on".into()),
            _ => Ok(()),
        }
    }

    fn takes(&self) -> Takes {
        let takes = self.agent.capabilities().map(|agent| &agent.prompt_capabilities);
        takes.map_or(Takes::default(), |takes| Takes { image: takes.image, embedded: takes.embedded_context })
    }
}

impl Dialogue for Talk<'_> {
    fn chat(&mut self) -> &mut Chat {
        self.chat
    }

    fn closed(&self) -> impl Future<Output = Closed> + 'static {
        let agent = self.agent.clone();
        async move { agent.closed().await }
    }

    fn is_closed(&self) -> bool {
        self.agent.is_closed()
    }

    async fn say(&mut self, text: String, names_files: bool) -> Result<(), BoxError> {
        let prompt = self.chat.prompt(text, names_files.then(|| self.takes()))?;
        self.turn(prompt).await
    }

    async fn obey(&mut self, command: Command) -> Result<(), BoxError> {
        let Self { chat, hands, agent, session } = self;
        let view = chat.view.clone();
        let sessions = Sessions { agent, view: &view, limit: chat.timeout };
        let obeying = async {
            match command {
                Command::Mode(None) => settings::show_modes(&view, hands),
                Command::Mode(Some(id)) => settings::set_mode(agent, hands, session, &id).await,
                Command::Option(None) => settings::show_options(&view, hands),
                Command::Option(Some((id, value))) => {
                    settings::set_option(agent, hands, session, &id, &value).await
                }
                Command::Sessions => sessions.list(Some(&chat.cwd)).await,
                Command::Delete(id) => sessions.delete(&id).await,
                Command::Help | Command::Quit => Ok(()),
            }
        };
        tokio::select! {
            done = obeying => done,
            () = chat.signals.next() => Err("interrupted".into()),
        }
    }
}

/// Says how to go on where an agent wants to know first who asks.
fn explain(error: CallError, agent: &Agent) -> BoxError {
    let wants_login = error.refusal().is_some_and(|refusal| refusal.code == error_code::AUTH_REQUIRED);
    let methods = agent.greeting().map(|greeting| &*greeting.auth_methods).unwrap_or_default();
    if !wants_login || methods.is_empty() {
        return error.into();
    }
    let names: Vec<_> = methods.iter().filter_map(|method| method.id()).collect();
    Box::new(crate::failure::Explained::new(error, format!("it offers: {}", names.join(", "))))
}
