//! Reads the results of the suite: a folder for each scenario, named after it and the time, with `checks.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

/// One check of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) id: String,
    pub(super) status: Status,
    /// The fault, or a description.
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    /// Information without a verdict.
    Info,
}

/// Reads all results in a folder, by the scenarios' names. The checks of a scenario that ran twice are joined.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<String, Vec<Check>>> {
    let mut all = BTreeMap::new();
    collect(folder, folder, &mut all)?;
    Ok(all)
}

fn collect(root: &Path, folder: &Path, all: &mut BTreeMap<String, Vec<Check>>) -> Result<()> {
    let file = folder.join("checks.json");
    if file.exists() {
        let name = folder.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file)?;
        let checks = parse(&text).with_context(|| file.display().to_string())?;
        all.entry(scenario(&name).to_owned()).or_default().extend(checks);
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, all)?;
        }
    }
    Ok(())
}

/// The scenario of a folder: `server-ping-2026-11-21T10-20-30-400Z` is `ping`. A scenario whose own name begins with
/// `server-` has that prefix twice.
fn scenario(folder: &str) -> &str {
    let is_date = |at: usize| {
        let shape = folder.as_bytes().get(at..at + 12);
        shape.is_some_and(|shape| {
            shape.iter().zip(b"-dddd-dd-ddT").all(|(found, wanted)| match wanted {
                b'd' => found.is_ascii_digit(),
                exact => found == exact,
            })
        })
    };
    let end = (0..folder.len()).find(|at| is_date(*at)).unwrap_or(folder.len());
    let name = &folder[..end];
    name.strip_prefix("server-").unwrap_or(name)
}

fn parse(text: &str) -> Result<Vec<Check>> {
    let checks: Vec<Value> = serde_json::from_str(text)?;
    checks.iter().map(Check::read).collect()
}

impl Check {
    fn read(value: &Value) -> Result<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let status = Status::deserialize(&value["status"]).context("the status of a check")?;
        let message = text("errorMessage").or_else(|| text("description")).unwrap_or_default();
        Ok(Self { id: text("id").context("a check has no id")?, status, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_their_scenario() {
        assert_eq!(scenario("server-ping-2026-11-21T10-20-30-400Z"), "ping");
        assert_eq!(scenario("server-server-initialize-2026-11-21T10-20-30-400Z"), "server-initialize");
        assert_eq!(scenario("auth/basic-cimd-2026-11-21T10-20-30-400Z"), "auth/basic-cimd");
        let dated = "auth/2025-03-26-oauth-endpoint-fallback-2026-11-21T10-20-30-400Z";
        assert_eq!(scenario(dated), "auth/2025-03-26-oauth-endpoint-fallback");
        assert_eq!(scenario("json-schema-2020-12-2026-11-21T10-20-30-400Z"), "json-schema-2020-12");
    }

    #[test]
    fn unknown_status_is_a_failure() {
        assert!(parse(r#"[{ "id": "a", "status": "FINE" }]"#).is_err());
        assert!(parse(r#"[{ "status": "SUCCESS" }]"#).is_err(), "a check has a name");
    }
}
