//! The slots of a connection's sessions. A request that opens, closes or deletes a session owns its slot until it ends.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::{Mutex, MutexGuard};

use crate::connection::signal::Signal;
use crate::error::{busy, not_open};
use crate::session::Session;
use crate::store::Claim;

/// A slot for each session that is open, or that a request is opening, closing or deleting.
#[derive(Debug)]
pub(crate) struct Registry {
    slots: Mutex<HashMap<SessionId, Slot>>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Slot {
    session: Option<Arc<Session>>,
    owner: Option<Owner>,
    /// Prevents other connections from opening the session.
    claim: Option<Arc<Claim>>,
}

/// The request that owns a slot. It has the [`SlotGuard`].
#[derive(Clone, Debug, Default)]
struct Owner {
    abort: Signal,
    released: Signal,
}

impl Registry {
    pub(crate) fn new(limit: usize) -> Self {
        Self { slots: Mutex::default(), limit }
    }

    /// Returns an open session.
    ///
    /// # Errors
    ///
    /// When it is not open, or a request owns its slot.
    pub(crate) fn session(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        let slots = self.slots();
        match slots.get(id) {
            Some(Slot { owner: Some(_), .. }) => Err(busy(id, "it is being opened or closed")),
            Some(Slot { session: Some(session), .. }) => Ok(session.clone()),
            _ => Err(not_open(id)),
        }
    }

    /// Returns an open session, even while a request owns its slot.
    pub(crate) fn peek(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.slots().get(id)?.session.clone()
    }

    /// Takes the slot of a session, for a request that opens it.
    ///
    /// # Errors
    ///
    /// When another request owns the slot, a turn runs in the session, or too many sessions are open.
    pub(crate) fn acquire(&self, id: &SessionId) -> Result<SlotGuard<'_>, Error> {
        let mut slots = self.slots();
        match slots.get(id) {
            Some(Slot { owner: Some(_), .. }) => {
                return Err(busy(id, "it is being opened or closed"));
            }
            Some(Slot { session: Some(session), .. }) if session.is_busy() => {
                return Err(busy(id, "a prompt runs in it"));
            }
            None if slots.len() >= self.limit => {
                let why =
                    format!("no more than {} sessions can be open at once; close one first", self.limit);
                return Err(Error::invalid_request(why));
            }
            _ => {}
        }
        Ok(self.guard(&mut slots, id))
    }

    /// Takes the slot of a session, for a request that closes or deletes it. Aborts a request that owns the slot, and waits for
    /// it to end.
    pub(crate) async fn take_over(&self, id: &SessionId) -> SlotGuard<'_> {
        let mut has_aborted = false;
        loop {
            let released = {
                let mut slots = self.slots();
                match slots.get(id).and_then(|slot| slot.owner.as_ref()) {
                    None => {
                        let mut guard = self.guard(&mut slots, id);
                        guard.has_aborted = has_aborted;
                        return guard;
                    }
                    Some(owner) => {
                        let owner = owner.clone();
                        drop(slots);
                        has_aborted |= owner.abort.set();
                        owner.released
                    }
                }
            };
            released.wait().await;
        }
    }

    /// Empties the registry and returns the sessions that were open, with their claims.
    pub(crate) fn drain(&self) -> Vec<(Arc<Session>, Option<Arc<Claim>>)> {
        self.slots().drain().filter_map(|(_, slot)| Some((slot.session?, slot.claim))).collect()
    }

    fn guard(&self, slots: &mut HashMap<SessionId, Slot>, id: &SessionId) -> SlotGuard<'_> {
        let slot = slots.entry(id.clone()).or_default();
        let owner = slot.owner.insert(Owner::default()).clone();
        SlotGuard {
            registry: self,
            id: id.clone(),
            abort: owner.abort,
            has_aborted: false,
            previous: slot.session.clone(),
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SessionId, Slot>> {
        self.slots.lock()
    }
}

/// The ownership of a slot. No other request can use the slot until this is dropped.
#[derive(Debug)]
pub(crate) struct SlotGuard<'a> {
    registry: &'a Registry,
    id: SessionId,
    /// Set when the request that owns the slot must give it up.
    pub(crate) abort: Signal,
    /// Whether this request has aborted another one that owned the slot.
    pub(crate) has_aborted: bool,
    /// The session that was in the slot.
    pub(crate) previous: Option<Arc<Session>>,
}

impl SlotGuard<'_> {
    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the claim on the session, if the connection has one.
    pub(crate) fn claim(&self) -> Option<Arc<Claim>> {
        self.registry.slots().get(&self.id)?.claim.clone()
    }

    /// Keeps a claim for as long as the slot has an owner or a session.
    pub(crate) fn set_claim(&self, claim: Claim) {
        self.registry.slots().entry(self.id.clone()).or_default().claim = Some(Arc::new(claim));
    }

    /// Puts a session into the slot, in place of the previous one.
    pub(crate) fn put(&self, session: Arc<Session>) {
        self.registry.slots().entry(self.id.clone()).or_default().session = Some(session);
    }

    /// Removes the session from the slot.
    pub(crate) fn clear(&self) {
        self.registry.slots().entry(self.id.clone()).or_default().session = None;
    }
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        let mut slots = self.registry.slots();
        let Some(slot) = slots.get_mut(&self.id) else { return };
        let owner = slot.owner.take();
        let removed = if slot.session.is_none() { slots.remove(&self.id) } else { None };
        drop(slots);
        // Outside of the lock: a claim comes from the store, whose destructor may do anything.
        drop(removed);
        if let Some(owner) = owner {
            owner.released.set();
        }
    }
}
