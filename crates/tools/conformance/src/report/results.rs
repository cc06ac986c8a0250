//! The results of a run.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::file::file_of;
use super::limit::{Excerpt, MAX_TEXT, beginning, cut};
use crate::link::processes::EarlyEnds;
use crate::requirements::requirement::{Level, Requirement};
use crate::requirements::revision::Revision;
use crate::settings::config::Config;
use crate::subject::{SubjectKind, Transport};
use crate::trace::TraceEvent;
use crate::verdict::Verdict;

/// The outcome of a run.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The revisions that the subject speaks.
    pub(crate) spoken: Vec<Revision>,
    pub(crate) results: Vec<CheckResult>,
    /// How many checks there are, each in one revision.
    pub(crate) planned: usize,
    /// Whether it was stopped before its end.
    pub(crate) is_stopped: bool,
    pub(crate) early_ends: Option<EarlyEnds>,
}

/// The results of one run on one subject.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The party of the subject.
    pub kind: SubjectKind,
    /// The command or URL.
    pub target: String,
    /// The transport.
    pub transport: Transport,
    /// The name and version that the subject gives itself.
    pub subject: Option<String>,
    /// The name of the profile.
    pub profile: String,
    /// The seed of the order of the checks.
    pub seed: u64,
    /// The revisions of the run that the subject speaks.
    pub spoken: Vec<Revision>,
    /// How many checks the run has, each in one revision.
    pub planned: usize,
    /// Whether the run was stopped before its end.
    pub partial: bool,
    /// How often the program ended by itself while the suite still used it. `None` if it never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_ends: Option<EarlyEnds>,
    /// One result for each check in each revision.
    pub results: Vec<CheckResult>,
    /// The file of the command that stays where it is, as a relative URI.
    #[serde(skip)]
    pub(super) file: Option<String>,
}

/// The result of one check in one revision.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CheckResult {
    /// The requirement, such as `mcp/RPC-06`.
    pub requirement: String,
    /// The check: its module and function.
    pub check: String,
    /// The area of the requirement, such as `lifecycle`.
    pub area: String,
    /// How strongly the specification demands it.
    pub level: Level,
    /// Whether the specification implies it without a key word.
    pub implied: bool,
    /// The text of the requirement.
    pub text: String,
    /// The specification's sentence for it, quoted. `None` if it is implied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The page of the specification.
    pub url: String,
    /// The revision.
    pub revision: Revision,
    /// The transport.
    pub transport: Transport,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Why the failure is known, if a baseline has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// How long it took.
    #[serde(serialize_with = "as_milliseconds", rename = "milliseconds")]
    pub time: Duration,
    #[serde(skip)]
    subject: Option<String>,
    /// The conversation, if the check failed or found nothing out.
    #[serde(skip)]
    pub trace: Arc<[TraceEvent]>,
    /// How many of its steps were too long to keep.
    #[serde(skip)]
    pub omitted: usize,
    /// How many of its steps were left out after the first few.
    #[serde(skip)]
    pub(super) left_out: usize,
}

impl Report {
    pub(crate) fn new(config: &Config, ran: Ran) -> Self {
        let Ran { spoken, results, planned, is_stopped, early_ends } = ran;
        Self {
            kind: config.kind,
            target: config.target.to_string(),
            transport: config.transport,
            subject: subject_of(&results),
            profile: config.profile.name.clone(),
            seed: config.seed,
            spoken,
            planned,
            partial: is_stopped,
            early_ends,
            results,
            file: file_of(&config.target),
        }
    }

    /// A sentence about `nothing`, which may name the program: where nothing could be judged, and why. `None` if the subject was
    /// reached, and began each revision as it should or reported that it does not support it, and supports one.
    pub fn unjudged(&self, nothing: &str) -> Option<String> {
        let is_reached = !self.spoken.is_empty();
        let mut others = self.results.iter().filter(|result| !self.spoken.contains(&result.revision));
        others.find_map(|result| match &result.verdict {
            Verdict::NotApplicable { why, .. } | Verdict::Inconclusive { why } if !is_reached => {
                Some(format!("{nothing} could be judged: {why}"))
            }
            Verdict::Inconclusive { why } => {
                Some(format!("{nothing} could be judged in {}: {why}", result.revision))
            }
            _ => None,
        })
    }

    /// The failures of requirements that are at least so strong, without those that are known.
    pub fn failures(&self, level: Level) -> impl Iterator<Item = &CheckResult> {
        self.results.iter().filter(move |result| result.level >= level && result.is_broken())
    }

    /// Remarks that belong before the results: that the run was stopped, and that the program ended by itself.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.partial {
            let (judged, planned) = (self.results.len(), self.planned);
            remarks.push(format!("Partial: the run was stopped after {judged} of {planned} results."));
        }
        if let Some(EarlyEnds { conversations, ended, last_words }) = &self.early_ends {
            let words = last_words.as_ref().map(|words| format!("; its last words: {}", beginning(words)));
            let words = words.unwrap_or_default();
            remarks.push(format!(
                "The program ended by itself in {ended} of {conversations} conversations{words}"
            ));
        }
        remarks
    }

    /// The subject's own name, or else its command or URL.
    pub(super) fn name(&self) -> &str {
        self.subject.as_deref().unwrap_or(&self.target)
    }

    /// The subject of the report, in a line.
    pub(super) fn title(&self) -> String {
        format!("{} over {}: {}", self.kind, self.transport, self.name())
    }
}

impl CheckResult {
    pub(crate) fn new(
        requirement: &Requirement,
        check: String,
        revision: Revision,
        transport: Transport,
        verdict: Verdict,
        excerpt: &Excerpt,
        time: Duration,
    ) -> Self {
        let keep = matches!(verdict, Verdict::Fail(_) | Verdict::Inconclusive { .. });
        Self {
            requirement: requirement.name(),
            check,
            area: requirement.area().to_owned(),
            level: requirement.level,
            implied: requirement.implied,
            text: requirement.text.clone(),
            quote: requirement.quote(revision).map(str::to_owned),
            url: requirement.url(revision),
            revision,
            transport,
            verdict: verdict.map_texts(|text| cut(excerpt.secrets.hide(text), MAX_TEXT)),
            known: None,
            subject: excerpt.subject.clone(),
            time,
            trace: if keep { Arc::clone(&excerpt.steps) } else { Arc::default() },
            omitted: excerpt.omitted,
            left_out: if keep { excerpt.left_out } else { 0 },
        }
    }
}

impl CheckResult {
    /// Whether it is a failure that is not known.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.verdict, Verdict::Fail(_)) && self.known.is_none()
    }

    /// The level in words.
    pub(super) fn level_text(&self) -> String {
        if self.implied { format!("{}, implied", self.level) } else { self.level.to_string() }
    }
}

/// How many results there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// The requirements that are fulfilled.
    pub passed: usize,
    /// Those that are not: the sum of the next four.
    pub failed: usize,
    /// Those of the level *must* that are not.
    pub must: usize,
    /// Those of the level *should* that are not, and that the specification demands in words.
    pub should: usize,
    /// Those that the specification implies and that are not.
    pub implied: usize,
    /// Those of the level *may* that are not.
    pub may: usize,
    /// The failures that a baseline lists.
    pub known: usize,
    /// Those about what the subject does not offer.
    pub not_applicable: usize,
    /// Those that could not be judged.
    pub inconclusive: usize,
}

impl Counts {
    /// Counts results.
    pub fn of<'r>(results: impl IntoIterator<Item = &'r CheckResult>) -> Self {
        let mut counts = Self::default();
        results.into_iter().for_each(|result| counts.add(result));
        counts
    }

    /// Counts one more result.
    pub fn add(&mut self, result: &CheckResult) {
        if result.is_broken() {
            *match (result.level, result.implied) {
                (_, true) => &mut self.implied,
                (Level::Must, _) => &mut self.must,
                (Level::Should, _) => &mut self.should,
                (Level::May, _) => &mut self.may,
            } += 1;
        }
        *match (&result.verdict, &result.known) {
            (Verdict::Pass, _) => &mut self.passed,
            (Verdict::Fail(_), None) => &mut self.failed,
            (Verdict::Fail(_), Some(_)) => &mut self.known,
            (Verdict::NotApplicable { .. }, _) => &mut self.not_applicable,
            (Verdict::Inconclusive { .. }, _) => &mut self.inconclusive,
        } += 1;
    }

    /// The failures with their levels, such as "28 failed (1 must, 27 implied)".
    pub fn failed_text(&self) -> String {
        let Self { failed, must, should, implied, may, .. } = self;
        let levels = [(must, "must"), (should, "should"), (implied, "implied"), (may, "may")];
        let parts: Vec<String> = levels
            .iter()
            .filter(|(count, _)| **count > 0)
            .map(|(count, level)| format!("{count} {level}"))
            .collect();
        if parts.is_empty() {
            "0 failed".to_owned()
        } else {
            format!("{failed} failed ({})", parts.join(", "))
        }
    }
}

/// The first name and version that a subject gives itself.
fn subject_of(results: &[CheckResult]) -> Option<String> {
    results.iter().find_map(|result| result.subject.clone())
}

fn as_milliseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u128(time.as_millis())
}
