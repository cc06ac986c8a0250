//! The tasks that run in this process, and the limits on tasks.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agentwire_peer::{Clock, TokioClock};
use agentwire_store::Node;
use agentwire_sync::{Mutex, MutexGuard};

use super::handle::TaskHandle;
use super::record::TaskRun;
use crate::listeners::Listeners;
use crate::quota::{Holder, Limits, Quota, QuotaExceeded, Share};

/// The tasks that run in this process, and the limits on tasks.
#[derive(Default)]
pub(crate) struct TaskRegistry {
    tables: Mutex<TaskTables>,
    /// Notified when a task changes.
    listeners: Listeners,
    /// The state that other nodes share.
    node: OnceLock<Node>,
    /// Counts the kept tasks of each client.
    quota: Quota,
    /// Counts the bytes of the kept tasks of each client.
    bytes: Quota,
}

#[derive(Default)]
struct TaskTables {
    running: HashMap<String, Arc<TaskHandle>>,
    /// Every unexpired task that was created here, running or done.
    kept: HashMap<String, Reservation>,
    /// Records that no client can ask for any more, to be removed from the store.
    stale: HashSet<String>,
}

struct Reservation {
    /// The session that it ends with.
    session: Option<String>,
    expiry: Option<Instant>,
    _share: Share,
    bytes: Share,
}

/// A task for which a place is requested.
pub(crate) struct NewTask<'a> {
    pub(crate) id: &'a str,
    /// The session that it ends with.
    pub(crate) session: Option<&'a str>,
    pub(crate) ttl: Option<Duration>,
    /// How many bytes its arguments take.
    pub(crate) bytes: usize,
}

/// Why a task gets no place.
pub(crate) enum ReserveError {
    TooMany(QuotaExceeded),
    TooManyBytes(QuotaExceeded),
}

impl TaskTables {
    /// Gives up the places of tasks whose time is over. One that still runs leaves by itself as soon as it notices; of one
    /// whose future was dropped the handle is still here.
    fn expire(&mut self, now: Instant) {
        let Self { running, kept, .. } = self;
        kept.retain(|id, reservation| {
            let stays = reservation.expiry.is_none_or(|expiry| expiry > now)
                || running.get(id).is_some_and(|handle| !handle.is_over());
            if !stays {
                running.remove(id);
            }
            stays
        });
    }
}

impl TaskRegistry {
    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// The first node stays.
    pub(crate) fn set_node(&self, node: &Node) {
        self.node.get_or_init(|| node.clone());
    }

    pub(crate) fn node(&self) -> Option<&Node> {
        self.node.get()
    }

    /// The node of a task that begins here.
    pub(crate) fn run(&self) -> Option<TaskRun> {
        self.node().map(|node| TaskRun::new(node.id()))
    }

    /// Takes a place for one more task of that client, unless a limit leaves no room for it.
    pub(crate) fn reserve(
        &self,
        task: &NewTask<'_>,
        holder: &Holder,
        limits: Limits,
        byte_limits: Limits,
    ) -> Result<(), ReserveError> {
        let now = TokioClock::default().now();
        let take = || {
            let share = self.quota.take(holder.clone(), 1, limits).map_err(ReserveError::TooMany)?;
            let bytes = self.bytes.take(holder.clone(), task.bytes, byte_limits);
            Ok((share, bytes.map_err(ReserveError::TooManyBytes)?))
        };
        let (share, bytes) = take().or_else(|_full| {
            self.lock().expire(now);
            take()
        })?;
        let reservation = Reservation {
            session: task.session.map(str::to_owned),
            expiry: task.ttl.and_then(|ttl| now.checked_add(ttl)),
            _share: share,
            bytes,
        };
        let replaced = self.lock().kept.insert(task.id.to_owned(), reservation);
        drop(replaced);
        Ok(())
    }

    /// A task takes as many bytes from now on, unless a limit leaves no room for them: then it takes none.
    pub(crate) fn resize(&self, id: &str, bytes: usize, limits: Limits) -> Result<(), QuotaExceeded> {
        let mut tables = self.lock();
        // Nothing is kept of one that has no place any more.
        let Some(reservation) = tables.kept.get_mut(id) else { return Ok(()) };
        reservation.bytes.shrink(usize::MAX);
        if reservation.bytes.grow(bytes, limits).is_ok() {
            return Ok(());
        }
        tables.expire(TokioClock::default().now());
        tables.kept.get_mut(id).map_or(Ok(()), |reservation| reservation.bytes.grow(bytes, limits))
    }

    /// It runs.
    pub(crate) fn add(&self, handle: &Arc<TaskHandle>) {
        self.lock().running.insert(handle.id().to_owned(), handle.clone());
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<TaskHandle>> {
        self.lock().running.get(id).cloned()
    }

    /// Removes a task that has ended. From now on its state is read from the store.
    pub(crate) fn remove(&self, id: &str) {
        let removed = self.lock().running.remove(id);
        drop(removed);
    }

    /// Frees the place of a task of which nothing is kept.
    pub(crate) fn release(&self, id: &str) {
        self.lock().kept.remove(id);
        self.remove(id);
    }

    /// Marks a record for removal, because no client can ask for it any more.
    pub(crate) fn abandon(&self, id: &str) {
        self.release(id);
        self.lock().stale.insert(id.to_owned());
    }

    pub(crate) fn is_stale(&self, id: &str) -> bool {
        self.lock().stale.contains(id)
    }

    /// Unmarks a record that the store was asked to remove.
    pub(crate) fn forget(&self, id: &str) {
        self.lock().stale.remove(id);
    }

    /// Whether any tasks that were created here are kept.
    pub(crate) fn has_any(&self) -> bool {
        !self.lock().kept.is_empty()
    }

    /// Takes a record that is marked for removal.
    pub(crate) fn take_stale(&self) -> Option<String> {
        let mut tables = self.lock();
        let id = tables.stale.iter().next()?.clone();
        tables.stale.take(&id)
    }

    /// The handles of all running tasks.
    pub(crate) fn all(&self) -> Vec<Arc<TaskHandle>> {
        self.lock().running.values().cloned().collect()
    }

    /// Ends the tasks of a session that has ended.
    pub(crate) fn end_session(&self, session: &str) {
        let mut tables = self.lock();
        let belongs = |reservation: &Reservation| reservation.session.as_deref() == Some(session);
        let ids: Vec<_> = tables
            .kept
            .iter()
            .filter(|(_, reservation)| belongs(reservation))
            .map(|(id, _)| id.clone())
            .collect();
        let registry: Vec<_> = ids.iter().filter_map(|id| tables.running.remove(id)).collect();
        for id in ids {
            tables.kept.remove(&id);
            tables.stale.insert(id);
        }
        drop(tables);
        for handle in registry {
            handle.cancel("the session is over");
        }
    }

    fn lock(&self) -> MutexGuard<'_, TaskTables> {
        self.tables.lock()
    }
}
