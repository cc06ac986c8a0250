//! The findings about each requirement of a report: equal results of several revisions as one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::results::{CheckResult, Report};
use crate::requirements::requirement::Level;
use crate::requirements::revision::Revision;
use crate::subject::SubjectKind;
use crate::verdict::Verdict;

/// A failure in the revisions in which its verdict and its expectation are the same.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finding<'r> {
    /// The party of the subject.
    pub kind: SubjectKind,
    /// The result in the newest of the revisions.
    pub result: &'r CheckResult,
    /// The revisions, from the oldest on.
    pub revisions: Vec<Revision>,
}

impl Finding<'_> {
    /// The revisions as a text.
    pub(super) fn revisions_text(&self) -> String {
        let names: Vec<&str> = self.revisions.iter().map(|revision| revision.as_str()).collect();
        names.join(", ")
    }
}

impl Report {
    /// The failures, then the known failures; the stronger requirements first.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        let mut findings: Vec<Finding<'_>> = Vec::new();
        for result in self.results.iter().filter(|result| rank(result).is_some()) {
            match findings.iter_mut().find(|finding| is_same(finding.result, result)) {
                Some(finding) => {
                    finding.revisions.push(result.revision);
                    if result.revision >= finding.result.revision {
                        finding.result = result;
                    }
                }
                None => findings.push(Finding { kind: self.kind, result, revisions: vec![result.revision] }),
            }
        }
        for finding in &mut findings {
            finding.revisions.sort_unstable();
        }
        findings.sort_by_key(|finding| {
            let result = finding.result;
            (rank(result), strength(result), result.requirement.as_str(), finding.revisions[0])
        });
        findings
    }
}

/// The place of a kind of result among the findings; nothing for one about which nothing is to be said.
fn rank(result: &CheckResult) -> Option<u8> {
    match (&result.verdict, &result.known) {
        (Verdict::Fail(_), None) => Some(0),
        (Verdict::Fail(_), Some(_)) => Some(1),
        _ => None,
    }
}

/// Whether two results say the same of one requirement. What was seen may differ.
fn is_same(one: &CheckResult, other: &CheckResult) -> bool {
    let is_equal = match (&one.verdict, &other.verdict) {
        (Verdict::Fail(one), Verdict::Fail(other)) => one.expected == other.expected,
        (one, other) => one == other,
    };
    is_equal && one.requirement == other.requirement && one.check == other.check && one.known == other.known
}

/// How strongly the requirement of a result is demanded; the strongest is the least.
pub(super) type Strength = (Reverse<Level>, bool);

fn strength(result: &CheckResult) -> Strength {
    (Reverse(result.level), result.implied)
}

/// The requirements that are broken and not known to be, the strongest first; each with its revisions, in any report.
pub(super) fn broken(reports: &[Report]) -> BTreeMap<Strength, BTreeMap<&str, Vec<Revision>>> {
    let mut levels: BTreeMap<_, BTreeMap<&str, Vec<Revision>>> = BTreeMap::new();
    for result in reports.iter().flat_map(|report| report.failures(Level::May)) {
        let revisions =
            levels.entry(strength(result)).or_default().entry(result.requirement.as_str()).or_default();
        if !revisions.contains(&result.revision) {
            revisions.push(result.revision);
        }
    }
    levels
}
