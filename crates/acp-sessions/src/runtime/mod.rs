//! The agent behind the connection: what each method does to the sessions.

mod opening;

use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_agent::{Agent, Client, Context, Error};
use agentwire_acp_schema::v1::{
    AgentAuthCapabilities, AgentCapabilities, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, LogoutCapabilities, LogoutRequest, LogoutResponse, McpCapabilities,
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, ResumeSessionRequest,
    ResumeSessionResponse, SessionAdditionalDirectoriesCapabilities, SessionCapabilities,
    SessionCloseCapabilities, SessionDeleteCapabilities, SessionId, SessionListCapabilities,
    SessionResumeCapabilities, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse, StopReason,
};

use futures::FutureExt;
use futures::future::{Either, join, select};

use crate::auth::Gate;
use crate::background::{Background, Tasks};
use crate::builder::Settings;
use crate::facts::{Facts, Said};
use crate::list;
use crate::random::random;
use crate::registry::{Occupied, Registry, not_open};
use crate::session::{Session, busy};
use crate::store::{SessionHeader, StoreError};
use crate::turn::{self, Turn};

/// Implements the protocol on top of sessions.
pub(crate) struct Runtime<F> {
    turn: F,
    settings: Arc<Settings>,
    sessions: Arc<Registry>,
    background: Background,
    gate: Gate,
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

    /// Takes a session for this connection, unless that has it already.
    async fn claim(&self, occupied: &Occupied<'_>) -> Result<(), Error> {
        if occupied.claim().is_some() {
            return Ok(());
        }
        let claim = self.settings.store.claim(occupied.id()).await.map_err(|error| match error {
            StoreError::InUse { session_id } => {
                let why =
                    "it is open on another connection or in another process, or it is still being closed";
                busy(&session_id, why)
            }
            error => unreadable(error),
        })?;
        occupied.hold(claim);
        Ok(())
    }

    /// Ends a session, if it is open: its turn first, then what it holds.
    ///
    /// # Errors
    ///
    /// When that takes too long. The session is closed then, too, and what is left to do is done in the background.
    async fn end(&self, occupied: &Occupied<'_>) -> Result<(), Error> {
        let Some(session) = occupied.before.clone() else { return Ok(()) };
        let (over, closing) = (session.cancel_turn(), session.clone());
        let ending = async move {
            if let Some(over) = over {
                over.wait().await;
            }
            closing.close().await;
        };
        let ended = select(ending.boxed(), turn::sleep(self.settings.close_limit())).await;
        occupied.clear();
        let Either::Right(((), ending)) = ended else { return Ok(()) };
        let claim = occupied.claim();
        self.background.run(async move {
            join(ending, session.hub.close()).await;
            // Whoever opens it from now on finds all that was said.
            drop(claim);
        });
        Err(Error::internal_error("the session is closed, but what was said last could not be kept in time"))
    }

    /// Has the store forget a session that has ended. One that is not there is deleted already.
    ///
    /// # Errors
    ///
    /// When the store fails or takes too long. It may still do it then, and nobody has the session before it has answered.
    async fn delete(&self, occupied: &Occupied<'_>) -> Result<(), Error> {
        let late = || Error::internal_error("the store has not deleted the session in time");
        let mut time = turn::sleep(self.settings.store_timeout);
        match select(pin!(self.claim(occupied)), &mut time).await {
            Either::Left((claimed, _)) => claimed?,
            Either::Right(_) => return Err(late()),
        }
        let (store, id) = (self.settings.store.clone(), occupied.id().clone());
        let deleting = async move { store.delete(&id).await }.boxed();
        let deleting = match select(deleting, time).await {
            Either::Left((deleted, _)) => return deleted.map(drop).map_err(unwritable),
            Either::Right(((), deleting)) => deleting,
        };
        let claim = occupied.claim();
        self.background.run(async move {
            // Nobody is left who could be told.
            let _deleted = deleting.await;
            drop(claim);
        });
        Err(late())
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
            .mcp_capabilities(McpCapabilities::new().http(cfg!(feature = "http")).sse(cfg!(feature = "sse")))
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
        self.claim(&occupied).await?;
        let created = self.settings.store.create(&header).await;
        self.settings.warn_of_store();
        created.map_err(unwritable)?;
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
            return Err(not_open(&request.session_id));
        }
        self.end(&occupied).await?;
        Ok(CloseSessionResponse::new())
    }

    async fn delete_session(
        &self,
        request: DeleteSessionRequest,
        context: Context,
    ) -> Result<DeleteSessionResponse, Error> {
        self.gate.pass(context.client())?;
        let occupied = self.sessions.take_over(&request.session_id).await;
        self.end(&occupied).await?;
        self.delete(&occupied).await?;
        Ok(DeleteSessionResponse::new())
    }

    async fn set_session_mode(
        &self,
        request: SetSessionModeRequest,
        context: Context,
    ) -> Result<SetSessionModeResponse, Error> {
        self.gate.pass(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        let choose = |facts: &Facts| -> Result<Vec<Said>, Error> {
            let (mode, shows) = facts.choose_mode(&request.mode_id)?;
            Ok([Said::silently(mode)].into_iter().chain(shows.map(Said::aloud)).collect())
        };
        choose_in(&session, context.client(), choose).await?;
        Ok(SetSessionModeResponse::new())
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        self.gate.pass(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        let choose = |facts: &Facts| -> Result<Vec<Said>, Error> {
            let (options, mode) = facts.choose_option(&request.config_id, &request.value)?;
            Ok([Said::silently(options)].into_iter().chain(mode.map(Said::aloud)).collect())
        };
        choose_in(&session, context.client(), choose).await?;
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

/// Lets the client choose something, and keeps that.
async fn choose_in(
    session: &Session,
    client: &Client,
    choose: impl FnOnce(&Facts) -> Result<Vec<Said>, Error>,
) -> Result<(), Error> {
    let chosen = session.outbox.say_and_settle(client, choose).await;
    // It may have been closed while this waited.
    chosen.map_err(|why| if session.outbox.is_closed() { not_open(&session.id) } else { why })
}

/// What a client hears of a store that cannot be read.
pub(crate) fn unreadable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the stored sessions cannot be read: {error}"))
}

fn unwritable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the session could not be written: {error}"))
}
