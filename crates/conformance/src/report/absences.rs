//! Why checks did not apply, and which roles of a profile would let more of them apply.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::results::Report;
use crate::verdict::Verdict;

/// How many reasons are shown.
const MAX_REASONS: usize = 30;

impl Report {
    /// The reasons for which results are not applicable, the most frequent first, each with how many results have it.
    pub(super) fn reasons(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for result in &self.results {
            if let Verdict::NotApplicable { why, .. } = &result.verdict {
                *counts.entry(why).or_default() += 1;
            }
        }
        let mut reasons: Vec<(&str, usize)> = counts.into_iter().collect();
        reasons.sort_by_key(|(_, count)| Reverse(*count));
        let others: usize = reasons.iter().skip(MAX_REASONS).map(|(_, count)| count).sum();
        reasons.truncate(MAX_REASONS);
        if others > 0 {
            reasons.push(("other reasons", others));
        }
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
