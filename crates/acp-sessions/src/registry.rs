//! The sessions that are open on one connection.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{SessionId, error_code};
use agentwire_sync::{Mutex, MutexGuard};

use crate::session::{Session, busy};
use crate::signal::Signal;
use crate::store::Claim;

/// Which sessions are open, and who is about to open, close or delete one.
#[derive(Debug)]
pub(crate) struct Registry {
    slots: Mutex<HashMap<SessionId, Slot>>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Slot {
    session: Option<Arc<Session>>,
    occupant: Option<Occupant>,
    /// Keeps the other connections out.
    claim: Option<Arc<Claim>>,
}

#[derive(Clone, Debug, Default)]
struct Occupant {
    abort: Signal,
    over: Signal,
}

impl Registry {
    pub(crate) fn new(limit: usize) -> Self {
        Self { slots: Mutex::default(), limit }
    }

    /// An open session that nobody is about to change.
    ///
    /// # Errors
    ///
    /// When it is not open, or somebody is.
    pub(crate) fn session(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        let slots = self.slots();
        match slots.get(id) {
            Some(Slot { occupant: Some(_), .. }) => Err(busy(id, "it is being opened or closed")),
            Some(Slot { session: Some(session), .. }) => Ok(session.clone()),
            _ => Err(not_open(id)),
        }
    }

    /// An open session, whoever is about to do what with it.
    pub(crate) fn peek(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.slots().get(id)?.session.clone()
    }

    /// Takes the place of a session that nobody works with, to open it.
    ///
    /// # Errors
    ///
    /// When somebody does, or too many are open.
    pub(crate) fn occupy(&self, id: &SessionId) -> Result<Occupied<'_>, Error> {
        let mut slots = self.slots();
        match slots.get(id) {
            Some(Slot { occupant: Some(_), .. }) => {
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
        Ok(self.take(&mut slots, id))
    }

    /// Takes the place of a session to end it: whoever is opening it is stopped first.
    pub(crate) async fn take_over(&self, id: &SessionId) -> Occupied<'_> {
        let mut stopped = false;
        loop {
            let over = {
                let mut slots = self.slots();
                match slots.get(id).and_then(|slot| slot.occupant.as_ref()) {
                    None => {
                        let mut occupied = self.take(&mut slots, id);
                        occupied.stopped = stopped;
                        return occupied;
                    }
                    Some(occupant) => {
                        let occupant = occupant.clone();
                        drop(slots);
                        stopped |= occupant.abort.set();
                        occupant.over
                    }
                }
            };
            over.wait().await;
        }
    }

    /// All that are open, which then are not. Nobody else has one of them before its claim is dropped.
    pub(crate) fn drain(&self) -> Vec<(Arc<Session>, Option<Arc<Claim>>)> {
        self.slots().drain().filter_map(|(_, slot)| Some((slot.session?, slot.claim))).collect()
    }

    fn take(&self, slots: &mut HashMap<SessionId, Slot>, id: &SessionId) -> Occupied<'_> {
        let slot = slots.entry(id.clone()).or_default();
        let occupant = slot.occupant.insert(Occupant::default()).clone();
        Occupied {
            registry: self,
            id: id.clone(),
            abort: occupant.abort,
            stopped: false,
            before: slot.session.clone(),
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SessionId, Slot>> {
        self.slots.lock()
    }
}

/// An error for who asks for a session that is not open.
pub(crate) fn not_open(id: &SessionId) -> Error {
    let why = format!("the session {id} is not open: begin, load or resume it first");
    Error::new(error_code::RESOURCE_NOT_FOUND, why)
}

/// The place of a session, which nobody else can use until this is dropped.
#[derive(Debug)]
pub(crate) struct Occupied<'a> {
    registry: &'a Registry,
    id: SessionId,
    /// Set when whoever occupies it is to give up.
    pub(crate) abort: Signal,
    /// Whether somebody who was opening the session, or closing it, was asked to give up.
    pub(crate) stopped: bool,
    /// The session that was there.
    pub(crate) before: Option<Arc<Session>>,
}

impl Occupied<'_> {
    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    /// What keeps the other connections out, if anything does.
    pub(crate) fn claim(&self) -> Option<Arc<Claim>> {
        self.registry.slots().get(&self.id)?.claim.clone()
    }

    /// Keeps the other connections out for as long as this place is occupied or has a session.
    pub(crate) fn hold(&self, claim: Claim) {
        self.registry.slots().entry(self.id.clone()).or_default().claim = Some(Arc::new(claim));
    }

    /// Puts a session there instead of the one before.
    pub(crate) fn put(&self, session: Arc<Session>) {
        self.registry.slots().entry(self.id.clone()).or_default().session = Some(session);
    }

    /// From now on there is no session.
    pub(crate) fn clear(&self) {
        self.registry.slots().entry(self.id.clone()).or_default().session = None;
    }
}

impl Drop for Occupied<'_> {
    fn drop(&mut self) {
        let mut slots = self.registry.slots();
        let Some(slot) = slots.get_mut(&self.id) else { return };
        let occupant = slot.occupant.take();
        let left = if slot.session.is_none() { slots.remove(&self.id) } else { None };
        drop(slots);
        // A claim is the store's, and may do anything when it is dropped.
        drop(left);
        if let Some(occupant) = occupant {
            occupant.over.set();
        }
    }
}
