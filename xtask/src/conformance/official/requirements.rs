//! Reads the suite's list of required scenarios of a revision, which is in a small subset of YAML.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

/// The scenarios of one side. Empty for a suite that has no such list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Requirements {
    pub(super) scored: BTreeSet<String>,
    /// Scenarios that are run and not required, with the reason.
    pub(super) unscored: BTreeMap<String, String>,
}

impl Requirements {
    /// Reads the part for a side, which is `server` or `client`.
    ///
    /// # Errors
    ///
    /// When nothing is required.
    pub(super) fn parse(text: &str, side: &str) -> Result<Self> {
        let mut requirements = Self::default();
        let mut section = "";
        // The current entry of `not_scored`: scenario, side, reason.
        let mut entry = [String::new(), String::new(), String::new()];
        for line in text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim_end()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_suffix(':').filter(|name| !name.starts_with([' ', '-'])) {
                section = name;
                continue;
            }
            let line = line.trim_start();
            match (section, line.strip_prefix("- ")) {
                ("not_scored", start) => {
                    if start.is_some() {
                        entry = Default::default();
                    }
                    let member = start.unwrap_or(line).split_once(": ");
                    let place = ["scenario", "leg", "reason"]
                        .into_iter()
                        .position(|name| member.is_some_and(|(found, _)| found == name));
                    let (Some((_, value)), Some(place)) = (member, place) else { continue };
                    value.clone_into(&mut entry[place]);
                    let [scenario, leg, reason] = &entry;
                    if leg == side && !scenario.is_empty() && !reason.is_empty() {
                        requirements.unscored.insert(scenario.clone(), reason.clone());
                    }
                }
                (section, Some(scenario)) if section == side => {
                    requirements.scored.insert(scenario.to_owned());
                }
                _ => {}
            }
        }
        ensure!(!requirements.scored.is_empty(), "the suite requires nothing of a {side}");
        Ok(requirements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# why\nserver:\n  - ping # really\n\nclient:\n  - auth/dpop\n\nnot_scored:\n  - scenario: tasks\n    leg: server\n    \
                        reason: extension\n  - scenario: tasks\n    leg: client\n    reason: pending\n";

    #[test]
    fn each_side_has_its_own() {
        let server = Requirements::parse(LIST, "server").unwrap();
        assert_eq!(server.scored, BTreeSet::from(["ping".into()]));
        assert_eq!(server.unscored, BTreeMap::from([("tasks".into(), "extension".into())]));
        let client = Requirements::parse(LIST, "client").unwrap();
        assert_eq!(client.scored, BTreeSet::from(["auth/dpop".into()]));
        assert_eq!(client.unscored, BTreeMap::from([("tasks".into(), "pending".into())]));
        assert!(Requirements::parse("", "server").is_err());
    }
}
