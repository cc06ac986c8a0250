//! The locks of a store on its sessions, which exclude all other stores.
//!
//! A session is locked by a lock on a file of its own, which exists only while the session is locked. Within the store
//! the claim on the session and the calls that use its files share the lock. When the lock is released, the store drops
//! its state of the files, because other stores may change them from then on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agentwire_acp_schema::v1::SessionId;
use agentwire_files::LockFile;
use agentwire_sync::Mutex;

use super::directory::Directory;
use super::name;
use super::session::Files;
use crate::{Claim, StoreError};

/// How often to try to get a lock that another store has, and the pause in between. A store that only recovers the files, or
/// is about to end, releases the lock within that time.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// The sessions that are locked, by their ids.
pub(super) struct Locks {
    directory: Arc<Directory>,
    sessions: Mutex<HashMap<SessionId, LockState>>,
}

struct LockState {
    /// Released when this is dropped.
    _lock: Box<dyn LockFile>,
    files: Arc<tokio::sync::Mutex<Files>>,
    /// How many [`LockHandle`]s there are.
    handles: usize,
    is_claimed: bool,
    /// Whether the session stays locked without handles and claim.
    is_kept: bool,
}

impl Locks {
    pub(super) fn new(directory: Arc<Directory>) -> Arc<Self> {
        Arc::new(Self { directory, sessions: Mutex::default() })
    }

    /// Returns a handle to a session that is locked already.
    pub(super) fn get(self: &Arc<Self>, session_id: &SessionId) -> Option<LockHandle> {
        let mut sessions = self.sessions.lock();
        let session = sessions.get_mut(session_id)?;
        Some(self.handle(session_id, session))
    }

    /// Locks a session at least until the handle is dropped. Blocks for up to 0.2 s where another store has it.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where another store keeps it; [`StoreError::Id`].
    pub(super) fn lock(self: &Arc<Self>, session_id: &SessionId) -> Result<LockHandle, StoreError> {
        retry(|| self.try_lock(session_id))
    }

    /// As [`lock`](Self::lock), without blocking.
    pub(super) fn try_lock(self: &Arc<Self>, session_id: &SessionId) -> Result<LockHandle, StoreError> {
        self.with(session_id, |session| Ok(self.handle(session_id, session)))
    }

    /// Locks a session and claims it.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where it is claimed already, at this store or another; [`StoreError::Id`].
    pub(super) fn claim(self: &Arc<Self>, session_id: &SessionId) -> Result<Claim, StoreError> {
        let claim = || {
            self.with(session_id, |session| {
                if session.is_claimed {
                    return Err(StoreError::in_use(session_id));
                }
                session.is_claimed = true;
                Ok(())
            })
        };
        // A claim at this store lasts longer than a retry would wait.
        if self.sessions.lock().get(session_id).is_some_and(|session| session.is_claimed) {
            return Err(StoreError::in_use(session_id));
        }
        retry(claim)?;
        Ok(Claim::new(ClaimGuard { locks: Arc::clone(self), session_id: session_id.clone() }))
    }

    fn with<T>(
        &self,
        session_id: &SessionId,
        work: impl FnOnce(&mut LockState) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut sessions = self.sessions.lock();
        match sessions.entry(session_id.clone()) {
            Entry::Occupied(mut session) => work(session.get_mut()),
            Entry::Vacant(session) => {
                let stem = name::stem(session_id)?;
                let lock = self.directory.try_lock(&stem)?.ok_or_else(|| StoreError::in_use(session_id))?;
                let files = Files::new(Arc::clone(&self.directory), session_id.clone(), stem);
                let files = Arc::new(tokio::sync::Mutex::new(files));
                work(session.insert(LockState {
                    _lock: lock,
                    files,
                    handles: 0,
                    is_claimed: false,
                    is_kept: false,
                }))
            }
        }
    }

    fn handle(self: &Arc<Self>, session_id: &SessionId, session: &mut LockState) -> LockHandle {
        session.handles += 1;
        let (session_id, files) = (session_id.clone(), Arc::clone(&session.files));
        LockHandle { locks: Arc::clone(self), session_id, files }
    }

    /// Changes the state of a lock, and releases the lock if it has no handle and no claim and is not kept.
    fn change(&self, session_id: &SessionId, change: impl FnOnce(&mut LockState)) {
        let mut sessions = self.sessions.lock();
        let Some(session) = sessions.get_mut(session_id) else { return };
        change(session);
        if session.handles == 0 && !session.is_claimed && !session.is_kept {
            sessions.remove(session_id);
        }
    }
}

impl fmt::Debug for Locks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locks").field("directory", &self.directory).finish_non_exhaustive()
    }
}

fn retry<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    for _ in 1..ATTEMPTS {
        match work() {
            Err(StoreError::InUse { .. }) => thread::sleep(PAUSE),
            result => return result,
        }
    }
    work()
}

/// Keeps a session locked until this is dropped.
#[derive(Debug)]
pub(super) struct LockHandle {
    locks: Arc<Locks>,
    session_id: SessionId,
    pub(super) files: Arc<tokio::sync::Mutex<Files>>,
}

impl LockHandle {
    /// Keeps the session locked until the claim on it ends or, without a claim, the store is dropped. So an append without
    /// a claim need not read the journal each time.
    pub(super) fn keep(&self) {
        self.locks.change(&self.session_id, |session| session.is_kept = true);
    }

    /// Reverts [`keep`](Self::keep).
    pub(super) fn release(&self) {
        self.locks.change(&self.session_id, |session| session.is_kept = false);
    }
}

impl Drop for LockHandle {
    fn drop(&mut self) {
        self.locks.change(&self.session_id, |session| session.handles -= 1);
    }
}

struct ClaimGuard {
    locks: Arc<Locks>,
    session_id: SessionId,
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        self.locks.change(&self.session_id, |session| (session.is_claimed, session.is_kept) = (false, false));
    }
}
