//! A conversation in the draft of version 2 of the protocol: what is said, tool calls, plans, permission, cancelling.

mod client;
mod draw;
mod settings;

use std::borrow::Cow;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use agentwire_acp_client::v2::Agent;
use agentwire_acp_client::{BoxError, Closed};
use agentwire_acp_schema::v1::McpServer as OlderMcpServer;
use agentwire_acp_schema::v2::{
    CancelSessionNotification, ContentBlock, DeleteSessionRequest, IdleStopReason, ListSessionsRequest,
    McpServer, McpServerHttp, McpServerStdio, NewSessionRequest, NewSessionResponse, PromptRequest,
    ReplayFrom, ResumeSessionRequest, ResumeSessionResponse, SessionId, SessionInfo,
};

use super::commands::Command;
use super::converse::{Dialogue, converse, say_once};
use super::prompt::{Prompt, Takes};
use super::shown::short;
use super::view::View;
use super::{Chat, Plan, Which, Wish, check_id, is_same_place};

pub(in crate::chat) use self::client::Hands;

/// Talks to an agent of version 2, which has been greeted, as the command line says.
pub(super) async fn talk(
    chat: &mut Chat,
    hands: Hands,
    agent: Agent,
    plan: &Plan,
    servers: Vec<OlderMcpServer>,
) -> Result<(), BoxError> {
    let mut talk = Talk { chat, hands, agent, session: SessionId::from("") };
    if !talk.open(plan, servers).await? {
        return Ok(());
    }
    if plan.interactive { converse(&mut talk).await } else { say_once(&mut talk, plan.prompt.clone()).await }
}

struct Talk<'a> {
    chat: &'a mut Chat,
    hands: Hands,
    agent: Agent,
    session: SessionId,
}

impl Talk<'_> {
    /// Does what the command line wants. Whether a session is open then.
    async fn open(&mut self, plan: &Plan, servers: Vec<OlderMcpServer>) -> Result<bool, BoxError> {
        let view = self.chat.view.clone();
        if let Some(greeting) = self.agent.greeting() {
            if view.is_json() {
                view.large_fact("initialized", &Arc::new(greeting.clone()))?;
            }
            let info = &greeting.info;
            let name = info.title.as_deref().unwrap_or(&info.name);
            let name = short(name);
            self.chat.person.meets(&name);
            if let Wish::Talk(_) = plan.wish {
                view.remark(&format!("{name} {}", short(&info.version)))?;
            }
        }
        let Self { chat, hands, agent, session } = self;
        let opening = async {
            match &plan.wish {
                Wish::List => list(agent, &view, plan.named_cwd.as_deref()).await?,
                Wish::Delete(id) => delete(agent, &view, id).await?,
                Wish::Talk(which) => {
                    let servers = servers.into_iter().map(server).collect::<Result<_, _>>()?;
                    let begun = begin(agent, hands, plan, which, servers).await;
                    // What was told anew may have left a line open.
                    view.turn_ended(None)?;
                    *session = begun?;
                    let mode = plan.mode.iter().map(|mode| (hands.mode_option(), mode));
                    for (option, mode) in mode {
                        let option = option.ok_or("the agent offers no modes")?;
                        settings::set_option(agent, hands, session, &option, mode).await?;
                    }
                    for (id, value) in &plan.options {
                        settings::set_option(agent, hands, session, id, value).await?;
                    }
                    return Ok(true);
                }
            }
            Ok::<_, BoxError>(false)
        };
        let late = |_| format!("the agent did not open the session within {:?}", plan.timeout);
        tokio::select! {
            is_open = tokio::time::timeout(plan.timeout, opening) => is_open.map_err(late)?,
            () = chat.signals.next() => Err("interrupted".into()),
            error = view.outlet().failed() => Err(error.into()),
        }
    }

    /// One turn, which ^C cancels.
    async fn turn(&mut self, prompt: Prompt) -> Result<(), BoxError> {
        let blocks: Vec<ContentBlock> = prompt.pieces.into_iter().map(Into::into).collect();
        let Self { chat, hands, agent, session } = self;
        hands.turn_begins();
        let turn = agent.prompt(PromptRequest::new(&*session, blocks));
        let cancel = async || agent.cancel(CancelSessionNotification::new(&*session)).await;
        let ended = chat.attend(turn, cancel).await;
        hands.turn_ended();
        let ended = ended.and_then(|ended| Ok(ended?));
        let Ok(stopped) = &ended else {
            chat.view.turn_ended(None)?;
            return ended.map(drop);
        };
        let reason = stopped.stop_reason();
        let word = reason.map(IdleStopReason::word);
        let told = word.as_deref().filter(|_| reason != Some(&IdleStopReason::EndTurn)).map(short);
        if chat.view.is_json() {
            // It may be as long as a message.
            chat.view.large_fact("stopReason", &Arc::new(word.map(Cow::into_owned)))?;
        }
        chat.view.turn_ended(told.as_deref())?;
        match reason {
            Some(IdleStopReason::Refusal) => Err("the agent refuses to go on".into()),
            Some(IdleStopReason::Error(_)) => Err("the turn failed".into()),
            _ => Ok(()),
        }
    }

    fn takes(&self) -> Takes {
        let session = self.agent.capabilities().and_then(|agent| agent.session.as_ref());
        let takes = session.and_then(|session| session.prompt.as_ref());
        takes.map_or(Takes::default(), |takes| Takes {
            image: takes.image.is_some(),
            embedded: takes.embedded_context.is_some(),
        })
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
        let obeying = async {
            match command {
                Command::Mode(Some(mode)) => {
                    let option = hands.mode_option().ok_or("the agent offers no modes")?;
                    settings::set_option(agent, hands, session, &option, &mode).await
                }
                Command::Option(Some((id, value))) => {
                    settings::set_option(agent, hands, session, &id, &value).await
                }
                Command::Mode(None) | Command::Option(None) => settings::show(&view, hands),
                Command::Sessions => list(agent, &view, Some(&chat.cwd)).await,
                Command::Delete(id) => delete(agent, &view, &id).await,
                Command::Help | Command::Quit => Ok(()),
            }
        };
        tokio::select! {
            done = obeying => done,
            () = chat.signals.next() => Err("interrupted".into()),
        }
    }
}

/// Begins a session, or takes one up with all that was said in it.
async fn begin(
    agent: &Agent,
    hands: &Hands,
    plan: &Plan,
    which: &Which,
    servers: Vec<McpServer>,
) -> Result<SessionId, BoxError> {
    let cwd = &plan.cwd;
    let id = match which {
        Which::New => {
            let call = agent.new_session(NewSessionRequest::new(cwd.clone()).mcp_servers(servers));
            let call = hands.takes_up(call, |opened| {
                let left = NewSessionResponse::new(&opened.session_id);
                (opened, left)
            });
            let id = call.await?.session_id;
            check_id(&id)?;
            id
        }
        Which::Newest | Which::Session(_) => {
            let id = match which {
                Which::Session(id) => SessionId::from(id.as_str()),
                _ => newest(agent, cwd).await?,
            };
            hands.opens(&id);
            let request = ResumeSessionRequest::new(&id, cwd.clone()).mcp_servers(servers);
            let mut opened = NewSessionResponse::new(&id);
            let call = agent.resume_session(request.replay_from(ReplayFrom::start()));
            let call = hands.takes_up(call, |resumed| {
                opened.config_options = resumed.config_options;
                opened.available_commands = resumed.available_commands;
                (opened, ResumeSessionResponse::new())
            });
            call.await?;
            id
        }
    };
    hands.set_up()?;
    Ok(id)
}

/// Shows the sessions as they come: there may be more than fit in memory.
async fn list(agent: &Agent, view: &View, cwd: Option<&Path>) -> Result<(), BoxError> {
    let mut sessions = agent.sessions(of_directory(cwd));
    let mut any = false;
    while let Some(session) = sessions.try_next().await? {
        any = true;
        let session = Arc::new(session);
        view.large_fact("sessionInfo", &session)?;
        let SessionInfo { session_id, cwd, title, updated_at, .. } = &*session;
        let (title, updated) = (title.as_deref().unwrap_or("-"), updated_at.as_deref().unwrap_or("-"));
        view.session(session_id, updated, cwd, title)?;
        // Whoever reads them slowly holds up nobody but us.
        view.outlet().room().await;
    }
    if any { Ok(()) } else { Ok(view.remark("There are no sessions.")?) }
}

async fn delete(agent: &Agent, view: &View, session: &str) -> Result<(), BoxError> {
    agent.delete_session(DeleteSessionRequest::new(session)).await?;
    view.fact("deleted", &session)?;
    Ok(view.remark(&format!("deleted {session}"))?)
}

/// The session of the directory in which something happened last.
async fn newest(agent: &Agent, cwd: &Path) -> Result<SessionId, BoxError> {
    let mut sessions = agent.sessions(of_directory(Some(cwd)));
    let mut newest: Option<SessionInfo> = None;
    while let Some(session) = sessions.try_next().await? {
        let is_newer = newest.as_ref().is_none_or(|newest| session.updated_at > newest.updated_at);
        if is_newer && is_same_place(&session.cwd, cwd) {
            newest = Some(session);
        }
    }
    let none = || format!("there is no session of {} to go on with", cwd.display());
    Ok(newest.ok_or_else(none)?.session_id)
}

fn of_directory(cwd: Option<&Path>) -> ListSessionsRequest {
    let mut request = ListSessionsRequest::new();
    request.cwd = cwd.map(|cwd| cwd.to_owned().into());
    request
}

/// The same server in the words of this version.
fn server(server: OlderMcpServer) -> Result<McpServer, String> {
    match server {
        OlderMcpServer::Stdio(server) => {
            Ok(McpServerStdio::new(server.name, server.command).args(server.args).env(server.env).into())
        }
        OlderMcpServer::Http(server) => {
            Ok(McpServerHttp::new(server.name, server.url).headers(server.headers).into())
        }
        _ => Err("version 2 of the protocol has no such MCP servers".into()),
    }
}
