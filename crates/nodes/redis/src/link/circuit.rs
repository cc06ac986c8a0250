//! A circuit breaker: stops sending commands to an engine that does not answer, except for one trial a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::CircuitOpen;

/// The consecutive failures that open the circuit.
pub(crate) const FAILURES: u32 = 5;

/// The time between two trials while the circuit is open.
const TRIAL: Duration = Duration::from_secs(1);

/// Counts consecutive failures. From the fifth on, commands fail at once, except for one each second.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    failures: u32,
    /// The time of the next trial, and the reason why the circuit is open.
    open: Option<(Instant, CircuitOpen)>,
}

impl Circuit {
    /// Fails unless a command may be sent now. While the circuit is open, each success admits one trial.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<(), CircuitOpen> {
        match &mut self.open {
            Some((trial, why)) if now < *trial => Err(why.clone()),
            Some((trial, _)) => {
                *trial = now + TRIAL;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Fails while commands fail at once.
    pub(crate) fn check(&self) -> Result<(), CircuitOpen> {
        self.open.as_ref().map_or(Ok(()), |(_, why)| Err(why.clone()))
    }

    /// Called when the engine has answered.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }

    /// Called when the engine has not answered, or cannot serve.
    pub(crate) fn count_failure(&mut self, now: Instant, why: impl FnOnce() -> Arc<str>) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES {
            self.open = Some((now + TRIAL, CircuitOpen(why())));
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
            circuit.count_failure(start, || "first".into());
            assert!(circuit.admit(start).is_ok());
        }
        circuit.count_failure(start, || "fifth".into());
        assert_eq!(circuit.check().unwrap_err().to_string(), "fifth");
        assert_eq!(circuit.admit(start).unwrap_err().to_string(), "fifth");
        let later = start + TRIAL;
        assert!(circuit.admit(later).is_ok(), "the trial");
        assert!(circuit.admit(later).is_err(), "one");
        circuit.count_failure(later, || "sixth".into());
        assert_eq!(circuit.check().unwrap_err().to_string(), "sixth");
        circuit.close();
        assert!(circuit.check().is_ok() && circuit.admit(later).is_ok());
    }
}
