//! The sessions of other nodes that are being loaded.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_store::SessionId;
use agentwire_sync::{Monitor, Mutex};

use crate::server::Principal;
use crate::server::quota::{Quota, QuotaExceeded};
use crate::server::session_table::NoSession;

/// The sessions that are being loaded. Requests of one session wait for one load.
#[derive(Debug)]
pub(crate) struct Loads {
    pub(crate) open: Mutex<HashMap<Key, Loading>>,
    /// Counts the loads.
    pub(crate) places: Quota,
    /// Counts the requests that wait for a place.
    pub(crate) waiting: Quota,
}

/// Another principal finds no session, and makes nobody else find none.
pub(crate) type Key = (SessionId, Option<Principal>);

/// The result of a load, once there is one.
pub(crate) type Loading = Arc<Monitor<Option<Result<(), NotLoaded>>>>;

/// Why a session is not loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotLoaded {
    /// There is none, or it is another principal's, or the service refuses to continue it.
    Unknown,
    Store,
    /// There is no room for another session.
    Full(NoSession),
    /// There is no room for its record.
    TooLarge(QuotaExceeded),
    /// The service has not continued it in time.
    Late,
    Unserved,
}

/// One caller has up to this part of the places: ids that are made up cost a look at the store each.
const CALLER_SHARE: usize = 8;

/// So many requests may wait for each place.
const WAITING: usize = 16;

impl Loads {
    pub(crate) fn new(limit: usize) -> Self {
        let of_caller = (limit / CALLER_SHARE).max(1);
        let places = Quota::new(limit, of_caller);
        Self { open: Mutex::default(), places, waiting: Quota::new(limit * WAITING, of_caller * WAITING) }
    }
}
