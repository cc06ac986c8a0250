//! The ACP agent: what each method does with the sessions.

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
    SetSessionModeRequest, SetSessionModeResponse,
};

use futures::FutureExt;
use futures::future::{Either, join, select};

use crate::auth::AuthState;
use crate::background::{Background, Tasks};
use crate::builder::Settings;
use crate::list;
use crate::log::{Change, ChosenBy};
use crate::random::random;
use crate::registry::{Registry, SlotGuard, not_open};
use crate::session::{Session, busy};
use crate::store::{SessionHeader, StoreError};
use crate::turn::{self, TurnHandler};

/// Implements the protocol with sessions.
pub(crate) struct Runtime<F> {
    turn: F,
    settings: Arc<Settings>,
    sessions: Arc<Registry>,
    background: Background,
    auth: AuthState,
}

impl<F> Runtime<F> {
    pub(crate) fn new(turn: F, mut settings: Settings) -> (Self, Tasks) {
        let auth = AuthState::new(settings.auth.take());
        let sessions = Arc::new(Registry::new(settings.session_limit));
        let (background, tasks) = Background::new();
        settings.warn_of_store();
        (Self { turn, settings: Arc::new(settings), sessions, background, auth }, tasks)
    }

    pub(crate) fn sessions(&self) -> Arc<Registry> {
        self.sessions.clone()
    }

    /// Claims a session for this connection, unless the connection has claimed it already.
    async fn claim(&self, slot: &SlotGuard<'_>) -> Result<(), Error> {
        if slot.claim().is_some() {
            return Ok(());
        }
        let claim = self.settings.store.claim(slot.id()).await.map_err(|error| match error {
            StoreError::InUse { session_id } => {
                let why =
                    "it is open on another connection or in another process, or it is still being closed";
                busy(&session_id, why)
            }
            error => unreadable(error),
        })?;
        slot.set_claim(claim);
        Ok(())
    }

    /// Closes a session, if it is open: its turn first, then its log and its MCP servers.
    ///
    /// # Errors
    ///
    /// When that takes too long. The session is closed even then, and the rest is done in the background.
    async fn end(&self, slot: &SlotGuard<'_>) -> Result<(), Error> {
        let Some(session) = slot.previous.clone() else { return Ok(()) };
        let (over, closing) = (session.cancel_turn(), session.clone());
        let ending = async move {
            if let Some(over) = over {
                over.wait().await;
            }
            closing.close().await;
        };
        let ended = select(ending.boxed(), turn::sleep(self.settings.close_limit())).await;
        slot.clear();
        let Either::Right(((), ending)) = ended else { return Ok(()) };
        let claim = slot.claim();
        self.background.run(async move {
            join(ending, session.hub.close()).await;
            // Only now can the session be opened again, with all its updates.
            drop(claim);
        });
        Err(Error::internal_error(
            "the session is closed, but the store has not written its last updates in time",
        ))
    }

    /// Deletes a closed session from the store. A session that is not in the store counts as deleted.
    ///
    /// # Errors
    ///
    /// When the store fails or takes too long. It may still delete the session then, so the session stays claimed until the
    /// store has answered.
    async fn delete(&self, slot: &SlotGuard<'_>) -> Result<(), Error> {
        let late = || Error::internal_error("the store has not deleted the session in time");
        let mut time = turn::sleep(self.settings.store_timeout);
        match select(pin!(self.claim(slot)), &mut time).await {
            Either::Left((claimed, _)) => claimed?,
            Either::Right(_) => return Err(late()),
        }
        let (store, id) = (self.settings.store.clone(), slot.id().clone());
        let deleting = async move { store.delete(&id).await }.boxed();
        let deleting = match select(deleting, time).await {
            Either::Left((deleted, _)) => return deleted.map(drop).map_err(unwritable),
            Either::Right(((), deleting)) => deleting,
        };
        let claim = slot.claim();
        self.background.run(async move {
            // The request has failed by now, so nobody receives the outcome.
            let _deleted = deleting.await;
            drop(claim);
        });
        Err(late())
    }
}

impl<F: TurnHandler> Agent for Runtime<F> {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .delete(SessionDeleteCapabilities::new())
            .additional_directories(SessionAdditionalDirectoriesCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new());
        let auth = AgentAuthCapabilities::new();
        let auth = if self.auth.has_logout() { auth.logout(LogoutCapabilities::new()) } else { auth };
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(self.settings.prompt.clone())
            .mcp_capabilities(McpCapabilities::new().http(cfg!(feature = "http")).sse(cfg!(feature = "sse")))
            .session_capabilities(sessions)
            .auth(auth);
        Ok(InitializeResponse::new(request.protocol_version)
            .agent_capabilities(capabilities)
            .auth_methods(self.auth.methods())
            .agent_info(self.settings.info.clone()))
    }

    async fn authenticate(
        &self,
        request: AuthenticateRequest,
        _: Context,
    ) -> Result<AuthenticateResponse, Error> {
        self.auth.authenticate(request.method_id).await?;
        Ok(AuthenticateResponse::new())
    }

    async fn logout(&self, _: LogoutRequest, _: Context) -> Result<LogoutResponse, Error> {
        self.auth.logout().await?;
        Ok(LogoutResponse::new())
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        context: Context,
    ) -> Result<NewSessionResponse, Error> {
        self.auth.check(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let id = SessionId::from(random::<16>()?);
        let slot = self.sessions.acquire(&id)?;
        let header = SessionHeader::new(&id, &setup.roots[0]).additional_directories(&setup.roots[1..]);
        self.claim(&slot).await?;
        let created = self.settings.store.create(&header).await;
        self.settings.warn_of_store();
        created.map_err(unwritable)?;
        let session = self.open(header, self.settings.state.clone(), setup, context.client())?;
        slot.put(session.clone());
        self.announce_commands(&session);
        let mut response = NewSessionResponse::new(id);
        session.log.state(|state| {
            response.modes = state.mode_state();
            response.config_options = state.options_for(context.client());
        });
        Ok(response)
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> Result<LoadSessionResponse, Error> {
        self.auth.check(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let session = self.reopen(request.session_id, setup, true, &context).await?;
        self.announce_commands(&session);
        let mut response = LoadSessionResponse::new();
        session.log.state(|state| {
            response.modes = state.mode_state();
            response.config_options = state.options_for(context.client());
        });
        Ok(response)
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        context: Context,
    ) -> Result<ResumeSessionResponse, Error> {
        self.auth.check(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let session = self.reopen(request.session_id, setup, false, &context).await?;
        self.announce_commands(&session);
        let mut response = ResumeSessionResponse::new();
        session.log.state(|state| {
            response.modes = state.mode_state();
            response.config_options = state.options_for(context.client());
        });
        Ok(response)
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        context: Context,
    ) -> Result<ListSessionsResponse, Error> {
        self.auth.check(context.client())?;
        let page = list::page(&*self.settings.store, request, self.settings.page_size).await;
        self.settings.warn_of_store();
        page
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse, Error> {
        let slot = self.sessions.take_over(&request.session_id).await;
        if slot.previous.is_none() && !slot.has_aborted {
            return Err(not_open(&request.session_id));
        }
        self.end(&slot).await?;
        Ok(CloseSessionResponse::new())
    }

    async fn delete_session(
        &self,
        request: DeleteSessionRequest,
        context: Context,
    ) -> Result<DeleteSessionResponse, Error> {
        self.auth.check(context.client())?;
        let slot = self.sessions.take_over(&request.session_id).await;
        self.end(&slot).await?;
        self.delete(&slot).await?;
        Ok(DeleteSessionResponse::new())
    }

    async fn set_session_mode(
        &self,
        request: SetSessionModeRequest,
        context: Context,
    ) -> Result<SetSessionModeResponse, Error> {
        self.auth.check(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        choose(&session, Change::Mode { mode: request.mode_id, by: ChosenBy::Client }).await?;
        Ok(SetSessionModeResponse::new())
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        self.auth.check(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        let change = Change::Option { id: request.config_id, value: request.value, by: ChosenBy::Client };
        choose(&session, change).await?;
        let options = session.log.state(|state| state.options_for(context.client()));
        Ok(SetSessionConfigOptionResponse::new(options.unwrap_or_default()))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        self.auth.check(context.client())?;
        let session = self.sessions.session(&request.session_id)?;
        let started = turn::start(session, request.prompt, context, &self.settings, &self.background)?;
        turn::run(started, &self.turn).await.map(PromptResponse::new)
    }

    /// Cancels the turn at once, before its future is polled again.
    fn cancel(&self, notification: CancelNotification, _: &Client) {
        if let Some(session) = self.sessions.peek(&notification.session_id) {
            session.cancel_turn();
        }
    }
}

/// Writes what the client has chosen.
async fn choose(session: &Session, change: Change) -> Result<(), Error> {
    let chosen = session.log.choose(change).await;
    // The session may have been closed meanwhile.
    chosen.map_err(|why| if session.log.is_closed() { not_open(&session.id) } else { why.into() })
}

/// The error for a request that fails because the store cannot be read.
pub(crate) fn unreadable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the stored sessions cannot be read: {error}"))
}

fn unwritable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the session could not be written: {error}"))
}
