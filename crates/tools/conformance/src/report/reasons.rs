//! Why checks did not apply or found nothing out, and which roles of a profile would let more of them apply.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::results::{CheckResult, Report};
use crate::verdict::Verdict;

/// How many reasons are shown.
const MAX_REASONS: usize = 30;
/// How many requirements are named for one reason.
const MAX_NAMES: usize = 8;

/// A reason and the results that have it.
#[derive(Debug, Clone)]
pub(super) struct Reason<'r> {
    pub(super) why: &'r str,
    pub(super) results: Vec<&'r CheckResult>,
}

impl Reason<'_> {
    /// Such as "168 results (RPC-01, RPC-02 and 40 more)".
    pub(super) fn count_text(&self) -> String {
        let ids: BTreeSet<&str> = self.results.iter().map(|result| result.requirement.as_str()).collect();
        let mut names = ids.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
        if ids.len() > MAX_NAMES {
            names = format!("{names} and {} more", ids.len() - MAX_NAMES);
        }
        let count = self.results.len();
        format!("{count} result{} ({names})", if count == 1 { "" } else { "s" })
    }
}

impl Report {
    /// The reasons for which results are not applicable, the most frequent first, each with how many results have it.
    pub(super) fn reasons(&self) -> Vec<(&str, usize)> {
        let all = self.reasons_of(|verdict| match verdict {
            Verdict::NotApplicable { why, .. } => Some(why.as_str()),
            _ => None,
        });
        let mut reasons: Vec<(&str, usize)> =
            all.iter().take(MAX_REASONS).map(|reason| (reason.why, reason.results.len())).collect();
        let others: usize = all.iter().skip(MAX_REASONS).map(|reason| reason.results.len()).sum();
        if others > 0 {
            reasons.push(("other reasons", others));
        }
        reasons
    }

    /// The reasons for which checks found nothing out, the most frequent first.
    pub(super) fn unclear(&self) -> Vec<Reason<'_>> {
        self.reasons_of(|verdict| match verdict {
            Verdict::Inconclusive { why } => Some(why.as_str()),
            _ => None,
        })
    }

    fn reasons_of<'r>(&'r self, why: impl Fn(&'r Verdict) -> Option<&'r str>) -> Vec<Reason<'r>> {
        let mut reasons: BTreeMap<&str, Vec<&CheckResult>> = BTreeMap::new();
        for result in &self.results {
            if let Some(why) = why(&result.verdict) {
                reasons.entry(why).or_default().push(result);
            }
        }
        let mut reasons: Vec<Reason<'_>> =
            reasons.into_iter().map(|(why, results)| Reason { why, results }).collect();
        reasons.sort_by_key(|reason| Reverse(reason.results.len()));
        reasons
    }

    /// The roles that the profile lacks and checks need, each with how many requirements need it.
    pub fn missing_roles(&self) -> Vec<(&str, usize)> {
        let mut roles: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for result in &self.results {
            if let Verdict::NotApplicable { role: Some(role), .. } = &result.verdict {
                roles.entry(role).or_default().insert(&result.requirement);
            }
        }
        roles.into_iter().map(|(role, requirements)| (role, requirements.len())).collect()
    }

    /// The missing roles as a text, such as "`echo` (3), `slow` (12)", with a way to write each name.
    pub(super) fn missing_roles_text(&self, name: impl Fn(&str) -> String) -> Option<String> {
        let roles = self.missing_roles();
        let texts: Vec<String> =
            roles.iter().map(|(role, count)| format!("{} ({count})", name(role))).collect();
        if texts.is_empty() { None } else { Some(texts.join(", ")) }
    }
}
