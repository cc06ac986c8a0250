//! Exclusive claims on sessions.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::Mutex;

use super::StoreError;

/// A claim on a session, which lasts until this is dropped; see [`SessionStore::claim`](super::SessionStore::claim).
///
/// The default claim is not exclusive.
#[derive(Default)]
#[must_use = "a claim lasts until it is dropped"]
pub struct Claim(Option<Box<dyn Send + Sync>>);

impl Claim {
    /// Returns a claim that owns a guard, whose destructor ends the claim.
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("is_exclusive", &self.0.is_some()).finish()
    }
}

/// The claimed sessions of a store that only this process uses. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<HashSet<SessionId>>>);

impl Claims {
    /// Returns an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Claims a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where it is claimed already.
    pub fn claim(&self, session_id: &SessionId) -> Result<Claim, StoreError> {
        let mut claimed = self.0.lock();
        if !claimed.insert(session_id.clone()) {
            return Err(StoreError::in_use(session_id));
        }
        Ok(Claim::new(ClaimGuard { claims: self.clone(), session_id: session_id.clone() }))
    }

    /// Returns whether a session is claimed.
    pub fn is_claimed(&self, session_id: &SessionId) -> bool {
        self.0.lock().contains(session_id)
    }
}

struct ClaimGuard {
    claims: Claims,
    session_id: SessionId,
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        self.claims.0.lock().remove(&self.session_id);
    }
}
