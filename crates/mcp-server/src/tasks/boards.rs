use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_peer::{Clock, TokioClock};
use agentwire_sync::{Mutex, MutexGuard};

use super::board::Board;
use crate::listeners::Listeners;
use crate::quota::{Holder, Limits, Quota, QuotaExceeded, Share};

/// The tasks that run in this process, and how many there may be.
#[derive(Default)]
pub(crate) struct Boards {
    here: Mutex<Here>,
    /// Those who hear when a task changes.
    listeners: Listeners,
    /// How many are kept, and whose they are.
    quota: Quota,
    /// How many bytes they take.
    bytes: Quota,
}

#[derive(Default)]
struct Here {
    running: HashMap<String, Arc<Board>>,
    /// Every task that was made here and whose time is not over, be it done or not.
    kept: HashMap<String, Place>,
    /// Records that nobody asks for any more, to be forgotten by the store.
    stale: HashSet<String>,
}

struct Place {
    /// The session that it ends with.
    session: Option<String>,
    expiry: Option<Instant>,
    _share: Share,
    bytes: Share,
}

/// A task for which there should be a place.
pub(crate) struct NewTask<'a> {
    pub(crate) id: &'a str,
    /// The session that it ends with.
    pub(crate) session: Option<&'a str>,
    pub(crate) ttl: Option<Duration>,
    /// How many bytes its arguments take.
    pub(crate) bytes: usize,
}

/// Why there is no place for a task.
pub(crate) enum NoPlace {
    TooMany(QuotaExceeded),
    TooManyBytes(QuotaExceeded),
}

impl Here {
    /// Gives up the places of tasks whose time is over. One that still runs leaves by itself as soon as it notices; of one
    /// whose future was dropped the board is still here.
    fn expire(&mut self, now: Instant) {
        let Self { running, kept, .. } = self;
        kept.retain(|id, place| {
            let stays = place.expiry.is_none_or(|expiry| expiry > now)
                || running.get(id).is_some_and(|board| !board.is_over());
            if !stays {
                running.remove(id);
            }
            stays
        });
    }
}

impl Boards {
    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// Takes a place for one more task of that client, unless a limit leaves no room for it.
    pub(crate) fn reserve(
        &self,
        task: &NewTask<'_>,
        holder: &Holder,
        limits: Limits,
        byte_limits: Limits,
    ) -> Result<(), NoPlace> {
        let now = TokioClock::default().now();
        let take = || {
            let share = self.quota.take(holder.clone(), 1, limits).map_err(NoPlace::TooMany)?;
            let bytes = self.bytes.take(holder.clone(), task.bytes, byte_limits);
            Ok((share, bytes.map_err(NoPlace::TooManyBytes)?))
        };
        let (share, bytes) = take().or_else(|_full| {
            self.lock().expire(now);
            take()
        })?;
        let place = Place {
            session: task.session.map(str::to_owned),
            expiry: task.ttl.and_then(|ttl| now.checked_add(ttl)),
            _share: share,
            bytes,
        };
        let replaced = self.lock().kept.insert(task.id.to_owned(), place);
        drop(replaced);
        Ok(())
    }

    /// A task takes as many bytes from now on, unless a limit leaves no room for them: then it takes none.
    pub(crate) fn resize(&self, id: &str, bytes: usize, limits: Limits) -> Result<(), QuotaExceeded> {
        let mut here = self.lock();
        // Nothing is kept of one that has no place any more.
        let Some(place) = here.kept.get_mut(id) else { return Ok(()) };
        place.bytes.shrink(usize::MAX);
        if place.bytes.grow(bytes, limits).is_ok() {
            return Ok(());
        }
        here.expire(TokioClock::default().now());
        here.kept.get_mut(id).map_or(Ok(()), |place| place.bytes.grow(bytes, limits))
    }

    /// It runs.
    pub(crate) fn add(&self, board: &Arc<Board>) {
        self.lock().running.insert(board.id().to_owned(), board.clone());
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Board>> {
        self.lock().running.get(id).cloned()
    }

    /// It runs no more, and whoever wants to know of it asks the store.
    pub(crate) fn remove(&self, id: &str) {
        let removed = self.lock().running.remove(id);
        drop(removed);
    }

    /// Nothing of it is kept: its place is free.
    pub(crate) fn release(&self, id: &str) {
        self.lock().kept.remove(id);
        self.remove(id);
    }

    /// Nobody asks for its record any more.
    pub(crate) fn abandon(&self, id: &str) {
        self.release(id);
        self.lock().stale.insert(id.to_owned());
    }

    pub(crate) fn is_stale(&self, id: &str) -> bool {
        self.lock().stale.contains(id)
    }

    /// The store has been asked to forget it.
    pub(crate) fn forget(&self, id: &str) {
        self.lock().stale.remove(id);
    }

    /// Whether there are any that were made here.
    pub(crate) fn has_any(&self) -> bool {
        !self.lock().kept.is_empty()
    }

    /// One of those that the store may forget.
    pub(crate) fn take_stale(&self) -> Option<String> {
        let mut here = self.lock();
        let id = here.stale.iter().next()?.clone();
        here.stale.take(&id)
    }

    /// All that run now.
    pub(crate) fn all(&self) -> Vec<Arc<Board>> {
        self.lock().running.values().cloned().collect()
    }

    /// A session is over, and with it what belongs to it.
    pub(crate) fn end_session(&self, session: &str) {
        let mut here = self.lock();
        let belongs = |place: &Place| place.session.as_deref() == Some(session);
        let ids: Vec<_> =
            here.kept.iter().filter(|(_, place)| belongs(place)).map(|(id, _)| id.clone()).collect();
        let boards: Vec<_> = ids.iter().filter_map(|id| here.running.remove(id)).collect();
        for id in ids {
            here.kept.remove(&id);
            here.stale.insert(id);
        }
        drop(here);
        for board in boards {
            board.cancel("the session is over");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Here> {
        self.here.lock()
    }
}
