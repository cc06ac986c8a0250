use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::Mutex;

use super::StoreError;

/// A session that somebody has for themselves until this is dropped; see [`SessionStore::claim`](super::SessionStore::claim).
///
/// The default is one that keeps nobody out.
#[derive(Default)]
#[must_use = "a claim lasts until it is dropped"]
pub struct Claim(Option<Box<dyn Send + Sync>>);

impl Claim {
    /// A claim that lasts as long as this is not dropped.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self(Some(Box::new(held)))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("keeps_out", &self.0.is_some()).finish()
    }
}

/// The sessions that are claimed, for a store that nobody outside of this process uses. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<HashSet<SessionId>>>);

impl Claims {
    /// Nothing is claimed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Claims a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] where somebody else has it.
    pub fn claim(&self, session_id: &SessionId) -> Result<Claim, StoreError> {
        let mut claimed = self.0.lock();
        if !claimed.insert(session_id.clone()) {
            return Err(StoreError::in_use(session_id));
        }
        Ok(Claim::new(Held { claims: self.clone(), session_id: session_id.clone() }))
    }

    /// Whether somebody has a session.
    pub fn is_claimed(&self, session_id: &SessionId) -> bool {
        self.0.lock().contains(session_id)
    }
}

struct Held {
    claims: Claims,
    session_id: SessionId,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.claims.0.lock().remove(&self.session_id);
    }
}
