//! Opens, closes and deletes the sessions of a connection, for the methods of both versions.

mod opening;

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{ContentBlock, SessionId};
use agentwire_peer::{Clock, TokioClock};
use futures_util::FutureExt;
use futures_util::future::{Either, join, select};

use crate::connection::auth::AuthState;
use crate::connection::background::{Background, Tasks};
use crate::connection::list;
use crate::error::{busy, not_open, unreadable, unwritable};
use crate::log::Change;
use crate::questions::{OnSampling, TurnResponder};
use crate::registry::{Registry, SlotGuard};
use crate::session::{Session, TurnGuard};
use crate::settings::Settings;
use crate::store::{SessionHeader, StoreError};
use crate::turn::{BoxTurnHandler, PromptContext, Turn};

/// The sessions of one connection, and the operations on them that the methods of both versions share.
pub(crate) struct Runtime {
    /// Answers the prompts.
    pub(crate) handler: BoxTurnHandler,
    pub(crate) settings: Arc<Settings>,
    pub(crate) sessions: Registry,
    pub(crate) background: Background,
    pub(crate) auth: AuthState,
    pub(crate) on_sampling: Option<OnSampling>,
}

impl Runtime {
    pub(crate) fn new(
        handler: BoxTurnHandler,
        mut settings: Settings,
        on_sampling: Option<OnSampling>,
    ) -> (Self, Tasks) {
        let auth = AuthState::new(settings.auth.take());
        let sessions = Registry::new(settings.session_limit);
        let (background, tasks) = Background::new();
        settings.warn_of_store();
        (Self { handler, settings: Arc::new(settings), sessions, background, auth, on_sampling }, tasks)
    }

    /// Returns one page of the stored sessions, and the cursor of the next page, if there is one.
    ///
    /// # Errors
    ///
    /// When the cursor is invalid, or the store fails.
    pub(crate) async fn list(
        &self,
        cwd: Option<PathBuf>,
        cursor: Option<&str>,
    ) -> Result<(Vec<SessionHeader>, Option<String>), Error> {
        let page = list::page(&*self.settings.store, cwd, cursor, self.settings.page_size).await;
        self.settings.warn_of_store();
        page
    }

    /// Closes an open session, or aborts the request that is opening it.
    ///
    /// # Errors
    ///
    /// When the session is not open, or takes too long to close.
    pub(crate) async fn close(&self, id: &SessionId) -> Result<(), Error> {
        let slot = self.sessions.take_over(id).await;
        if slot.previous.is_none() && !slot.has_aborted {
            return Err(not_open(id));
        }
        self.end(&slot).await
    }

    /// Closes a session and deletes it from the store. A session that is not in the store counts as deleted.
    ///
    /// # Errors
    ///
    /// When the store fails, or closing or deleting takes too long.
    pub(crate) async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        let slot = self.sessions.take_over(id).await;
        self.end(&slot).await?;
        self.remove(&slot).await
    }

    /// Writes a mode or an option that the client has chosen.
    ///
    /// # Errors
    ///
    /// When the session is not open, has no such mode, option or value, or the store fails.
    pub(crate) async fn choose(&self, id: &SessionId, change: Change) -> Result<Arc<Session>, Error> {
        let session = self.sessions.session(id)?;
        match session.log.choose(change).await {
            Ok(()) => Ok(session),
            // The session may have been closed since.
            Err(_) if session.log.is_closed() => Err(not_open(id)),
            Err(why) => Err(why.into()),
        }
    }

    /// Returns the turn that `guard` has begun. It answers the requests of the session's MCP servers until the guard is
    /// dropped.
    pub(crate) fn turn(&self, guard: &TurnGuard, prompt: Vec<ContentBlock>, context: PromptContext) -> Turn {
        let turn = Turn::new(guard, prompt, context, self.background.clone(), self.settings.clone());
        guard.session.responder.set(Arc::new(TurnResponder {
            turn: turn.clone(),
            session: guard.session.clone(),
            on_sampling: self.on_sampling.clone(),
            limit: self.settings.update_limit,
        }));
        turn
    }

    /// Cancels the turn that runs in a session, before its future is polled again.
    pub(crate) fn cancel_turn(&self, id: &SessionId) {
        if let Some(session) = self.sessions.peek(id) {
            session.cancel_turn();
        }
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
        let (turn_ended, closing) = (session.cancel_turn(), session.clone());
        let ending = async move {
            if let Some(turn_ended) = turn_ended {
                turn_ended.wait().await;
            }
            closing.close().await;
        };
        let ended = select(ending.boxed(), TokioClock::default().sleep(self.settings.close_limit())).await;
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

    /// Deletes a closed session from the store.
    ///
    /// # Errors
    ///
    /// When the store fails or takes too long. It may still delete the session then, so the session stays claimed until the
    /// store has answered.
    async fn remove(&self, slot: &SlotGuard<'_>) -> Result<(), Error> {
        let late = || Error::internal_error("the store has not deleted the session in time");
        let mut time = TokioClock::default().sleep(self.settings.store_timeout);
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
            // The request has failed by now, so there is no receiver of the outcome.
            let _deleted = deleting.await;
            drop(claim);
        });
        Err(late())
    }
}
