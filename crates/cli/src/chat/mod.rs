//! `agentwire chat`: a conversation with any ACP agent.

mod client;
mod keyboard;
mod screen;
mod servers;
mod view;

use std::io::{IsTerminal, Read as _};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use agentwire_acp_client::{Agent, BoxError, CallError, connect};
use agentwire_acp_schema::v1::{
    CancelNotification, Implementation, InitializeRequest, McpServer, NewSessionRequest, PromptRequest,
    ProtocolVersion, SessionId, StopReason, error_code,
};
use agentwire_acp_toolkit::PermissionPolicy;
use agentwire_transport_stdio::{Child, Command};
use anyhow::{Context as _, Result};
use tokio::sync::Notify;

use self::client::Hands;
use self::screen::Screen;
use self::view::View;
use crate::arguments;
use crate::output::JsonLines;
use crate::signals::Signals;

/// Talks to an agent, for one turn or for as long as the person wants.
pub(crate) async fn run(arguments: arguments::Chat, json: bool) -> Result<()> {
    let interactive = arguments.prompt.is_none() && std::io::stdin().is_terminal();
    let person = !json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let view = Rc::new(view(json));
    let policy = match (arguments.yes, person) {
        (true, _) => PermissionPolicy::AllowAll,
        (false, true) => PermissionPolicy::Ask,
        (false, false) => PermissionPolicy::RejectAll,
    };
    let interrupt = Rc::new(Notify::new());
    let hands = Hands::new(view.clone(), policy, interrupt.clone());
    let command = agent_command(arguments.agent.as_deref())?;
    let servers = servers::all(&arguments.mcp, &arguments.headers, arguments.agent.is_none())?;
    let agent = Child::spawn(command)?;
    let mut chat = Chat { hands: hands.clone(), view, interrupt, signals: Signals::listen()? };
    let talk = async |agent: Agent| {
        let session = chat.open(&agent, &arguments, servers).await?;
        let talked = if interactive {
            chat.converse(&agent, &session).await
        } else {
            chat.say_once(&agent, &session, arguments.prompt).await
        };
        chat.hands.close(&session).await;
        talked
    };
    connect(hands, agent, talk).await.map_err(crate::failure::unboxed)
}

fn view(json: bool) -> View {
    if json {
        View::Json(JsonLines.into())
    } else {
        let out = std::io::stdout();
        let lively = out.is_terminal();
        View::Screen(Screen::new(Box::new(out), lively).into())
    }
}

/// How the agent is started: as it was said, or as ourselves.
fn agent_command(line: Option<&str>) -> Result<Command> {
    match line {
        Some(line) => Command::parse(line).context("--agent"),
        None => {
            let ourselves = std::env::current_exe().context("our own program cannot be found")?;
            Ok(Command::new(ourselves).arg("agent"))
        }
    }
}

struct Chat {
    hands: Hands,
    view: Rc<View>,
    /// ^C as a key, where the terminal makes no signal of it.
    interrupt: Rc<Notify>,
    signals: Signals,
}

impl Chat {
    /// Agrees on the protocol and begins a session.
    async fn open(
        &mut self,
        agent: &Agent,
        arguments: &arguments::Chat,
        servers: Vec<McpServer>,
    ) -> Result<SessionId, BoxError> {
        let cwd = match &arguments.cwd {
            Some(cwd) => std::path::absolute(cwd)?,
            None => std::env::current_dir()?,
        };
        let hello = InitializeRequest::new(ProtocolVersion::LATEST)
            .client_capabilities(self.hands.capabilities())
            .client_info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")));
        let opening = async {
            let greeting = agent.initialize(hello).timeout(arguments.timeout).await?;
            self.view.fact("initialized", &greeting)?;
            let request = NewSessionRequest::new(&cwd).mcp_servers(servers);
            let opened = agent.new_session(request.clone()).timeout(arguments.timeout).await;
            let session = opened.map_err(|error| explain(error, agent))?;
            self.hands.open(session.session_id.clone(), &request);
            self.view.fact("session", &session)?;
            Ok::<_, BoxError>(session.session_id)
        };
        let session = tokio::select! {
            session = opening => session?,
            () = self.signals.next() => return Err("interrupted".into()),
        };
        if let Some(info) = agent.info() {
            self.view.remark(&format!("{} {}", info.title.as_deref().unwrap_or(&info.name), info.version))?;
        }
        Ok(session)
    }

    /// Takes turns until the person has enough.
    async fn converse(&mut self, agent: &Agent, session: &SessionId) -> Result<(), BoxError> {
        self.view.remark("^C cancels a turn, ^D ends the conversation.")?;
        loop {
            if let Some(screen) = self.view.screen() {
                screen.borrow_mut().ask("> ")?;
            }
            let Some(line) = self.read(agent, read_line).await?.flatten() else { return Ok(()) };
            if line.trim().is_empty() {
                continue;
            }
            match self.turn(agent, session, line).await {
                Ok(()) => {}
                Err(error) if agent.is_closed() => return Err(error),
                Err(error) => self.view.remark(&format!("error: {error}"))?,
            }
        }
    }

    /// Says what the command line or stdin says. When that is nothing, the session was all that was wanted.
    async fn say_once(
        &mut self,
        agent: &Agent,
        session: &SessionId,
        prompt: Option<String>,
    ) -> Result<(), BoxError> {
        let prompt = match prompt {
            Some(prompt) => prompt,
            None => self.read(agent, read_stdin).await?.ok_or("interrupted")?,
        };
        if prompt.trim().is_empty() { Ok(()) } else { self.turn(agent, session, prompt).await }
    }

    /// Waits for what the person says. None when that is an interrupt.
    async fn read<T: Send + 'static>(
        &mut self,
        agent: &Agent,
        read: fn() -> std::io::Result<T>,
    ) -> Result<Option<T>, BoxError> {
        // Reading blocks, so it has a thread; if something else happens it is left behind, and ends with us.
        tokio::select! {
            read = tokio::task::spawn_blocking(read) => Ok(Some(read??)),
            () = self.signals.next() => Ok(None),
            closed = agent.closed() => {
                self.view.turn_failed()?;
                Err(closed.into())
            }
        }
    }

    /// One turn, which ^C cancels.
    async fn turn(&mut self, agent: &Agent, session: &SessionId, prompt: String) -> Result<(), BoxError> {
        self.view.turn_begins();
        let mut answer = pin!(agent.prompt(PromptRequest::new(session, prompt)));
        let mut beat = tokio::time::interval(Duration::from_millis(100));
        let mut cancelled = false;
        let outcome = loop {
            tokio::select! {
                outcome = &mut answer => break outcome,
                () = self.signals.next() => {}
                () = self.interrupt.notified() => {}
                error = self.hands.unheard() => return Err(error.into()),
                _ = beat.tick() => {
                    self.view.tick()?;
                    continue;
                }
            }
            if std::mem::replace(&mut cancelled, true) {
                self.view.turn_failed()?;
                return Err("interrupted; the agent did not end the turn".into());
            }
            // An agent that takes nothing does not take this either.
            tokio::select! {
                told = agent.cancel(CancelNotification::new(session)) => told?,
                () = self.signals.next() => return Err("interrupted; the agent does not listen".into()),
            }
        };
        match outcome {
            Ok(response) => {
                self.view.turn_ended(&response.stop_reason)?;
                match response.stop_reason {
                    StopReason::Refusal => Err("the agent refuses to go on".into()),
                    _ => Ok(()),
                }
            }
            Err(error) => {
                self.view.turn_failed()?;
                Err(explain(error, agent))
            }
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
    let names: Vec<_> = methods.iter().filter_map(|method| method.id()).map(ToString::to_string).collect();
    Box::new(crate::failure::Explained::new(error, format!("it offers: {}", names.join(", "))))
}

fn read_stdin() -> std::io::Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn read_line() -> std::io::Result<Option<String>> {
    let mut line = String::new();
    Ok((std::io::stdin().read_line(&mut line)? > 0).then_some(line))
}
