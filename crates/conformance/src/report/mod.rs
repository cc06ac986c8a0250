//! What a run found.

use std::time::Duration;

use serde::Serialize;

use crate::requirement::{Level, Requirement};
use crate::revision::Revision;
use crate::subject::{SubjectKind, Transport};
use crate::suite::Config;
use crate::trace::{Trace, TraceEvent};
use crate::verdict::Verdict;

/// The results of one run on one subject.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Which party the subject is.
    pub kind: SubjectKind,
    /// The command or URL.
    pub target: String,
    /// The transport.
    pub transport: Transport,
    /// The name of the profile.
    pub profile: String,
    /// What random inputs were made from.
    pub seed: u64,
    /// One result for each check in each revision.
    pub results: Vec<CheckResult>,
}

/// What one check found in one revision.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CheckResult {
    /// The requirement, such as `mcp/RPC-06`.
    pub requirement: String,
    /// The check's function.
    pub check: &'static str,
    /// How strongly the specification demands it.
    pub level: Level,
    /// Whether the specification implies it without a key word.
    pub implied: bool,
    /// What it demands.
    pub text: String,
    /// Where the specification says so.
    pub url: String,
    /// The revision.
    pub revision: Revision,
    /// The transport.
    pub transport: Transport,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How long it took.
    #[serde(serialize_with = "as_milliseconds", rename = "milliseconds")]
    pub time: Duration,
    /// The conversation, if the check failed or found nothing out.
    #[serde(skip)]
    pub trace: Vec<TraceEvent>,
    /// How many of its steps were too long to keep.
    #[serde(skip)]
    pub omitted: usize,
}

/// What a check says of one of its mutants.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MutantResult {
    /// The requirement, such as `mcp/RPC-06`.
    pub requirement: String,
    /// The check's function.
    pub check: &'static str,
    /// What the mutant does wrong.
    pub mutant: &'static str,
    /// The revision.
    pub revision: Revision,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Report {
    pub(crate) fn new(config: &Config, results: Vec<CheckResult>) -> Self {
        Self {
            kind: config.kind,
            target: config.target.to_string(),
            transport: config.transport,
            profile: config.profile.name.clone(),
            seed: config.seed,
            results,
        }
    }

    /// The failures of requirements that are at least so strong.
    pub fn failures(&self, level: Level) -> impl Iterator<Item = &CheckResult> {
        self.results
            .iter()
            .filter(move |result| result.level >= level && matches!(result.verdict, Verdict::Fail(_)))
    }
}

impl CheckResult {
    pub(crate) fn new(
        requirement: &Requirement,
        check: &'static str,
        revision: Revision,
        transport: Transport,
        verdict: Verdict,
        trace: &Trace,
        time: Duration,
    ) -> Self {
        let keep = matches!(verdict, Verdict::Fail(_) | Verdict::Inconclusive { .. });
        Self {
            requirement: requirement.name(),
            check,
            level: requirement.level,
            implied: requirement.implied,
            text: requirement.text.clone(),
            url: requirement.url(),
            revision,
            transport,
            verdict,
            time,
            trace: if keep { trace.events() } else { Vec::new() },
            omitted: trace.omitted(),
        }
    }
}

impl MutantResult {
    pub(crate) fn new(
        requirement: String,
        check: &'static str,
        mutant: &'static str,
        revision: Revision,
        verdict: Verdict,
    ) -> Self {
        Self { requirement, check, mutant, revision, verdict }
    }

    /// Whether the check failed, as it has to.
    pub fn is_caught(&self) -> bool {
        matches!(self.verdict, Verdict::Fail(_))
    }
}

fn as_milliseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u128(time.as_millis())
}
