//! The verdict on each scenario. It follows from the checks and not from the suite's exit code, because the suite passes
//! warnings, skips and missing checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::checks::{Check, Status};
use super::exceptions::Exceptions;
use super::requirements::Requirements;
use super::suite::{Run, RunResult};

/// The verdicts of a run.
pub(super) struct Verdicts {
    pub(super) run: String,
    pub(super) seconds: f32,
    pub(super) scenarios: Vec<Scenario>,
}

pub(super) struct Scenario {
    pub(super) name: String,
    /// The reason why it is not required.
    pub(super) unscored: Option<String>,
    pub(super) verdict: Verdict,
    /// The number of checks, without those that only inform.
    pub(super) checks: usize,
    /// One line for each fault.
    pub(super) faults: Vec<String>,
    /// The reasons of the exceptions that explain the faults.
    pub(super) reasons: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All checks succeeded, except skips that an exception explains.
    Passed,
    Failed,
    /// Exceptions explain all its faults.
    Skipped,
}

/// All scenarios of a run: required, not required, counted before, or in the list of exceptions.
pub(super) fn known(
    run: &Run,
    required: &Requirements,
    counts: &Counts,
    exceptions: &Exceptions,
) -> BTreeSet<String> {
    let name = run.name();
    let counted = counts.0.get(&name).into_iter().flat_map(BTreeMap::keys);
    let mut known: BTreeSet<String> =
        required.scored.iter().chain(required.unscored.keys()).chain(counted).cloned().collect();
    known.extend(exceptions.scenarios(&name).map(str::to_owned));
    known
}

/// Judges the scenarios of a result, and those that are `wanted` and missing from it.
pub(super) fn judge(
    run: &Run,
    required: &Requirements,
    wanted: &BTreeSet<String>,
    result: RunResult,
    counts: &Counts,
    exceptions: &mut Exceptions,
) -> Verdicts {
    let name = run.name();
    let mut found = result.scenarios;
    for missing in wanted {
        found.entry(missing.clone()).or_default();
    }
    let scenarios = found.into_iter().map(|(scenario, checks)| {
        let unscored = required.unscored.get(&scenario).cloned();
        let recorded = counts.of(&name, &scenario);
        Scenario::judge(&name, scenario, &checks, unscored, recorded, exceptions)
    });
    Verdicts { scenarios: scenarios.collect(), run: name, seconds: result.seconds }
}

impl Scenario {
    fn judge(
        run: &str,
        name: String,
        checks: &[Check],
        unscored: Option<String>,
        recorded: usize,
        exceptions: &mut Exceptions,
    ) -> Self {
        let made = checks.iter().filter(|check| check.status != Status::Info).count();
        let mut faults = Vec::new();
        let mut reasons = Vec::new();
        let (mut unexplained, mut only_skips) = (false, true);
        let mut fault = |check: Option<&str>, what: String| {
            match exceptions.explain(run, &name, check) {
                Some(reason) if !reasons.contains(&reason) => reasons.push(reason),
                Some(_) => {}
                None => unexplained = true,
            }
            faults.push(what);
        };
        for check in checks {
            let word = match check.status {
                Status::Success | Status::Info => continue,
                Status::Failure => "failure",
                Status::Warning => "warning",
                Status::Skipped => "skipped",
            };
            only_skips &= check.status == Status::Skipped;
            fault(Some(&check.id), format!("{word} {}: {}", check.id, check.message));
        }
        if made == 0 {
            only_skips = false;
            fault(None, "nothing was checked".into());
        } else if made < recorded {
            only_skips = false;
            fault(None, format!("{made} checks, there were {recorded}"));
        }
        for unneeded in exceptions.unused(run, &name) {
            unexplained = true;
            faults.push(unneeded);
        }
        let proves = checks.iter().any(|check| check.status == Status::Success);
        let verdict = match unexplained {
            true => Verdict::Failed,
            false if proves && only_skips => Verdict::Passed,
            false => Verdict::Skipped,
        };
        Self { name, unscored, verdict, checks: made, faults, reasons }
    }
}

/// The number of checks that each scenario of each run made before.
#[derive(Debug, Default)]
pub(super) struct Counts(BTreeMap<String, BTreeMap<String, usize>>);

impl Counts {
    /// Empty when there is no such file.
    pub(super) fn read(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Ok(Self::default());
        }
        let counts = fs::read_to_string(file).map_err(anyhow::Error::from);
        let counts = counts.and_then(|text| Ok(serde_json::from_str(&text)?));
        Ok(Self(counts.with_context(|| file.display().to_string())?))
    }

    pub(super) fn write(&self, file: &Path) -> Result<()> {
        Ok(fs::write(file, serde_json::to_string_pretty(&self.0)? + "\n")?)
    }

    /// Records the counts of the scenarios that passed.
    pub(super) fn record(&mut self, verdicts: &Verdicts) {
        let counts = self.0.entry(verdicts.run.clone()).or_default();
        for scenario in verdicts.scenarios.iter().filter(|scenario| scenario.verdict == Verdict::Passed) {
            counts.insert(scenario.name.clone(), scenario.checks);
        }
    }

    fn of(&self, run: &str, scenario: &str) -> usize {
        self.0.get(run).and_then(|counts| counts.get(scenario)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"[{ "reason": "later", "scenarios": { "client 1": ["auth", "part:known"] } }]"#;

    fn check(id: &str, status: Status) -> Check {
        Check { id: id.into(), status, message: String::new() }
    }

    fn verdict(name: &str, checks: &[Check], recorded: usize) -> Verdict {
        let mut exceptions = Exceptions::parse(LIST).unwrap();
        Scenario::judge("client 1", name.into(), checks, None, recorded, &mut exceptions).verdict
    }

    #[test]
    fn only_success_passes() {
        let good = check("a", Status::Success);
        assert_eq!(verdict("x", &[good.clone(), check("b", Status::Info)], 1), Verdict::Passed);
        for bad in [Status::Failure, Status::Warning, Status::Skipped] {
            assert_eq!(verdict("x", &[good.clone(), check("b", bad)], 1), Verdict::Failed, "{bad:?}");
        }
        assert_eq!(verdict("x", &[], 0), Verdict::Failed, "no checks");
        assert_eq!(verdict("x", &[check("b", Status::Info)], 0), Verdict::Failed, "only information");
        assert_eq!(verdict("x", &[good], 2), Verdict::Failed, "fewer checks than before");
    }

    #[test]
    fn exceptions_explain_named_failures_and_must_be_needed() {
        let bad = check("known", Status::Failure);
        assert_eq!(verdict("auth", std::slice::from_ref(&bad), 0), Verdict::Skipped);
        assert_eq!(verdict("auth", &[], 0), Verdict::Skipped);
        assert_eq!(
            verdict("auth", &[check("a", Status::Success)], 0),
            Verdict::Failed,
            "the exception is not needed"
        );
        assert_eq!(verdict("part", std::slice::from_ref(&bad), 0), Verdict::Skipped);
        assert_eq!(verdict("part", &[bad, check("other", Status::Failure)], 0), Verdict::Failed);
        let (good, left_out) = (check("a", Status::Success), check("known", Status::Skipped));
        assert_eq!(verdict("part", &[good, left_out.clone()], 0), Verdict::Passed, "the rest succeeded");
        assert_eq!(verdict("part", &[left_out], 0), Verdict::Skipped, "nothing else");
        assert_eq!(
            verdict("part", &[check("known", Status::Success)], 0),
            Verdict::Failed,
            "the exception is not needed"
        );
    }
}
