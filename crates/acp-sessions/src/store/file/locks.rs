//! The sessions that a store has locked against all other stores.
//!
//! A session is locked by a lock on a file of its own, which is there only as long as it is locked. Within the store it is
//! shared by the claim on the session and the calls that are at work on its files. What is known of the files is forgotten
//! when the lock is given back, because others may change them from then on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::Mutex;

use super::directory::Directory;
use super::name;
use super::session::Files;
use super::system::LockFile;
use crate::{Claim, StoreError};

/// How often, and how long in between, to try for a lock that another store has. One that only tidies up, or is about to end,
/// gives it back within that time.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// The sessions that are locked, by their ids.
pub(super) struct Locks {
    directory: Arc<Directory>,
    sessions: Mutex<HashMap<SessionId, Locked>>,
}

struct Locked {
    /// Given back when this is dropped.
    _lock: Box<dyn LockFile>,
    files: Arc<tokio::sync::Mutex<Files>>,
    /// How many [`Held`] there are.
    users: usize,
    claimed: bool,
    /// Whether it stays locked without users and claim.
    kept: bool,
}

impl Locks {
    pub(super) fn new(directory: Arc<Directory>) -> Arc<Self> {
        Arc::new(Self { directory, sessions: Mutex::default() })
    }

    /// A session, if it is locked already.
    pub(super) fn held(self: &Arc<Self>, session_id: &SessionId) -> Option<Held> {
        let mut sessions = self.sessions.lock();
        let session = sessions.get_mut(session_id)?;
        Some(self.hold(session_id, session))
    }

    /// Locks a session, for as long as the value lives at least. Blocks for a moment where another store has it.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where another store keeps it; [`StoreError::Id`].
    pub(super) fn lock(self: &Arc<Self>, session_id: &SessionId) -> Result<Held, StoreError> {
        patiently(|| self.try_lock(session_id))
    }

    /// The same, without waiting.
    pub(super) fn try_lock(self: &Arc<Self>, session_id: &SessionId) -> Result<Held, StoreError> {
        self.with(session_id, |session| Ok(self.hold(session_id, session)))
    }

    /// Locks a session for somebody who is to be alone with it.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where somebody else has claimed it, here or at another store; [`StoreError::Id`].
    pub(super) fn claim(self: &Arc<Self>, session_id: &SessionId) -> Result<Claim, StoreError> {
        let claimed = || {
            self.with(session_id, |session| {
                if session.claimed {
                    return Err(StoreError::in_use(session_id));
                }
                session.claimed = true;
                Ok(())
            })
        };
        // Whoever has claimed it here keeps it for longer than is waited.
        if self.sessions.lock().get(session_id).is_some_and(|session| session.claimed) {
            return Err(StoreError::in_use(session_id));
        }
        patiently(claimed)?;
        Ok(Claim::new(Claimed { locks: Arc::clone(self), session_id: session_id.clone() }))
    }

    fn with<T>(
        &self,
        session_id: &SessionId,
        work: impl FnOnce(&mut Locked) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut sessions = self.sessions.lock();
        match sessions.entry(session_id.clone()) {
            Entry::Occupied(mut session) => work(session.get_mut()),
            Entry::Vacant(session) => {
                let stem = name::stem(session_id)?;
                let lock = self.directory.lock(&stem)?.ok_or_else(|| StoreError::in_use(session_id))?;
                let files = Files::new(Arc::clone(&self.directory), session_id.clone(), stem);
                let files = Arc::new(tokio::sync::Mutex::new(files));
                work(session.insert(Locked { _lock: lock, files, users: 0, claimed: false, kept: false }))
            }
        }
    }

    fn hold(self: &Arc<Self>, session_id: &SessionId, session: &mut Locked) -> Held {
        session.users += 1;
        let (session_id, files) = (session_id.clone(), Arc::clone(&session.files));
        Held { locks: Arc::clone(self), session_id, files }
    }

    /// Changes what keeps a session locked, and gives the lock back if nothing does any more.
    fn change(&self, session_id: &SessionId, change: impl FnOnce(&mut Locked)) {
        let mut sessions = self.sessions.lock();
        let Some(session) = sessions.get_mut(session_id) else { return };
        change(session);
        if session.users == 0 && !session.claimed && !session.kept {
            sessions.remove(session_id);
        }
    }
}

impl fmt::Debug for Locks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locks").field("directory", &self.directory).finish_non_exhaustive()
    }
}

fn patiently<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    for _ in 1..ATTEMPTS {
        match work() {
            Err(StoreError::InUse { .. }) => thread::sleep(PAUSE),
            result => return result,
        }
    }
    work()
}

/// A session that is locked as long as this lives.
#[derive(Debug)]
pub(super) struct Held {
    locks: Arc<Locks>,
    session_id: SessionId,
    pub(super) files: Arc<tokio::sync::Mutex<Files>>,
}

impl Held {
    /// Keeps the session locked until the claim on it ends, or the store where there is none: who appends without a claim
    /// need not read the journal before each append.
    pub(super) fn keep(&self) {
        self.locks.change(&self.session_id, |session| session.kept = true);
    }

    /// The contrary.
    pub(super) fn release(&self) {
        self.locks.change(&self.session_id, |session| session.kept = false);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.locks.change(&self.session_id, |session| session.users -= 1);
    }
}

struct Claimed {
    locks: Arc<Locks>,
    session_id: SessionId,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.locks.change(&self.session_id, |session| (session.claimed, session.kept) = (false, false));
    }
}
