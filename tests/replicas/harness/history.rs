//! The record of the clients, and its contradictions of a promise.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A client's knowledge of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It has the result.
    Acknowledged,
    /// The answer was lost, or an error means that the work may be done.
    Unknown,
    /// The answer means that the work is not done.
    Refused,
    /// The client has cancelled it. The work may be done.
    Cancelled,
}

/// The counts of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Count {
    Calls,
    Acknowledged,
    Unknown,
    Interrupted,
    Refused,
    Cancelled,
    Unavailable,
    Resumed,
    CutByClient,
    Replayed,
    WithoutId,
    OfPeers,
    Sessions,
    Subscriptions,
    Changes,
    Tasks,
    TasksFailed,
    Answers,
    Probes,
    LostByEngine,
    NodeKills,
    EngineKills,
    Deployed,
}

/// How strict the promises are in this run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Promises {
    /// The engine may lose what it has acknowledged within the last second before its death.
    pub(crate) engine_loses: bool,
    /// No call fails in any way that its client sees.
    pub(crate) no_failure: bool,
}

/// The record of the clients.
#[derive(Debug, Default)]
pub(crate) struct History {
    promises: Promises,
    state: Mutex<State>,
}

/// For so long after the start no lease has expired before anything was killed, however slow the machine is.
const FIRST: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct State {
    /// When the clients began. `None` if they did not yet.
    started: Option<Instant>,
    /// When the engine was killed, and since when it is there again.
    outages: Vec<(Instant, Option<Instant>)>,
    calls: HashMap<String, Outcome>,
    violations: Vec<String>,
    counts: BTreeMap<Count, u64>,
    longest_gap: Duration,
}

/// The violations that are kept. Further ones are counted.
const VIOLATIONS: usize = 50;

impl History {
    pub(crate) fn new(promises: Promises) -> Self {
        Self { promises, state: Mutex::default() }
    }

    pub(crate) fn promises(&self) -> Promises {
        self.promises
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, count: Count) {
        *self.state().counts.entry(count).or_default() += 1;
    }

    pub(crate) fn counted(&self, count: Count) -> u64 {
        self.state().counts.get(&count).copied().unwrap_or_default()
    }

    /// The clients begin.
    pub(crate) fn start(&self) {
        self.state().started = Some(Instant::now());
    }

    /// The engine is about to be killed.
    pub(crate) fn engine_leaves(&self) {
        self.count(Count::EngineKills);
        self.state().outages.push((Instant::now(), None));
    }

    /// The engine is there again.
    pub(crate) fn engine_is_back(&self) {
        if let Some((_, back)) = self.state().outages.last_mut() {
            *back = Some(Instant::now());
        }
    }

    /// Whether the engine was away at a moment since then.
    pub(crate) fn was_away_since(&self, time: Instant) -> bool {
        self.state().outages.iter().any(|(_, back)| back.is_none_or(|back| back >= time))
    }

    /// Whether the engine may have lost something that it has acknowledged since then.
    pub(crate) fn may_have_lost_since(&self, time: Instant) -> bool {
        self.promises.engine_loses && self.was_away_since(time)
    }

    /// Whether nothing was killed that could end a call.
    fn is_calm(&self) -> bool {
        let is_first = self.state().started.is_some_and(|started| started.elapsed() < FIRST);
        is_first && self.counted(Count::NodeKills) + self.counted(Count::EngineKills) == 0
    }

    /// Of many calls, there are some of each kind that the clients of a revision have; of all revisions where none is named.
    pub(crate) fn check_kinds(&self, revision: Option<&str>) {
        let is_any = |wanted: fn(&str) -> bool| revision.is_none_or(wanted);
        for (count, many, of, is_there) in [
            (Count::Acknowledged, 100, Count::Calls, true),
            (Count::Tasks, 1_000, Count::Calls, is_any(|revision| revision >= "2025-11-25")),
            (Count::Cancelled, 40, Count::Tasks, true),
            (Count::Answers, 500, Count::Calls, is_any(|revision| revision >= "2025-06-18")),
            (Count::Resumed, 20, Count::CutByClient, true),
        ] {
            if is_there && self.counted(of) >= many && self.counted(count) == 0 {
                self.violation(format!("of {} {of:?} there are 0 {count:?}", self.counted(of)));
            }
        }
    }

    /// A promise is broken.
    pub(crate) fn violation(&self, what: impl Into<String>) {
        let mut state = self.state();
        if state.violations.len() < VIOLATIONS {
            state.violations.push(what.into());
        }
    }

    /// Something that was acknowledged is gone.
    pub(crate) fn lost(&self, what: impl Into<String>) {
        if self.promises.engine_loses && self.counted(Count::EngineKills) > 0 {
            self.count(Count::LostByEngine);
        } else {
            self.violation(what);
        }
    }

    /// The outcome of the call with a key. A call has one outcome.
    pub(crate) fn call(&self, key: &str, outcome: Outcome, why: &str) {
        self.count(Count::Calls);
        self.count(match outcome {
            Outcome::Acknowledged => Count::Acknowledged,
            Outcome::Unknown => Count::Unknown,
            Outcome::Refused => Count::Refused,
            Outcome::Cancelled => Count::Cancelled,
        });
        let is_wrong = match outcome {
            Outcome::Unknown => self.promises.no_failure || self.is_calm(),
            Outcome::Refused => self.promises.no_failure,
            Outcome::Acknowledged | Outcome::Cancelled => false,
        };
        if is_wrong {
            self.violation(format!("{key}: failed though no node was killed: {why}"));
        }
        self.state().calls.insert(key.to_owned(), outcome);
    }

    /// Something was not available for so long.
    pub(crate) fn gap(&self, time: Duration) {
        let mut state = self.state();
        state.longest_gap = state.longest_gap.max(time);
    }

    pub(crate) fn longest_gap(&self) -> Duration {
        self.state().longest_gap
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// Compares the calls with what the nodes have done: the keys in their logs.
    pub(crate) fn compare(&self, done: &HashMap<String, u64>) {
        let calls = self.state().calls.clone();
        for (key, times) in done.iter().filter(|(_, times)| **times > 1) {
            self.violation(format!("{key}: done {times} times"));
        }
        for (key, outcome) in calls {
            let times = done.get(&key).copied().unwrap_or_default();
            match outcome {
                Outcome::Acknowledged if times == 0 => {
                    self.violation(format!("{key}: acknowledged, and in no log"));
                }
                Outcome::Refused if times > 0 => self.violation(format!("{key}: refused, and done")),
                _ => (),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(outcome: Outcome, times: u64) -> Vec<String> {
        let history = History::default();
        history.call("k", outcome, "");
        history.compare(&HashMap::from([("k".to_owned(), times)]));
        history.violations()
    }

    #[test]
    fn the_logs_contradict_the_clients() {
        assert_eq!(violations(Outcome::Acknowledged, 0), ["k: acknowledged, and in no log"]);
        assert_eq!(violations(Outcome::Acknowledged, 1), [""; 0]);
        assert_eq!(violations(Outcome::Unknown, 0), [""; 0]);
        assert_eq!(violations(Outcome::Unknown, 1), [""; 0]);
        assert_eq!(violations(Outcome::Unknown, 2), ["k: done 2 times"]);
        assert_eq!(violations(Outcome::Refused, 1), ["k: refused, and done"]);
        assert_eq!(
            [0, 1].map(|times| violations(Outcome::Cancelled, times)),
            [vec![], vec![]] as [Vec<String>; 2]
        );
        assert_eq!(violations(Outcome::Cancelled, 2), ["k: done 2 times"]);
    }

    #[test]
    fn a_loss_is_a_violation_unless_the_engine_may_lose() {
        let strict = History::new(Promises { engine_loses: false, no_failure: false });
        strict.count(Count::EngineKills);
        strict.lost("an event");
        assert_eq!(strict.violations(), ["an event"]);
        let lax = History::new(Promises { engine_loses: true, no_failure: false });
        lax.lost("an event before the engine was killed");
        lax.count(Count::EngineKills);
        lax.lost("an event");
        assert_eq!(lax.violations(), ["an event before the engine was killed"]);
        assert_eq!(lax.counted(Count::LostByEngine), 1);
    }

    #[test]
    fn without_kills_each_call_succeeds() {
        let history = History::new(Promises { engine_loses: false, no_failure: true });
        history.call("k", Outcome::Unknown, "status 502");
        assert_eq!(history.violations(), ["k: failed though no node was killed: status 502"]);
    }

    #[test]
    fn before_the_first_kill_each_call_is_answered() {
        let history = History::default();
        history.start();
        history.call("j", Outcome::Refused, "503");
        history.call("k", Outcome::Unknown, "interrupted");
        history.count(Count::NodeKills);
        history.call("l", Outcome::Unknown, "interrupted");
        assert_eq!(history.violations(), ["k: failed though no node was killed: interrupted"]);
    }

    #[test]
    fn each_kind_is_there() {
        let history = History::default();
        let times = |times, count| (0..times).for_each(|_| history.count(count));
        times(99, Count::Calls);
        history.check_kinds(None);
        assert_eq!(history.violations(), [""; 0]);
        times(1_901, Count::Calls);
        times(20, Count::CutByClient);
        history.check_kinds(Some("2025-03-26"));
        let expected = ["of 2000 Calls there are 0 Acknowledged", "of 20 CutByClient there are 0 Resumed"];
        assert_eq!(history.violations(), expected);
        times(1, Count::Acknowledged);
        times(1, Count::Resumed);
        history.check_kinds(Some("2025-06-18"));
        assert_eq!(history.violations()[2..], ["of 2000 Calls there are 0 Answers"]);
        times(1, Count::Answers);
        history.check_kinds(None);
        assert_eq!(history.violations()[3..], ["of 2000 Calls there are 0 Tasks"]);
        times(100, Count::Tasks);
        history.check_kinds(None);
        assert_eq!(history.violations()[4..], ["of 100 Tasks there are 0 Cancelled"]);
        times(1, Count::Cancelled);
        history.check_kinds(None);
        assert_eq!(history.violations().len(), 5);
    }

    #[test]
    fn an_outage_excuses_losses_before_its_end() {
        let history = History::new(Promises { engine_loses: true, no_failure: false });
        let before = Instant::now();
        assert!(!history.was_away_since(before));
        history.engine_leaves();
        assert!(history.was_away_since(Instant::now()) && history.may_have_lost_since(before));
        history.engine_is_back();
        let back = history.state().outages[0].1.unwrap();
        assert!(history.was_away_since(before) && !history.was_away_since(back + Duration::from_nanos(1)));
        let strict = History::default();
        strict.engine_leaves();
        assert!(strict.was_away_since(before) && !strict.may_have_lost_since(before));
    }
}
