//! What the clients saw, and what contradicts a promise.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the client of a call knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It has the result.
    Acknowledged,
    /// The answer was lost, or an error says that the work may be done.
    Unknown,
    /// The answer says that the work is not done.
    Refused,
    /// The client has cancelled it. The work may be done.
    Cancelled,
}

/// What the summary counts.
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

/// What the clients saw.
#[derive(Debug, Default)]
pub(crate) struct History {
    promises: Promises,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
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

    /// What became of the call with a key. A call has one outcome.
    pub(crate) fn call(&self, key: &str, outcome: Outcome, why: &str) {
        self.count(Count::Calls);
        self.count(match outcome {
            Outcome::Acknowledged => Count::Acknowledged,
            Outcome::Unknown => Count::Unknown,
            Outcome::Refused => Count::Refused,
            Outcome::Cancelled => Count::Cancelled,
        });
        if self.promises.no_failure && matches!(outcome, Outcome::Unknown | Outcome::Refused) {
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
}
