//! The agent behind the connection: what each method does to the sessions.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_agent::{Agent, Client, Context, Error};
use agentwire_acp_schema::v1::{
    AgentAuthCapabilities, AgentCapabilities, AuthenticateRequest, AuthenticateResponse,
    AvailableCommandsUpdate, CancelNotification, CloseSessionRequest, CloseSessionResponse,
    DeleteSessionRequest, DeleteSessionResponse, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, LogoutCapabilities, LogoutRequest,
    LogoutResponse, McpCapabilities, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse,
    ResumeSessionRequest, ResumeSessionResponse, SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities, SessionCloseCapabilities, SessionDeleteCapabilities, SessionId,
    SessionListCapabilities, SessionNotification, SessionResumeCapabilities, SessionUpdate,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse, StopReason,
};
use agentwire_mcp_hub::{Hub, ServerConfig};
use futures::TryStreamExt;
use futures::future::{Either, select};

use crate::auth::Gate;
use crate::background::{Background, Tasks};
use crate::builder::Settings;
use crate::facts::{Facts, Said, lacks, told};
use crate::outbox::Outbox;
use crate::random::random;
use crate::registry::{Occupied, Registry};
use crate::session::Session;
use crate::store::{SessionHeader, StoreError};
use crate::turn::{self, Turn};
use crate::warning::Warning;
use crate::{list, setup};

/// Implements the protocol on top of sessions.
pub(crate) struct Runtime<F> {
    turn: F,
    settings: Arc<Settings>,
    sessions: Arc<Registry>,
    background: Background,
    gate: Gate,
}

/// Where a session works and what with, as a request that opens one says it.
struct Setup {
    roots: Vec<PathBuf>,
    servers: Vec<ServerConfig>,
}

impl<F> Runtime<F> {
    pub(crate) fn new(turn: F, mut settings: Settings) -> (Self, Tasks) {
        let gate = Gate::new(settings.auth.take());
        let sessions = Arc::new(Registry::new(settings.session_limit));
        let (background, tasks) = Background::new();
        settings.warn_of_store();
        (Self { turn, settings: Arc::new(settings), sessions, background, gate }, tasks)
    }

    pub(crate) fn sessions(&self) -> Arc<Registry> {
        self.sessions.clone()
    }

    /// Where the session works and its servers, checked before anything is changed.
    fn setup(
        &self,
        cwd: PathBuf,
        directories: Vec<PathBuf>,
        servers: &[agentwire_acp_schema::v1::McpServer],
    ) -> Result<Setup, Error> {
        let mut all = self.settings.servers.clone();
        all.extend(setup::servers(servers, &cwd)?);
        let roots = std::iter::once(cwd).chain(directories).collect();
        Ok(Setup { roots, servers: all })
    }

    /// Opens a session that is in the store. Its servers are connected to meanwhile: who calls a tool waits for them,
    /// nobody else.
    fn open(&self, header: SessionHeader, facts: Facts, setup: Setup) -> Result<Arc<Session>, Error> {
        let id = header.session_id.clone();
        let (hub, driver) = Hub::with_config(self.settings.hub.clone(), setup.servers);
        let outbox = Arc::new(Outbox::new(self.settings.store.clone(), header, facts));
        let session = Arc::new(Session::new(id.clone(), setup.roots, hub.clone(), outbox.clone())?);
        self.background.run(driver);
        self.background.run(outbox.drive());
        if self.settings.on_warning.is_some() {
            self.background.run(watch(hub, id, self.settings.clone()));
        }
        Ok(session)
    }

    /// Says which commands there are, once the client knows the session that they are for: there are clients that
    /// wait for ever when an update comes before the answer that names its session.
    fn announce_commands(&self, session: &Session, client: &Client) {
        let commands = session.outbox.facts(|facts| facts.commands.clone());
        if commands.is_empty() {
            return;
        }
        let update = SessionUpdate::from(AvailableCommandsUpdate::new(commands));
        let (id, client) = (session.id.clone(), client.clone());
        self.background.run(async move {
            // The client may be gone by now, which is no concern of this update's.
            let _sent = client.session_update(SessionNotification::new(id, update)).await;
        });
    }

    /// Opens a session of the store, with or without saying all of it again.
    async fn reopen(
        &self,
        id: SessionId,
        setup: Setup,
        replay: bool,
        context: &Context,
    ) -> Result<Arc<Session>, Error> {
        let occupied = self.sessions.occupy(&id)?;
        let given_up = select(context.cancelled(), occupied.abort.wait());
        let work = pin!(self.read(&occupied, id, setup, replay, context.client()));
        match select(given_up, work).await {
            Either::Left(_) => Err(Error::request_cancelled()),
            Either::Right((session, _)) => {
                let session = session?;
                occupied.put(session.clone());
                if let Some(before) = occupied.before.clone() {
                    self.background.run(async move { before.close().await });
                }
                Ok(session)
            }
        }
    }

    async fn read(
        &self,
        occupied: &Occupied<'_>,
        id: SessionId,
        setup: Setup,
        replay: bool,
        client: &Client,
    ) -> Result<Arc<Session>, Error> {
        if let Some(before) = &occupied.before {
            // What was said by the session itself may still be on its way into the journal.
            before.outbox.flush().await;
        }
        let store = &self.settings.store;
        let read = store.read(&id).await;
        self.settings.warn_of_store();
        let Some(stored) = read.map_err(unreadable)? else {
            let why = format!("there is no session {id}");
            return Err(Error::new(agentwire_acp_schema::v1::error_code::RESOURCE_NOT_FOUND, why));
        };
        let (mut header, mut records) = (stored.header, stored.records);
        if header.cwd != setup.roots[0] {
            let why = format!("the session works in {:?}, so that must be its cwd", header.cwd);
            return Err(Error::invalid_params(why));
        }
        let mut facts = self.settings.facts.clone();
        while let Some(record) = records.try_next().await.map_err(unreadable)? {
            let update: SessionUpdate = record
                .decode()
                .map_err(|why| unreadable(StoreError::corrupt(&id, "a record", why.to_string())))?;
            facts.recall(&update);
            if replay && lacks(client, &update).is_none() {
                let update = told(client, update);
                client.session_update(SessionNotification::new(&id, update)).await?;
            }
        }
        if header.additional_directories != setup.roots[1..] {
            header.additional_directories = setup.roots[1..].to_vec();
            store.update_header(&header).await.map_err(unwritable)?;
        }
        self.open(header, facts, setup)
    }

    /// Ends a session, if it is open: its turn first, then what it holds.
    async fn end(&self, occupied: &Occupied<'_>) {
        let Some(session) = &occupied.before else { return };
        if let Some(over) = session.cancel_turn() {
            over.wait().await;
        }
        occupied.clear();
        session.close().await;
    }
}

impl<F> Agent for Runtime<F>
where
    F: AsyncFn(Turn) -> Result<StopReason, Error>,
{
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .delete(SessionDeleteCapabilities::new())
            .additional_directories(SessionAdditionalDirectoriesCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new());
        let auth = AgentAuthCapabilities::new();
        let auth = if self.gate.has_logout() { auth.logout(LogoutCapabilities::new()) } else { auth };
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(self.settings.prompt.clone())
            .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
            .session_capabilities(sessions)
            .auth(auth);
        Ok(InitializeResponse::new(request.protocol_version)
            .agent_capabilities(capabilities)
            .auth_methods(self.gate.methods())
            .agent_info(self.settings.info.clone()))
    }

    async fn authenticate(
        &self,
        request: AuthenticateRequest,
        _: Context,
    ) -> Result<AuthenticateResponse, Error> {
        self.gate.authenticate(request.method_id).await?;
        Ok(AuthenticateResponse::new())
    }

    async fn logout(&self, _: LogoutRequest, _: Context) -> Result<LogoutResponse, Error> {
        self.gate.logout().await?;
        Ok(LogoutResponse::new())
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        context: Context,
    ) -> Result<NewSessionResponse, Error> {
        self.gate.pass(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let id = SessionId::from(random::<16>()?);
        let occupied = self.sessions.occupy(&id)?;
        let header = SessionHeader::new(&id, &setup.roots[0]).additional_directories(&setup.roots[1..]);
        self.settings.store.create(&header).await.map_err(unwritable)?;
        let session = self.open(header, self.settings.facts.clone(), setup)?;
        occupied.put(session.clone());
        self.announce_commands(&session, context.client());
        let mut response = NewSessionResponse::new(id);
        session.outbox.facts(|facts| {
            response.modes = facts.mode_state();
            response.config_options = facts.options_for(context.client());
        });
        Ok(response)
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> Result<LoadSessionResponse, Error> {
        self.gate.pass(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let session = self.reopen(request.session_id, setup, true, &context).await?;
        self.announce_commands(&session, context.client());
        let mut response = LoadSessionResponse::new();
        session.outbox.facts(|facts| {
            response.modes = facts.mode_state();
            response.config_options = facts.options_for(context.client());
        });
        Ok(response)
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        context: Context,
    ) -> Result<ResumeSessionResponse, Error> {
        self.gate.pass(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let session = self.reopen(request.session_id, setup, false, &context).await?;
        self.announce_commands(&session, context.client());
        let mut response = ResumeSessionResponse::new();
        session.outbox.facts(|facts| {
            response.modes = facts.mode_state();
            response.config_options = facts.options_for(context.client());
        });
        Ok(response)
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        context: Context,
    ) -> Result<ListSessionsResponse, Error> {
        self.gate.pass(context.client())?;
        let page = list::page(&*self.settings.store, request, self.settings.page_size).await;
        self.settings.warn_of_store();
        page
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse, Error> {
        let occupied = self.sessions.take_over(&request.session_id).await;
        if occupied.before.is_none() && !occupied.stopped {
            return Err(crate::registry::not_open(&request.session_id));
        }
        self.end(&occupied).await;
        Ok(CloseSessionResponse::new())
    }

    async fn delete_session(
        &self,
        request: DeleteSessionRequest,
        context: Context,
    ) -> Result<DeleteSessionResponse, Error> {
        self.gate.pass(context.client())?;
        let occupied = self.sessions.take_over(&request.session_id).await;
        self.end(&occupied).await;
        // One that is not there is deleted already.
        self.settings.store.delete(&request.session_id).await.map_err(unwritable)?;
        Ok(DeleteSessionResponse::new())
    }

    async fn set_session_mode(
        &self,
        request: SetSessionModeRequest,
        context: Context,
    ) -> Result<SetSessionModeResponse, Error> {
        self.gate.pass(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        let choose = |facts: &mut Facts| -> Result<Vec<Said>, Error> {
            let (mode, shows) = facts.choose_mode(&request.mode_id)?;
            Ok([Said::silently(mode)].into_iter().chain(shows.map(Said::aloud)).collect())
        };
        session.outbox.say(None, context.client(), choose).await?;
        session.outbox.settle().await?;
        Ok(SetSessionModeResponse::new())
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        self.gate.pass(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        let choose = |facts: &mut Facts| -> Result<Vec<Said>, Error> {
            let (options, mode) = facts.choose_option(&request.config_id, &request.value)?;
            Ok([Said::silently(options)].into_iter().chain(mode.map(Said::aloud)).collect())
        };
        session.outbox.say(None, context.client(), choose).await?;
        session.outbox.settle().await?;
        let options = session.outbox.facts(|facts| facts.options_for(context.client()));
        Ok(SetSessionConfigOptionResponse::new(options.unwrap_or_default()))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        self.gate.pass(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        let begun = turn::begin(session, request.prompt, context, &self.settings, &self.background)?;
        turn::run(begun, &self.turn).await.map(PromptResponse::new)
    }

    /// The turn hears it at once, not only when its future is polled next.
    fn cancel(&self, notification: CancelNotification, _: &Client) {
        if let Some(session) = self.sessions.peek(&notification.session_id) {
            session.cancel_turn();
        }
    }
}

/// Tells of servers that cannot be used, until the hub is closed.
async fn watch(hub: Hub, session_id: SessionId, settings: Arc<Settings>) {
    let mut told = Vec::new();
    let mut seen = 0;
    loop {
        let servers = hub.status();
        for server in &servers {
            if server.state.reason().is_some() && !told.contains(&server.name) {
                told.push(server.name.clone());
                let (server, state) = (server.name.clone(), server.state.clone());
                settings.warn(Warning::McpServer { session_id: session_id.clone(), server, state });
            }
        }
        let is_over = |server: &agentwire_mcp_hub::ServerStatus| {
            !server.state.is_connected()
                && !matches!(server.state, agentwire_mcp_hub::ServerState::Connecting)
        };
        if servers.iter().all(is_over) {
            return;
        }
        hub.changed(&mut seen).await;
    }
}

/// What a client hears of a store that cannot be read.
pub(crate) fn unreadable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the stored sessions cannot be read: {error}"))
}

fn unwritable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the session could not be written: {error}"))
}
