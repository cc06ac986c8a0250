//! The programs that a run starts: how many run at a time, which ended by themselves, and what ends them with the suite.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::watchdog::Watchdog;
use crate::settings::config::Config;
use crate::subject::Target;
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop};

/// How long the last words of a program that has ended may take to arrive.
pub(crate) const STDERR_TIME: Duration = Duration::from_millis(100);
/// How long a killed program may take to end before the next one starts.
const END_TIME: Duration = Duration::from_secs(10);
/// How many times as long as the slowest start so far another one may take.
const STARTS: u32 = 4;
/// The least that a start may take, once another one is known.
const LEAST_START: Duration = Duration::from_secs(10);
/// The most different last words that are counted.
const MAX_WORDS: usize = 100;

/// The programs that a run starts. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Processes(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Its one permit is that of the only program which may run. `None` if several may.
    alone: Option<Arc<Semaphore>>,
    /// How many programs a check still uses.
    used: AtomicUsize,
    conversations: AtomicUsize,
    /// The longest time in milliseconds that a program took for its first line.
    start: AtomicU64,
    ended: AtomicUsize,
    /// How many programs ended before they had sent a message, while a check waited for one.
    unstarted: AtomicUsize,
    /// How often each line was the last on standard error.
    words: Mutex<BTreeMap<String, usize>>,
    watchdog: Option<Watchdog>,
}

/// How often a program ended by itself while the suite still used it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EarlyEnds {
    /// The conversations for which the program was started.
    pub conversations: usize,
    /// Those in which it ended by itself.
    pub ended: usize,
    /// Its most frequent last line on standard error, if it wrote any.
    pub last_words: Option<String>,
}

/// The place of one program among those of a run. Dropped when the program has ended.
#[derive(Debug)]
pub(super) struct Place {
    processes: Processes,
    _permit: Option<OwnedSemaphorePermit>,
    group: i32,
    /// The program's own, which is removed with its place.
    _folder: Option<TempDir>,
}

impl Processes {
    /// With one job, one program runs at a time.
    pub(crate) fn new(config: &Config) -> Self {
        let is_started = matches!(config.target, Target::Command(_));
        let watchdog = config.stand_in.as_ref().filter(|_| is_started).and_then(Watchdog::start);
        let alone = (config.jobs.get() == 1).then(|| Arc::new(Semaphore::new(1)));
        Self(Arc::new(Inner { alone, watchdog, ..Inner::default() }))
    }

    /// Waits until another program may start. Fails if the check itself still uses one, and only one may run.
    pub(super) async fn permit(&self) -> Outcome<Option<OwnedSemaphorePermit>> {
        let Some(alone) = &self.0.alone else { return Ok(None) };
        if self.0.used.load(Ordering::Relaxed) > 0 {
            let why = "the check needs two programs at a time, and --jobs 1 lets one run";
            return Err(Stop::not_applicable(why));
        }
        match tokio::time::timeout(END_TIME, Arc::clone(alone).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(Stop::inconclusive("the program before was killed and has not ended")),
        }
    }

    /// The place of a program that has started and leads a process group.
    pub(super) fn place(
        &self,
        permit: Option<OwnedSemaphorePermit>,
        group: Option<u32>,
        folder: Option<TempDir>,
    ) -> Place {
        self.0.used.fetch_add(1, Ordering::Relaxed);
        let group = group.and_then(|group| i32::try_from(group).ok()).unwrap_or_default();
        if let Some(watchdog) = &self.0.watchdog {
            watchdog.add(group);
        }
        Place { processes: self.clone(), _permit: permit, group, _folder: folder }
    }

    /// Counts a program that was started for a conversation.
    pub(super) fn count(&self) {
        self.0.conversations.fetch_add(1, Ordering::Relaxed);
    }

    /// Remembers how long a program took for its first line. Later lines, which take longer, count for nothing.
    pub(super) fn learn_start(&self, time: Duration, is_known: &mut bool) {
        if !std::mem::replace(is_known, true) {
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            self.0.start.fetch_max(time.max(1), Ordering::Relaxed);
        }
    }

    /// How long the next program may take for its first message: `most` until one has started, then several times as long as the
    /// slowest.
    pub(crate) fn start_time(&self, most: Duration) -> Duration {
        match self.0.start.load(Ordering::Relaxed) {
            0 => most,
            known => (Duration::from_millis(known) * STARTS).clamp(LEAST_START.min(most), most),
        }
    }

    /// Counts a program that has ended by itself.
    pub(super) async fn count_end(&self, trace: &Trace) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
        // The line may come after the end of its standard output.
        tokio::time::sleep(STDERR_TIME / 2).await;
        let Some(line) = trace.last_error_line() else { return };
        let mut words = self.0.words.lock().unwrap_or_else(PoisonError::into_inner);
        if words.len() < MAX_WORDS || words.contains_key(&line) {
            *words.entry(line).or_default() += 1;
        }
    }

    /// Counts a program that ended before it had sent a message.
    pub(crate) fn count_unstarted(&self) {
        self.0.unstarted.fetch_add(1, Ordering::Relaxed);
    }

    /// How many programs ended before they had sent a message.
    pub(crate) fn unstarted(&self) -> usize {
        self.0.unstarted.load(Ordering::Relaxed)
    }

    /// How often the program ended by itself. `None` if it never did.
    pub(crate) fn early_ends(&self) -> Option<EarlyEnds> {
        let Inner { conversations, ended, words, .. } = &*self.0;
        let (conversations, ended) = (conversations.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
        let words = words.lock().unwrap_or_else(PoisonError::into_inner);
        let last_words = words.iter().max_by_key(|(_, count)| **count).map(|(line, _)| line.clone());
        (ended > 0).then_some(EarlyEnds { conversations, ended, last_words })
    }
}

impl Place {
    /// The check does not use the program any more; it may still run.
    pub(super) fn leave(&mut self) {
        self.processes.0.used.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(watchdog) = &self.processes.0.watchdog {
            watchdog.remove(self.group);
        }
    }
}
