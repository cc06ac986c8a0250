//! Known differences from published schemas, each with the reason for it.
//!
//! They are listed in `errata.json`, as an array of `{"document", "package", "path", "difference", "reason"}`. With a
//! `package` an entry is about the copy in this package alone. An entry that explains nothing is an error, as is a
//! difference without an entry.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::compare::Difference;

const LIST: &str = include_str!("errata.json");

/// The list.
#[derive(Debug)]
pub(super) struct Errata {
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    document: String,
    package: Option<String>,
    path: String,
    difference: String,
    reason: String,
    #[serde(skip)]
    used: bool,
}

impl Errata {
    /// Reads the list.
    pub(super) fn read() -> Result<Self> {
        Self::parse(LIST).context("errata.json")
    }

    fn parse(list: &str) -> Result<Self> {
        let entries: Vec<Entry> = serde_json::from_str(list)?;
        let silent = entries.iter().find(|entry| entry.reason.trim().is_empty());
        ensure!(silent.is_none(), "an entry without a reason: {silent:?}");
        Ok(Self { entries })
    }

    /// Whether a difference is known.
    pub(super) fn explains(
        &mut self,
        document: &str,
        package: Option<&str>,
        difference: &Difference,
    ) -> bool {
        let mut known = false;
        for entry in &mut self.entries {
            if entry.is_about(document, package)
                && entry.path == difference.path
                && entry.difference == difference.what
            {
                entry.used = true;
                known = true;
            }
        }
        known
    }

    /// The entries about one copy of a document that explain nothing.
    pub(super) fn stale(&self, document: &str, package: Option<&str>) -> Vec<String> {
        let about = self.entries.iter().filter(|entry| entry.is_about(document, package) && !entry.used);
        about.map(|entry| format!("{}: {}", entry.path, entry.difference)).collect()
    }
}

impl Entry {
    fn is_about(&self, document: &str, package: Option<&str>) -> bool {
        self.document == document && (self.package.is_none() || self.package.as_deref() == package)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"[{"document": "mcp 1", "package": "p@1", "path": "A.b", "difference": "gone", "reason": "because"}]"#;

    #[test]
    fn an_entry_is_about_one_difference_in_one_copy() {
        let difference = |path: &str, what: &str| Difference { path: path.into(), what: what.into() };
        let mut errata = Errata::parse(ENTRY).unwrap();
        assert!(!errata.explains("mcp 1", None, &difference("A.b", "gone")));
        assert!(!errata.explains("mcp 2", Some("p@1"), &difference("A.b", "gone")));
        assert!(!errata.explains("mcp 1", Some("p@1"), &difference("A.b", "there")));
        assert_eq!(errata.stale("mcp 1", Some("p@1")), ["A.b: gone"]);
        assert!(errata.stale("mcp 1", None).is_empty() && errata.stale("mcp 2", Some("p@1")).is_empty());
        assert!(errata.explains("mcp 1", Some("p@1"), &difference("A.b", "gone")));
        assert!(errata.stale("mcp 1", Some("p@1")).is_empty());
    }

    #[test]
    fn the_list_can_be_read_and_gives_reasons() {
        Errata::read().unwrap();
        assert!(Errata::parse(&ENTRY.replace("because", " ")).is_err());
    }
}
