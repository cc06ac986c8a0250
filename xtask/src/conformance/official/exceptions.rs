//! The scenarios that are known not to pass, with reasons: `exceptions.json`.
//!
//! It is an array of `{"reason", "scenarios": {RUN: [SCENARIO or SCENARIO:CHECK, …]}}`. An entry that names a check
//! explains the faults of this check alone. An entry that explains nothing is a failure, so the list cannot outlive its
//! reasons.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// The list.
#[derive(Debug)]
pub(super) struct Exceptions(Vec<Exception>);

/// Exceptions for one reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    reason: String,
    /// By the name of the run.
    scenarios: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
struct Exception {
    run: String,
    scenario: String,
    check: Option<String>,
    reason: String,
    used: bool,
}

impl Exceptions {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        Self::parse(&text).with_context(|| file.display().to_string())
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut all = Vec::new();
        let groups: Vec<Group> = serde_json::from_str(text)?;
        for Group { reason, scenarios } in &groups {
            ensure!(!reason.is_empty(), "exceptions without a reason: {scenarios:?}");
            for (run, name) in
                scenarios.iter().flat_map(|(run, names)| names.iter().map(move |name| (run, name)))
            {
                let (scenario, check) = match name.split_once(':') {
                    Some((scenario, check)) => (scenario, Some(check.to_owned())),
                    None => (name.as_str(), None),
                };
                let (run, scenario, reason) = (run.clone(), scenario.to_owned(), reason.clone());
                all.push(Exception { run, scenario, check, reason, used: false });
            }
        }
        Ok(Self(all))
    }

    /// The scenarios of a run that the list names.
    pub(super) fn scenarios<'a>(&'a self, run: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |known| known.run == run).map(|known| known.scenario.as_str())
    }

    /// The reason of the exception for a check, or for the scenario as a whole.
    pub(super) fn explain(&mut self, run: &str, scenario: &str, check: Option<&str>) -> Option<String> {
        let mut reason = None;
        let here = self.0.iter_mut().filter(|known| known.run == run && known.scenario == scenario);
        for known in here.filter(|known| known.check.is_none() || known.check.as_deref() == check) {
            known.used = true;
            reason.get_or_insert_with(|| known.reason.clone());
        }
        reason
    }

    /// The exceptions of a scenario that explained nothing.
    pub(super) fn unused<'a>(&'a self, run: &'a str, scenario: &'a str) -> impl Iterator<Item = String> + 'a {
        let here = self.0.iter().filter(move |known| known.run == run && known.scenario == scenario);
        here.filter(|known| !known.used).map(|known| {
            let of = known.check.as_deref().map(|check| format!(" of `{check}`")).unwrap_or_default();
            format!("the exception{of} is not needed: {}", known.reason)
        })
    }
}
