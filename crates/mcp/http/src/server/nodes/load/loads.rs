//! Tracks the sessions that are being loaded, and limits the loads at the same time in total and for each caller.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use agentwire_store::SessionId;
use agentwire_sync::{Monitor, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::server::admission::quota::{Quota, QuotaExceeded};
use crate::server::session::session_table::NoSession;
use crate::server::{Caller, Principal};

/// The sessions that are being loaded. Requests of one session wait for one load.
#[derive(Debug)]
pub(crate) struct Loads {
    pub(crate) open: Mutex<HashMap<Key, LoadResult>>,
    pub(crate) places: Places,
    /// Limits the requests that wait for a place.
    pub(crate) waiting: Quota,
}

/// The principal is part of the key: a load for the wrong principal fails, and must not fail the load of the owner.
pub(crate) type Key = (SessionId, Option<Principal>);

/// The result of a load. `None` while it runs.
pub(crate) type LoadResult = Arc<Monitor<Option<Result<(), NotLoaded>>>>;

/// The reason why a session was not loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotLoaded {
    /// There is no such session, it belongs to another principal, or the service refuses to continue it.
    Unknown,
    /// The store failed.
    Store,
    /// There is no room for another session.
    Full(NoSession),
    /// There is no room for its record.
    TooLarge(QuotaExceeded),
    /// The service has not answered the replayed messages in time.
    Late,
    /// The endpoint accepts no new sessions, because nothing serves their connections.
    Unserved,
}

/// The places for loads. Waiting requests get a place in the order in which they came; those of one caller do not delay those of
/// others.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) limit: usize,
    all: Arc<Semaphore>,
    callers: Mutex<Callers>,
}

/// The places of each caller that has one or waits for one.
#[derive(Debug, Default)]
struct Callers {
    places: BTreeMap<Caller, Weak<Semaphore>>,
    /// The number of callers at which those without a place are forgotten.
    sweep_at: usize,
}

/// One of the places of all callers, and one of the caller's own if the caller is known. Dropping it frees both.
#[derive(Debug)]
pub(crate) struct LoadPlace {
    _of_caller: Option<OwnedSemaphorePermit>,
    _of_all: OwnedSemaphorePermit,
}

/// One caller gets up to this part of the places: each made-up id costs a read of the store.
const CALLER_SHARE: usize = 8;

/// Up to this many callers stay remembered without a place.
const REMEMBERED: usize = 64;

impl Loads {
    /// `waiting` limits the requests that wait for a place.
    pub(crate) fn new(limit: usize, waiting: Quota) -> Self {
        let all = Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
        Self { open: Mutex::default(), places: Places { limit, all, callers: Mutex::default() }, waiting }
    }
}

impl Places {
    /// Takes a place if one is free and no load waits for it.
    pub(crate) fn try_take(&self, caller: &Caller) -> Option<LoadPlace> {
        let of_caller = match self.of(caller) {
            Some(of_caller) => Some(of_caller.try_acquire_owned().ok()?),
            None => None,
        };
        Some(LoadPlace { _of_caller: of_caller, _of_all: self.all.clone().try_acquire_owned().ok()? })
    }

    /// Waits for a place. Unknown callers have no limit of their own.
    pub(crate) async fn take(&self, caller: &Caller) -> Option<LoadPlace> {
        let of_caller = match self.of(caller) {
            Some(of_caller) => Some(of_caller.acquire_owned().await.ok()?),
            None => None,
        };
        Some(LoadPlace { _of_caller: of_caller, _of_all: self.all.clone().acquire_owned().await.ok()? })
    }

    fn of(&self, caller: &Caller) -> Option<Arc<Semaphore>> {
        if *caller == Caller::UNKNOWN {
            return None;
        }
        let mut callers = self.callers.lock();
        if let Some(places) = callers.places.get(caller).and_then(Weak::upgrade) {
            return Some(places);
        }
        if callers.places.len() >= callers.sweep_at {
            callers.places.retain(|_, places| places.strong_count() > 0);
            callers.sweep_at = (callers.places.len() * 2).max(REMEMBERED);
        }
        let of_caller = (self.limit / CALLER_SHARE).clamp(1, Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(of_caller));
        callers.places.insert(caller.clone(), Arc::downgrade(&places));
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_without_a_place_are_forgotten() {
        let places = Loads::new(64, Quota::new(1, 1)).places;
        let callers = (0..=255).map(|number| Caller::at([192, 0, 2, number].into()));
        let first = places.try_take(&Caller::at([192, 0, 2, 0].into())).unwrap();
        for caller in callers {
            let held: Vec<_> = (0..8).map_while(|_| places.try_take(&caller)).collect();
            let had = usize::from(caller == Caller::at([192, 0, 2, 0].into()));
            assert_eq!(held.len(), 8 - had);
            assert!(places.try_take(&caller).is_none());
            assert!(places.callers.lock().places.len() <= REMEMBERED);
        }
        drop(first);
        assert_eq!(places.all.available_permits(), 64);
    }
}
