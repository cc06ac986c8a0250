//! Our ACP agent: it needs no model, and does the same for the same prompt every time.

mod command;
mod session;
mod tool;
mod turn;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use agentwire_acp_agent::{Agent, Context, Error, serve};
use agentwire_acp_schema::v1::{
    AgentCapabilities, AvailableCommandsUpdate, CloseSessionRequest, CloseSessionResponse, Implementation,
    InitializeRequest, InitializeResponse, McpCapabilities, NewSessionRequest, NewSessionResponse,
    PromptCapabilities, PromptRequest, PromptResponse, SessionCapabilities, SessionCloseCapabilities,
    SessionId, SessionNotification, SessionUpdate,
};
use agentwire_mcp_hub::Memory;
use agentwire_transport_stdio::stdio;
use anyhow::Result;

use self::session::Session;
use self::turn::Turn;

/// Serves one client on stdin and stdout.
pub(crate) async fn run(timeout: Option<Duration>) -> Result<()> {
    let sessions = Sessions::default();
    let demo = Demo { sessions: sessions.clone(), timeout, memory: Memory::new() };
    let served = tokio::task::LocalSet::new().run_until(serve(demo, stdio()?)).await;
    let sessions: Vec<_> = sessions.borrow_mut().drain().map(|(_, session)| session).collect();
    futures::future::join_all(sessions.iter().map(|session| session.close())).await;
    Ok(served?)
}

type Sessions = Rc<RefCell<HashMap<SessionId, Rc<Session>>>>;

struct Demo {
    sessions: Sessions,
    /// How long MCP servers may take, if not as long as the hub says.
    timeout: Option<Duration>,
    /// How MCP servers are spoken to, found out by the sessions before.
    memory: Memory,
}

impl Demo {
    /// An id that no other session has, nor one of another run.
    fn new_id(&self) -> SessionId {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let number = self.sessions.borrow().len();
        SessionId::from(format!("{:x}-{:x}-{number}", since.as_nanos(), std::process::id()))
    }

    fn session(&self, id: &SessionId) -> Result<Rc<Session>, Error> {
        let found = self.sessions.borrow().get(id).cloned();
        found.ok_or_else(|| Error::invalid_params(format_args!("there is no session {id}")))
    }
}

impl Agent for Demo {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let capabilities = AgentCapabilities::new()
            .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
            .prompt_capabilities(PromptCapabilities::new().image(true).audio(true).embedded_context(true))
            .session_capabilities(SessionCapabilities::new().close(SessionCloseCapabilities::new()));
        Ok(InitializeResponse::new(request.protocol_version)
            .agent_capabilities(capabilities)
            .agent_info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION"))))
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        cx: Context,
    ) -> Result<NewSessionResponse, Error> {
        let id = self.new_id();
        let session = Rc::new(Session::open(id.clone(), request, self.timeout, self.memory.clone())?);
        self.sessions.borrow_mut().insert(id.clone(), session);
        announce_commands(id.clone(), cx);
        Ok(NewSessionResponse::new(id))
    }

    async fn prompt(&self, request: PromptRequest, cx: Context) -> Result<PromptResponse, Error> {
        let session = self.session(&request.session_id)?;
        let _turn = session.begin_turn()?;
        let reason = Turn { session: &session, context: &cx }.run(&request.prompt).await?;
        Ok(PromptResponse::new(reason))
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse, Error> {
        let session = self.session(&request.session_id)?;
        self.sessions.borrow_mut().remove(&request.session_id);
        session.close().await;
        Ok(CloseSessionResponse::new())
    }
}

/// Says which commands there are, once the client knows the session that they are for: there are clients that
/// wait for ever when an update comes before the answer that names its session.
fn announce_commands(id: SessionId, context: Context) {
    let update = SessionUpdate::from(AvailableCommandsUpdate::new(command::available()));
    tokio::task::spawn_local(async move {
        // The client may be gone by now, which is no concern of this update's.
        let _sent = context.client().session_update(SessionNotification::new(id, update)).await;
    });
}
