//! Adds, finds and ends the sessions of an endpoint. Opens and forgets their logs in the event store.

use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::ErrorObject;
use agentwire_store::SessionId;

use crate::server::endpoint::resources::Resources;
use crate::server::response::refusal::Refusal;
use crate::server::session::Session;
use crate::server::session::session_table::{CALLER_SESSIONS, NoSession, SessionTable};
use crate::server::{Caller, Principal};

/// The sessions of an endpoint, whose events the store remembers for as long as they last.
pub(crate) struct Sessions {
    table: SessionTable<SessionId, Session>,
    resources: Arc<Resources>,
}

impl Sessions {
    pub(crate) fn new(resources: Arc<Resources>) -> Self {
        Self { table: SessionTable::new(resources.config.limits.session_quota(CALLER_SESSIONS)), resources }
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.table.get(id)
    }

    /// The state that its sessions share.
    pub(crate) fn resources(&self) -> &Arc<Resources> {
        &self.resources
    }

    /// The session that a request names, if it belongs to the caller of the request. It counts as used from now on.
    pub(crate) fn find(&self, id: SessionId, caller: Option<&Principal>) -> Option<Arc<Session>> {
        let session = self.get(id)?;
        if !session.belongs_to(caller) {
            self.resources.config.warnings.foreign_session(caller);
            return None;
        }
        self.mark_used(&session);
        Some(session)
    }

    /// The refusal of a request that names a session of another principal: the same as for an unknown session. The operator is
    /// warned.
    pub(crate) fn foreign(&self, caller: Option<&Principal>) -> Refusal {
        self.resources.config.warnings.foreign_session(caller);
        Refusal::unknown_session()
    }

    /// Notes that the client has used a session, and so knows its id.
    pub(crate) fn mark_used(&self, session: &Session) {
        if session.is_first_use() {
            self.table.mark_used(session.id());
        }
    }

    /// All sessions.
    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.table.all()
    }

    /// Adds a session, in place of an unused one of its caller where there is no room.
    pub(crate) fn add(self: &Arc<Self>, session: &Arc<Session>, caller: &Caller) -> Result<(), NoSession> {
        if let Some(replaced) = self.table.insert(session.id(), session.clone(), caller)? {
            replaced.close(&self.resources);
            replaced.leave(self);
            replaced.delete_unused(self);
        }
        if let Some(store) = &self.resources.config.store {
            store.open(session.id(), caller);
        }
        self.resources.clock.start();
        Ok(())
    }

    /// Ends a session here: it leaves the table, and its connection ends.
    pub(crate) fn end(&self, session: &Session) {
        session.close(&self.resources);
        // The session may have been loaded again while its former connection ended.
        if self.table.remove_same(session.id(), session) {
            session.leave(self);
            self.resources.drain.note_end();
        }
    }

    /// Adds no more sessions, and ends the input of each when its requests are answered.
    pub(crate) fn drain(&self) {
        self.table.refuse_more();
        self.table.all().iter().for_each(|session| session.drain(&self.resources));
    }

    /// Answers every unanswered request with an error, and ends every session.
    pub(crate) fn cut(&self, error: &ErrorObject) {
        for session in self.table.all() {
            session.cut(error, &self.resources);
            self.end(&session);
        }
    }

    /// Ends the input of every session, and adds no more.
    pub(crate) fn close(&self) {
        for session in self.table.close() {
            session.retire(&self.resources);
            session.leave(self);
        }
    }

    /// Ends the sessions that have been idle for too long at tick `now`. Returns whether there were sessions.
    pub(crate) fn tick(self: &Arc<Self>, now: u32) -> bool {
        let sessions = self.table.all();
        for session in &sessions {
            if session.tick(now, &self.resources) {
                self.end(session);
                if !session.is_used() {
                    session.delete_unused(self);
                }
            }
        }
        !sessions.is_empty()
    }

    /// How many sessions are open.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Drops the remembered events of a session that has ended.
    pub(crate) fn forget(&self, id: SessionId) {
        if let Some(store) = &self.resources.config.store {
            store.forget(id);
        }
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("open", &self.table.len()).finish_non_exhaustive()
    }
}
