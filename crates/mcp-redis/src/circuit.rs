//! Stops asking an engine that does not answer, but for one trial a second.

use std::time::{Duration, Instant};

/// The consecutive failures that open the circuit.
pub(crate) const FAILURES: u32 = 5;

/// The time between two trials while the circuit is open.
const TRIAL: Duration = Duration::from_secs(1);

/// Counts consecutive failures. From the fifth on, commands fail at once, except for one each second.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    failures: u32,
    next_trial: Option<Instant>,
}

impl Circuit {
    /// Returns whether a command may be sent now. While the circuit is open, true is one trial.
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        match self.next_trial {
            Some(trial) if now < trial => false,
            Some(_) => {
                self.next_trial = Some(now + TRIAL);
                true
            }
            None => true,
        }
    }

    /// Returns whether commands fail at once.
    pub(crate) fn is_open(&self) -> bool {
        self.next_trial.is_some()
    }

    /// The engine has answered.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }

    /// The engine has not answered.
    pub(crate) fn count_failure(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES {
            self.next_trial = Some(now + TRIAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_five_failures_one_trial_a_second() {
        let (mut circuit, start) = (Circuit::default(), Instant::now());
        for _ in 0..4 {
            circuit.count_failure(start);
            assert!(circuit.admits(start));
        }
        circuit.count_failure(start);
        assert!(circuit.is_open() && !circuit.admits(start));
        let later = start + TRIAL;
        assert!(circuit.admits(later), "the trial");
        assert!(!circuit.admits(later), "one");
        circuit.close();
        assert!(!circuit.is_open() && circuit.admits(later));
    }
}
