//! The sessions of other nodes that are being loaded.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_store::SessionId;
use agentwire_sync::{Monitor, Mutex};

use crate::server::Principal;
use crate::server::session_table::NoSession;

/// The sessions that are being loaded. Requests of one session wait for one load.
#[derive(Debug, Default)]
pub(crate) struct Loads(pub(crate) Mutex<HashMap<Key, Loading>>);

/// Another principal finds no session, and makes nobody else find none.
pub(crate) type Key = (SessionId, Option<Principal>);

/// The result of a load, once there is one.
pub(crate) type Loading = Arc<Monitor<Option<Result<(), NotLoaded>>>>;

/// Why a session is not loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotLoaded {
    /// There is none, or it is another principal's, or the service does not continue it.
    Unknown,
    Store,
    Full(NoSession),
    Unserved,
}
